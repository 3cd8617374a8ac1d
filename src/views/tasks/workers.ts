import { type Executor, sql } from "../../store/port/db.ts";
import type { WorkerRow } from "../../store/tasks/workers.ts";

/** The last heartbeat of a worker, and its time. */
export interface WorkerView extends WorkerRow {
  readonly started_ms: number;
  readonly heartbeat_ms: number;
  /** Since its last sign of life. */
  readonly silent_ms: number;
}

/** All workers that there are, and those that fell silent not long ago; the oldest first. */
export function readWorkers(db: Executor): Promise<WorkerView[]> {
  return db.rows<WorkerView>(sql`
    select worker.id, worker.host, worker.pid, worker.pawl, worker.loop, worker.stopping, worker.concurrency, worker.slots,
      worker.stuck, worker.tasks, to_json(worker.lanes) as lanes, pawl.ms(worker.started_at) as started_ms,
      pawl.ms(worker.heartbeat_at) as heartbeat_ms, pawl.ms(pawl.now()) - pawl.ms(worker.heartbeat_at) as silent_ms
    from pawl.workers as worker
    order by worker.started_at, worker.id`);
}
