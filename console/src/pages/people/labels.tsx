import type { LabelAnswer } from "../../../../src/http/contract.ts";
import { apiUrl, get, part, post } from "../../api.ts";
import { AskReason, type OpenDialog } from "../../dialogs.tsx";
import { useFresh } from "../../fresh.ts";
import { usePaged } from "../../paged.ts";
import { Choice } from "../../parts/choice.tsx";
import { Empty } from "../../parts/empty.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { may } from "../../session.ts";
import { useFilters } from "../../url.ts";
import { brief } from "./brief.ts";
import { SampleDrawer } from "./sample.tsx";

const pageSize = 50;

export interface LabelsProps {
  readonly queue: string;
  /** Only those that came late and wait for a word. */
  readonly late: boolean;
  readonly open: OpenDialog;
}

/** What labelers have handed in, for a lead to accept or reject. */
export function Labels({ queue, late, open }: LabelsProps) {
  const [filters, change] = useFilters();
  const which = filters.get("reviewed") ?? (late ? "all" : "open");
  const labels = usePaged<LabelAnswer>(
    (after) => get("/labels", { queue, late: late ? true : undefined, limit: pageSize, after }),
    { size: pageSize, idOf: (label) => label.id, dependsOn: [queue, late] },
  );
  useFresh(labels.again);
  const rows = labels.answer?.filter((label) => which === "all" || (label.review ?? "open") === which);
  const decide = (label: LabelAnswer, decision: "accept" | "reject") =>
    open((close) => <Decide label={label} decision={decision} onClose={close} onDecided={labels.again} />);
  const shown = filters.get("sample");
  const columns = columnsFor((sample) => change({ sample }));
  return (
    <>
      <Trouble error={labels.error} />
      <Table
        name="labels"
        rows={rows}
        rowKey={(label) => label.id}
        columns={may("operate") ? [...columns, actions(decide)] : columns}
        more={labels.more}
        asked={{ url: apiUrl("/labels", { queue, late: late ? true : undefined }) }}
        empty={<Empty title={late ? "No label came late" : "No label is to be reviewed"} />}
        tools={
          !late && (
            <Choice
              name="Labels"
              value={which}
              choices={[
                ["open", "to be reviewed"],
                ["accepted", "accepted"],
                ["rejected", "rejected"],
                ["all", "all"],
              ]}
              onChoose={(reviewed) => change({ reviewed })}
            />
          )
        }
      />
      {shown !== null && (
        <SampleDrawer
          key={shown}
          id={shown}
          open={open}
          onClose={() => change({ sample: "" })}
          onChanged={labels.again}
        />
      )}
    </>
  );
}

function columnsFor(look: (sample: string) => void): readonly Column<LabelAnswer>[] {
  return [
    {
      name: "Label",
      value: (label) => JSON.stringify(label.value),
      show: (label) => (
        <button type="button" class="link" onClick={() => look(label.sampleId)}>
          <code>{brief(label.value)}</code>
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

function actions(decide: (label: LabelAnswer, decision: "accept" | "reject") => void): Column<LabelAnswer> {
  return {
    name: "Actions",
    show: (label) => (
      <span class="row-actions">
        {label.review === null && (
          <button
            type="button"
            aria-label={`Accept what ${label.labelerId} said`}
            onClick={() => decide(label, "accept")}
          >
            Accept…
          </button>
        )}
        {label.review !== "rejected" && (
          <button
            type="button"
            aria-label={`Reject what ${label.labelerId} said`}
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
  readonly label: LabelAnswer;
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
      said={isAccept ? "The label is accepted." : "The label counts no more."}
      onDo={async (comment) => {
        await post(`/labels/${part(label.id)}/${decision}`, { comment });
        await onDecided();
      }}
      onClose={onClose}
    >
      <p>
        <b>{label.labelerId}</b> said <code>{brief(label.value)}</code>
      </p>
      {!isAccept && <p>It counts no more, and its labeler gets the sample once more.</p>}
      {isAccept && label.late && <p>It came late; it takes an open slot of its sample, and counts from then on.</p>}
    </AskReason>
  );
}
