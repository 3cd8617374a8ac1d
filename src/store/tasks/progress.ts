import { type Executor, sql } from "../port/db.ts";
import type { Lease } from "./tasks.ts";

/**
 * Stores the latest progress of a running task, for the holder of the lease only. Takes no lock on the task: progress
 * written while its lease ends has an old token, and is not shown.
 */
export async function putProgress(
  db: Executor,
  lease: Lease,
  word: { readonly fraction: number; readonly note: string | null },
): Promise<void> {
  await db.rows(sql`
    insert into pawl.progress as word (instance_id, task_id, token, fraction, note, at)
    select task.instance_id, task.id, task.token, ${word.fraction}::float8, ${word.note}::text, pawl.now()
    from pawl.tasks as task
    where task.id = ${lease.taskId}::uuid and task.token = ${lease.token}::bigint and task.worker is not null
    on conflict (instance_id, task_id) do update
    set token = excluded.token, fraction = excluded.fraction, note = excluded.note, at = excluded.at`);
}
