import type { AssignmentResponse } from "../../../../src/http/contract.ts";
import { apiUrl, get, part, post } from "../../api.ts";
import { AskReason, type OpenDialog } from "../../dialogs.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ErrorMessage } from "../../parts/error-message.tsx";
import { Id } from "../../parts/id.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import { type Column, Table } from "../../parts/table/table.tsx";
import { Time } from "../../parts/time.tsx";
import { may } from "../../session.ts";
import { usePolling } from "../../use-polling.ts";
import { useRequest } from "../../use-request.ts";

const limit = 200;

/** Open assignments, with their deadlines. */
export function OpenAssignments({ queue, open }: { readonly queue: string; readonly open: OpenDialog }) {
  const { answer, error, again } = useRequest(async () => {
    const ask = (status: string) => get("/assignments", { queue, status, limit });
    return (await Promise.all([ask("in_progress"), ask("pending")])).flat();
  }, [queue]);
  usePolling(again);
  const release = (one: AssignmentResponse) =>
    open((close) => (
      <AskReason
        title={`Release from ${one.labelerId}`}
        action="Release"
        said="The sample can be assigned again."
        onDo={async (reason) => {
          await post(`/assignments/${part(one.id)}/release`, { reason });
          await again();
        }}
        onClose={close}
      >
        <p>It spends no try of the labeler or the sample.</p>
      </AskReason>
    ));
  return (
    <>
      <ErrorMessage error={error} />
      <Table
        name="assignments"
        rows={answer}
        rowKey={(one) => one.id}
        columns={may("operate") ? [...columns, actions(release)] : columns}
        asked={{ url: apiUrl("/assignments", { queue, status: "in_progress" }) }}
        empty={<Empty title="No open assignments" />}
      />
    </>
  );
}

const columns: readonly Column<AssignmentResponse>[] = [
  { name: "Labeler", value: (one) => one.labelerId, show: (one) => <b>{one.labelerId}</b> },
  {
    name: "Status",
    value: (one) => one.status,
    show: (one) => (
      <StatePill
        state={one.status === "pending" ? "not started" : "in progress"}
        tone={one.status === "pending" ? "plain" : "info"}
      />
    ),
  },
  { name: "Sample", value: (one) => one.sampleId, show: (one) => <Id id={one.sampleId} /> },
  { name: "Given", value: (one) => one.createdAt, show: (one) => <Time at={one.createdAt} /> },
  { name: "Begun", value: (one) => one.startedAt, show: (one) => <Time at={one.startedAt} /> },
  {
    name: "Expires",
    value: (one) => one.deadlineAt ?? one.startBy,
    show: (one) => <Time at={one.deadlineAt ?? one.startBy} />,
  },
  { name: "Try", numeric: true, value: (one) => one.try, show: (one) => one.try },
];

function actions(release: (one: AssignmentResponse) => void): Column<AssignmentResponse> {
  return {
    name: "Actions",
    show: (one) => (
      <span class="row-actions">
        <button type="button" aria-label={`Release from ${one.labelerId}`} onClick={() => release(one)}>
          Release…
        </button>
      </span>
    ),
  };
}
