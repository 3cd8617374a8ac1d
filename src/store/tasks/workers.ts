import { type Executor, sql, textArray } from "../port/db.ts";

/** The last heartbeat of a worker. */
export interface WorkerRow {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** The version of Pawl that it runs. */
  readonly pawl: string;
  readonly loop: string;
  readonly stopping: boolean;
  readonly concurrency: number;
  readonly slots: Readonly<Record<string, number>>;
  /** How many steps ignore their aborted signal. */
  readonly stuck: number;
  /** How many tasks of each lane it has. */
  readonly tasks: Readonly<Record<string, number>>;
  readonly lanes: readonly string[];
}

/** A sign of life. The first one is also the beginning. */
export async function putWorker(db: Executor, row: WorkerRow): Promise<void> {
  await db.rows(sql`
    insert into pawl.workers as worker (
      id, host, pid, pawl, started_at, heartbeat_at, loop, stopping, concurrency, slots, stuck, tasks, lanes
    )
    select ${row.id}::text, ${row.host}::text, ${row.pid}::int, ${row.pawl}::text, clock.now, clock.now, ${row.loop}::text,
      ${row.stopping}::boolean, ${row.concurrency}::int, ${JSON.stringify(row.slots)}::text::jsonb, ${row.stuck}::int,
      ${JSON.stringify(row.tasks)}::text::jsonb, (select ${textArray(row.lanes)}::text)::text[]
    from (select pawl.now() as now) as clock
    on conflict (id) do update set heartbeat_at = excluded.heartbeat_at, loop = excluded.loop, stopping = excluded.stopping,
      slots = excluded.slots, stuck = excluded.stuck, tasks = excluded.tasks, lanes = excluded.lanes`);
}

export async function removeWorker(db: Executor, id: string): Promise<void> {
  await db.rows(sql`delete from pawl.workers as worker where worker.id = ${id}::text`);
}

/** Deletes those that have been silent for a long time. */
export async function pruneWorkers(db: Executor, silentMs: number): Promise<void> {
  await db.rows(sql`
    delete from pawl.workers as worker
    where worker.heartbeat_at < pawl.now() - ${silentMs}::float8 * interval '1 millisecond'`);
}
