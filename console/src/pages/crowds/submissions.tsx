import type { SubmissionResponse } from "../../../../src/http/contract.ts";
import type { OpenDialog } from "../../dialogs.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Id } from "../../parts/id.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import { PagedTable } from "../../parts/table/paged-table.tsx";
import type { Column } from "../../parts/table/table.tsx";
import { Time } from "../../parts/time.tsx";
import { commandOf } from "../../rows.ts";
import { useFilters } from "../../url.ts";
import { shortValue } from "../people/short-value.ts";
import { SubmissionDrawer } from "./submission.tsx";
import { submissionTones } from "./submission-tones.ts";

const choices = [
  ["waiting", "to review"],
  ["approved", "approved"],
  ["rejected", "rejected"],
  ["failed", "failed"],
  ["any", "any"],
] as const;

const states: Readonly<Record<string, readonly string[] | undefined>> = {
  waiting: ["pending_approval", "errored"],
  approved: ["approving", "approved"],
  rejected: ["rejecting", "rejected"],
  failed: ["failed", "discarded"],
};

export interface SubmissionsProps {
  readonly crowd: string;
  readonly paysBonuses: boolean;
  readonly open: OpenDialog;
}

/** What workers have submitted: first what waits for a decision. */
export function Submissions({ crowd, paysBonuses, open }: SubmissionsProps) {
  const [filters, change] = useFilters();
  const which = filters.get("state") ?? "waiting";
  return (
    <PagedTable<SubmissionResponse>
      name="submissions"
      path="/submissions"
      query={{ crowd, state: states[which] }}
      command={commandOf(["crowd", "submissions", crowd])}
      columns={({ show }) => columnsFor(show)}
      empty={<Empty title={which === "waiting" ? "Nothing to review" : "No submissions"} />}
      tools={() => (
        <Choice
          name="Submissions"
          value={which}
          choices={choices as readonly (readonly [string, string])[]}
          onChoose={(chosen) => change({ state: chosen })}
        />
      )}
      drawer={{
        parameter: "submission",
        show: ({ id, onClose, onChanged }) => (
          <SubmissionDrawer
            key={id}
            id={id}
            paysBonuses={paysBonuses}
            open={open}
            onClose={onClose}
            onDecided={onChanged}
          />
        ),
      }}
    />
  );
}

function columnsFor(look: (id: string) => void): readonly Column<SubmissionResponse>[] {
  return [
    {
      name: "Answer",
      value: (one) => JSON.stringify(one.label ?? one.answer),
      show: (one) => (
        <button type="button" class="link" onClick={() => look(one.id)}>
          <code>{shortValue(one.label ?? one.answer) || "nothing"}</code>
        </button>
      ),
    },
    {
      name: "State",
      value: (one) => one.state,
      show: (one) => <StatePill state={one.state.replace("_", " ")} tone={submissionTones[one.state]} />,
    },
    { name: "Worker", value: (one) => one.worker, show: (one) => <Id id={one.worker} /> },
    {
      name: "Problem",
      value: (one) => one.problem,
      show: (one) => (
        <span class="small">
          {one.problem ?? (one.conflict === null ? "" : `decided ${one.conflict.wanted}, found ${one.conflict.found}`)}
        </span>
      ),
    },
    { name: "Submitted", value: (one) => one.submittedAt, show: (one) => <Time at={one.submittedAt} /> },
    { name: "Job", value: (one) => one.jobId, show: (one) => <Id id={one.jobId} /> },
  ];
}
