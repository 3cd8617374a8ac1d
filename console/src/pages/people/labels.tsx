import type { LabelResponse } from "../../../../src/http/contract.ts";
import { part, post } from "../../api.ts";
import { AskReason, type OpenDialog } from "../../dialogs.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Empty } from "../../parts/empty.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import { PagedTable } from "../../parts/table/paged-table.tsx";
import type { Column } from "../../parts/table/table.tsx";
import { Time } from "../../parts/time.tsx";
import { may } from "../../session.ts";
import { useFilters } from "../../url.ts";
import { SampleDrawer } from "./sample.tsx";
import { shortValue } from "./short-value.ts";

export interface LabelsProps {
  readonly queue: string;
  /** Only late labels that wait for a decision. */
  readonly late: boolean;
  readonly open: OpenDialog;
}

/** Submitted labels, for a lead to accept or reject. */
export function Labels({ queue, late, open }: LabelsProps) {
  const [filters, change] = useFilters();
  const which = filters.get("reviewed") ?? (late ? "all" : "open");
  const decider = (again: () => Promise<void>) => (label: LabelResponse, decision: "accept" | "reject") =>
    open((close) => <Decide label={label} decision={decision} onClose={close} onDecided={again} />);
  return (
    <PagedTable<LabelResponse>
      name="labels"
      path="/labels"
      query={{ queue, late: late ? true : undefined }}
      only={(label) => which === "all" || (label.review ?? "open") === which}
      columns={({ show, again }) => [...columnsFor(show), ...(may("operate") ? [actions(decider(again))] : [])]}
      empty={<Empty title={late ? "No late labels" : "No labels to review"} />}
      tools={() =>
        !late && (
          <Choice
            name="Labels"
            value={which}
            choices={[
              ["open", "to review"],
              ["accepted", "accepted"],
              ["rejected", "rejected"],
              ["all", "all"],
            ]}
            onChoose={(reviewed) => change({ reviewed })}
          />
        )
      }
      drawer={{ parameter: "sample", show: (row) => <SampleDrawer key={row.id} open={open} {...row} /> }}
    />
  );
}

function columnsFor(look: (sample: string) => void): readonly Column<LabelResponse>[] {
  return [
    {
      name: "Label",
      value: (label) => JSON.stringify(label.value),
      show: (label) => (
        <button type="button" class="link" onClick={() => look(label.sampleId)}>
          <code>{shortValue(label.value)}</code>
        </button>
      ),
    },
    { name: "Labeler", value: (label) => label.labelerId, show: (label) => label.labelerId },
    { name: "When", value: (label) => label.at, show: (label) => <Time at={label.at} /> },
    {
      name: "Review",
      value: (label) => label.review,
      show: (label) => (
        <span>
          {label.review === null ? (
            <span class="quiet">–</span>
          ) : (
            <StatePill state={label.review} tone={label.review === "accepted" ? "good" : "bad"} />
          )}{" "}
          {label.late && <StatePill state="late" tone="warn" />}
          {label.comment !== null && <div class="small">{label.comment}</div>}
        </span>
      ),
    },
    { name: "By", value: (label) => label.reviewedBy, show: (label) => label.reviewedBy ?? "–" },
    {
      name: "On gold",
      value: (label) => label.isRight,
      show: (label) =>
        label.isRight === null ? (
          <span class="quiet">–</span>
        ) : (
          <StatePill state={label.isRight ? "right" : "wrong"} tone={label.isRight ? "good" : "bad"} />
        ),
    },
  ];
}

function actions(decide: (label: LabelResponse, decision: "accept" | "reject") => void): Column<LabelResponse> {
  return {
    name: "Actions",
    show: (label) => (
      <span class="row-actions">
        {label.review === null && (
          <button
            type="button"
            aria-label={`Accept the label of ${label.labelerId}`}
            onClick={() => decide(label, "accept")}
          >
            Accept…
          </button>
        )}
        {label.review !== "rejected" && (
          <button
            type="button"
            aria-label={`Reject the label of ${label.labelerId}`}
            onClick={() => decide(label, "reject")}
          >
            Reject…
          </button>
        )}
      </span>
    ),
  };
}

interface DecideProps {
  readonly label: LabelResponse;
  readonly decision: "accept" | "reject";
  readonly onClose: () => void;
  readonly onDecided: () => Promise<void>;
}

function Decide({ label, decision, onClose, onDecided }: DecideProps) {
  const isAccept = decision === "accept";
  return (
    <AskReason
      title={isAccept ? "Accept this label" : "Reject this label"}
      action={isAccept ? "Accept" : "Reject"}
      dangerous={!isAccept}
      label="Comment"
      said={isAccept ? "Label accepted." : "Label rejected."}
      onDo={async (comment) => {
        await post(`/labels/${part(label.id)}/${decision}`, { comment });
        await onDecided();
      }}
      onClose={onClose}
    >
      <p>
        <b>{label.labelerId}</b> said <code>{shortValue(label.value)}</code>
      </p>
      {!isAccept && <p>The label is not used, and its labeler gets the sample again.</p>}
      {isAccept && label.late && <p>It arrived late. It takes an open slot of its sample and is used from then on.</p>}
    </AskReason>
  );
}
