import type { OperationResponse } from "../../../src/http/contract.ts";
import { apiUrl, get, part, post } from "../api.ts";
import { AskReason, type OpenDialog, useDialog } from "../dialogs.tsx";
import { Bar } from "../parts/bar.tsx";
import { Drawer } from "../parts/drawer.tsx";
import { Empty } from "../parts/empty.tsx";
import { ErrorMessage } from "../parts/error-message.tsx";
import { Facts } from "../parts/facts.tsx";
import { Id } from "../parts/id.tsx";
import { StatePill } from "../parts/state-pill.tsx";
import { type Column, Table } from "../parts/table/table.tsx";
import { count } from "../parts/tile.tsx";
import { Time } from "../parts/time.tsx";
import { commandOf } from "../rows.ts";
import { runAction } from "../run-action.ts";
import { may } from "../session.ts";
import { useFilters } from "../url.ts";
import { usePolling } from "../use-polling.ts";
import { useRequest } from "../use-request.ts";
import { inWords } from "./dead/letter-filter.ts";
import "./operating.css";

const tones = { running: "info", done: "good", aborted: "warn" } as const;

/** All bulk operations, and their progress. */
export function Operations() {
  const [filters, change] = useFilters();
  const [dialog, open] = useDialog();
  const { answer, error, again } = useRequest(() => get("/operations", { limit: 100 }), []);
  const runs = answer?.some((one) => one.status === "running") ?? false;
  usePolling(again, runs ? 1_000 : 3_000);
  const shown = answer?.find((one) => one.id === filters.get("operation"));
  return (
    <section>
      <h1>Operations</h1>
      <ErrorMessage error={error} />
      <Table
        name="operations"
        rows={answer}
        rowKey={(one) => one.id}
        columns={[
          look((operation) => change({ operation })),
          ...columns,
          ...(may("operate") ? [actions(open, again)] : []),
        ]}
        asked={{ url: apiUrl("/operations"), command: commandOf(["dead", "operations"]) }}
        empty={
          <Empty title="No bulk operations">
            When you requeue or discard a group of dead letters, its progress appears here.
          </Empty>
        }
      />
      {shown !== undefined && <Shown operation={shown} onClose={() => change({ operation: "" })} />}
      {dialog}
    </section>
  );
}

function look(open: (id: string) => void): Column<OperationResponse> {
  return {
    name: "Operation",
    value: (one) => `${one.decision} ${inWords(one.filter)}`,
    show: (one) => (
      <button type="button" class="link" onClick={() => open(one.id)}>
        {one.decision === "requeue" ? "Requeue" : "Discard"} {inWords(one.filter)}
      </button>
    ),
  };
}

const columns: readonly Column<OperationResponse>[] = [
  {
    name: "Status",
    value: (one) => one.status,
    show: (one) => <StatePill state={one.status} tone={tones[one.status]} />,
  },
  {
    name: "Progress",
    value: (one) => one.done / Math.max(one.items, 1),
    show: (one) => <Progress operation={one} />,
  },
  { name: "Result", show: (one) => <Outcomes operation={one} /> },
  { name: "By", value: (one) => one.actor, show: (one) => one.actor ?? "–" },
  { name: "Reason", value: (one) => one.reason, show: (one) => one.reason ?? "–" },
  { name: "Begun", value: (one) => one.createdAt, show: (one) => <Time at={one.createdAt} /> },
];

function Progress({ operation: { decision, done, items, status, rate } }: { readonly operation: OperationResponse }) {
  return (
    <span class="measure">
      <Bar name={`Progress of ${decision}`} value={done} of={items} tone={tones[status]} />
      <span class="number small">
        {count(done)} / {count(items)}
        {rate !== null && <span class="quiet"> · {rate}/s</span>}
      </span>
    </span>
  );
}

function Outcomes({ operation: { outcomes } }: { readonly operation: OperationResponse }) {
  const all = Object.entries(outcomes);
  if (all.length === 0) return <span class="quiet">–</span>;
  return (
    <ul class="outcomes">
      {all.map(([outcome, letters]) => (
        <li key={outcome}>
          <StatePill
            state={`${count(letters)} ${outcome}`}
            tone={outcome === "requeued" || outcome === "discarded" ? "plain" : "warn"}
          />
        </li>
      ))}
    </ul>
  );
}

function actions(open: OpenDialog, again: () => Promise<void>): Column<OperationResponse> {
  const abort = (one: OperationResponse) =>
    open((close) => (
      <AskReason
        title="Abort this operation"
        action="Abort"
        dangerous
        said="Operation aborted."
        onDo={async (reason) => {
          await post(`/operations/${part(one.id)}/abort`, { reason });
          await again();
        }}
        onClose={close}
      >
        <p>Completed changes are kept; {count(one.items - one.done)} items are left as they are.</p>
      </AskReason>
    ));
  const runNow = (one: OperationResponse) =>
    runAction(async () => {
      await post(`/operations/${part(one.id)}/run-batch`);
      await again();
    }, "Batch completed.");
  return {
    name: "Actions",
    show: (one) =>
      one.status === "running" && (
        <span class="row-actions">
          <button
            type="button"
            title="Workers run it in the background; this runs the next batch now."
            onClick={() => void runNow(one)}
          >
            Run a batch
          </button>
          <button type="button" onClick={() => abort(one)}>
            Abort…
          </button>
        </span>
      ),
  };
}

function Shown({ operation, onClose }: { readonly operation: OperationResponse; readonly onClose: () => void }) {
  const { id, filter, restart, rate, actor, reason, createdAt, endedAt, abortedBy, abortReason, refusals } = operation;
  return (
    <Drawer title={operation.decision === "requeue" ? "Requeue" : "Discard"} name="Operation" onClose={onClose} wide>
      <Facts
        facts={[
          ["Status", <StatePill key="status" state={operation.status} tone={tones[operation.status]} />],
          ["Progress", <Progress key="progress" operation={operation} />],
          ["Result", <Outcomes key="outcomes" operation={operation} />],
          ["Letters", inWords(filter)],
          ["How", restart ? "Start over" : undefined],
          ["Pace", rate === null ? "No limit" : `${rate} a second at most`],
          ["By", actor],
          ["Reason", reason],
          ["Begun", <Time key="begun" at={createdAt} />],
          ["Ended", <Time key="ended" at={endedAt} />],
          ["Aborted by", abortedBy ?? undefined],
          ["Because", abortReason ?? undefined],
          ["Id", <Id key="id" id={id} />],
        ]}
      />
      {refusals.length > 0 && (
        <>
          <h3>First failures</h3>
          {refusals.map(({ id: item, outcome, note }) => (
            <div key={item} class="said">
              <Id id={item} /> <StatePill state={outcome} tone="warn" />
              {note !== null && <div class="small">{note}</div>}
            </div>
          ))}
        </>
      )}
    </Drawer>
  );
}
