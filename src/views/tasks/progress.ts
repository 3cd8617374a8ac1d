import { type Executor, sql } from "../../store/port/db.ts";

/** The progress of a running task of an instance. */
export interface ProgressRow {
  readonly fraction: number;
  readonly note: string | null;
  readonly at_ms: number;
}

/** The latest progress of a running task; that of an ended attempt is not returned. */
export async function readProgress(db: Executor, instanceId: string): Promise<ProgressRow | undefined> {
  const [word] = await db.rows<ProgressRow>(sql`
    select word.fraction, word.note, pawl.ms(word.at) as at_ms
    from pawl.progress as word
    cross join lateral (
      select from pawl.tasks as task where task.id = word.task_id and task.token = word.token and task.worker is not null
    ) as running
    where word.instance_id = ${instanceId}::uuid
    order by word.at desc limit 1`);
  return word;
}
