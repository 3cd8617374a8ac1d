import type { WorkerResponse } from "../../../../src/http/contract.ts";
import { apiUrl, get } from "../../api.ts";
import { Bar } from "../../parts/bar.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ErrorMessage } from "../../parts/error-message.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import { type Column, Table } from "../../parts/table/table.tsx";
import { Time } from "../../parts/time.tsx";
import { commandOf } from "../../rows.ts";
import { usePolling } from "../../use-polling.ts";
import { useRequest } from "../../use-request.ts";
import { Lanes } from "./lanes.tsx";
import "../operating.css";

/** Who works, on what, and what waits for them. */
export function Workers() {
  const { answer, error, again } = useRequest(() => get("/workers"), []);
  usePolling(again, 2_000);
  return (
    <section>
      <h1>Workers</h1>
      <ErrorMessage error={error} />
      <Table
        name="workers"
        rows={answer}
        rowKey={(worker) => worker.id}
        columns={columns}
        asked={{ url: apiUrl("/workers"), command: commandOf(["workers"]) }}
        empty={
          <Empty title="No workers">
            Run <code>pawl work</code>, or call <code>pawl.work()</code> in your own process.
          </Empty>
        }
      />
      <div class="section">
        <h2>Lanes</h2>
        <Lanes />
      </div>
    </section>
  );
}

function stateOf({ silent, stopping, state }: WorkerResponse): string {
  if (silent) return "silent";
  return stopping ? "stopping" : state;
}

function runningTasks({ tasks }: WorkerResponse): number {
  return Object.values(tasks).reduce((sum, some) => sum + some, 0);
}

/** Running steps. Prefetched and reporting tasks take no slot. */
function running({ slots }: WorkerResponse): number {
  return slots.Processing ?? 0;
}

const columns: readonly Column<WorkerResponse>[] = [
  {
    name: "Process",
    value: (one) => `${one.host}:${one.pid}`,
    show: (one) => (
      <span class="nowrap" title={one.id}>
        <b>{one.host}</b> <span class="quiet">pid {one.pid}</span>
      </span>
    ),
  },
  {
    name: "State",
    value: stateOf,
    show: (one) => <StatePill state={stateOf(one)} tone={one.silent ? "bad" : one.stopping ? "warn" : "good"} />,
  },
  {
    name: "Slots",
    value: running,
    show: (one) => (
      <span class="measure">
        <Bar name={`Slots of ${one.host} in use`} value={running(one)} of={one.concurrency} />
        <span class="number small">
          {running(one)} / {one.concurrency}
        </span>
      </span>
    ),
  },
  {
    name: "Stuck",
    value: (one) => one.stuck,
    show: (one) =>
      one.stuck === 0 ? (
        <span class="quiet">none</span>
      ) : (
        <span title="Steps that ignore their aborted signal; restart the process to end them">
          <StatePill state={`${one.stuck} stuck`} tone="bad" />
        </span>
      ),
  },
  {
    name: "Assigned",
    show: (one) =>
      runningTasks(one) === 0 ? (
        <span class="quiet">nothing</span>
      ) : (
        <ul class="outcomes">
          {Object.entries(one.tasks)
            .filter(([, tasks]) => tasks > 0)
            .map(([lane, tasks]) => (
              <li key={lane}>
                <StatePill state={`${tasks} ${lane}`} tone="info" />
              </li>
            ))}
        </ul>
      ),
  },
  {
    name: "Serves",
    value: (one) => one.lanes.join(" "),
    show: (one) => (
      <details>
        <summary class="nowrap">
          {one.lanes.length} {one.lanes.length === 1 ? "lane" : "lanes"}
        </summary>
        <span class="small">
          {one.lanes.map((lane) => (
            <div key={lane}>{lane}</div>
          ))}
        </span>
      </details>
    ),
  },
  { name: "Heartbeat", value: (one) => one.heartbeatAt, show: (one) => <Time at={one.heartbeatAt} /> },
  { name: "Started", value: (one) => one.startedAt, show: (one) => <Time at={one.startedAt} /> },
  { name: "Version", value: (one) => one.pawl, show: (one) => one.pawl },
];
