import type { LabelResponse } from "../../../../src/http/contract.ts";
import type { OpenDialog } from "../../dialogs.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Empty } from "../../parts/empty.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import { PagedTable } from "../../parts/table/paged-table.tsx";
import type { Column } from "../../parts/table/table.tsx";
import { Time } from "../../parts/time.tsx";
import { may } from "../../session.ts";
import { useFilters } from "../../url.ts";
import { canDecide, DecideLabel } from "./decide-label.tsx";
import { SampleDrawer } from "./sample.tsx";
import { shortValue } from "./short-value.ts";

export interface LabelsProps {
  readonly queue: string;
  /** Whether a lead reviews every label of the queue. */
  readonly reviews: boolean;
  /** Only late labels that wait for a decision. */
  readonly late: boolean;
  readonly open: OpenDialog;
}

/** Submitted labels; in a queue with review, and if they came late, for a lead to accept or reject. */
export function Labels({ queue, reviews, late, open }: LabelsProps) {
  const [filters, change] = useFilters();
  const which = filters.get("reviewed") ?? (late || !reviews ? "all" : "open");
  const decider = (again: () => Promise<void>) => (label: LabelResponse, decision: "accept" | "reject") =>
    open((close) => <DecideLabel label={label} decision={decision} onClose={close} onDecided={again} />);
  return (
    <PagedTable<LabelResponse>
      name="labels"
      path="/labels"
      query={{ queue, late: late ? true : undefined }}
      only={(label) => which === "all" || (label.review ?? "open") === which}
      columns={({ show, again }) => [
        ...columnsFor(show),
        ...(may("operate") && (reviews || late) ? [actions(reviews, decider(again))] : []),
      ]}
      empty={<Empty title={late ? "No late labels" : reviews ? "No labels to review" : "No labels yet"} />}
      tools={() =>
        !late &&
        reviews && (
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
      drawer={{
        parameter: "sample",
        idOf: ({ sampleId }) => sampleId,
        show: (row) => <SampleDrawer key={row.id} open={open} reviews={reviews} {...row} />,
      }}
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

function actions(
  reviews: boolean,
  decide: (label: LabelResponse, decision: "accept" | "reject") => void,
): Column<LabelResponse> {
  return {
    name: "Actions",
    show: (label) => (
      <span class="row-actions">
        {canDecide(label, reviews).accept && (
          <button
            type="button"
            aria-label={`Accept the label of ${label.labelerId}`}
            onClick={() => decide(label, "accept")}
          >
            Accept…
          </button>
        )}
        {canDecide(label, reviews).reject && (
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
