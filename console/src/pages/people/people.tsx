import { Link } from "wouter-preact";
import type { QueueResponse, QueueStatsResponse } from "../../../../src/http/contract.ts";
import { apiUrl, get } from "../../api.ts";
import { Empty } from "../../parts/empty.tsx";
import { ErrorMessage } from "../../parts/error-message.tsx";
import { StatePill } from "../../parts/state-pill.tsx";
import { type Column, Table } from "../../parts/table/table.tsx";
import { count, Tile } from "../../parts/tile.tsx";
import { commandOf } from "../../rows.ts";
import { usePolling } from "../../use-polling.ts";
import { useRequest } from "../../use-request.ts";
import { percent, seconds } from "./shares.tsx";
import "../operating.css";

type Row = QueueResponse & QueueStatsResponse;

/** The queues of those who label. */
export function People() {
  const { answer, error, again } = useRequest(async () => {
    const [queues, loads] = await Promise.all([get("/queues"), get("/queue-stats")]);
    return queues.flatMap((queue): Row[] => {
      const load = loads.find((one) => one.queue === queue.name);
      return load === undefined ? [] : [{ ...queue, ...load }];
    });
  }, []);
  usePolling(again);
  const sum = (of: (row: Row) => number) =>
    answer === undefined ? undefined : answer.reduce((all, row) => all + of(row), 0);
  const late = sum((row) => row.late) ?? 0;
  return (
    <section>
      <h1>People</h1>
      <ErrorMessage error={error} />
      {answer !== undefined && answer.length > 0 && (
        <div class="tiles">
          <Tile name="Labels needed" value={count(sum((row) => row.waiting))} />
          <Tile name="Assigned" value={count(sum((row) => row.assigned))} />
          <Tile name="Labeled" value={count(sum((row) => row.metrics.byStatus.completed))} />
          <Tile name="Late, to review" value={count(late)} tone={late > 0 ? "warn" : undefined} />
        </div>
      )}
      <Table
        name="queues"
        rows={answer}
        rowKey={(row) => row.name}
        columns={columns}
        asked={{ url: apiUrl("/queue-stats"), command: commandOf(["queue", "list"]) }}
        empty={
          <Empty title="No queues">
            Declare one with <code>queue("essays", …)</code>, or create one with <code>pawl queue create</code>.
          </Empty>
        }
      />
    </section>
  );
}

const columns: readonly Column<Row>[] = [
  {
    name: "Queue",
    value: (row) => row.name,
    show: (row) => (
      <Link href={`/people/${encodeURIComponent(row.name)}`}>
        <b>{row.name}</b>
      </Link>
    ),
  },
  {
    name: "Status",
    value: (row) => (row.active ? "active" : "inactive"),
    show: (row) => <StatePill state={row.active ? "active" : "inactive"} tone={row.active ? "good" : "warn"} />,
  },
  { name: "Waiting", numeric: true, value: (row) => row.waiting, show: (row) => count(row.waiting) },
  { name: "Assigned", numeric: true, value: (row) => row.assigned, show: (row) => count(row.assigned) },
  {
    name: "Done",
    numeric: true,
    value: (row) => row.metrics.byStatus.completed,
    show: (row) => count(row.metrics.byStatus.completed),
  },
  {
    name: "Late",
    numeric: true,
    value: (row) => row.late,
    show: (row) => <span class={row.late > 0 ? "warning" : undefined}>{count(row.late)}</span>,
  },
  {
    name: "Mean time",
    numeric: true,
    value: (row) => row.metrics.avgTimeToComplete,
    show: (row) => seconds(row.metrics.avgTimeToComplete),
  },
  {
    name: "Skipped",
    numeric: true,
    value: (row) => row.metrics.ofClosed.skipRate,
    show: (row) => percent(row.metrics.ofClosed.skipRate),
  },
  {
    name: "Gold accuracy",
    numeric: true,
    value: (row) => row.metrics.gold.accuracy,
    show: (row) => percent(row.metrics.gold.accuracy),
  },
  { name: "Labels each", numeric: true, value: (row) => row.overlap, show: (row) => row.overlap },
];
