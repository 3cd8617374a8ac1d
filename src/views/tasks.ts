import { type Executor, sql } from "../store/db.ts";

/** The step that an instance waits for. */
export interface TaskView {
  readonly lane: string;
  readonly attempt: number;
  readonly running: boolean;
  readonly due_ms: number | null;
  readonly worker: string | null;
}

export async function readStep(db: Executor, instanceId: string): Promise<TaskView | undefined> {
  const [step] = await db.rows<TaskView>(sql`
    select task.lane, task.attempt, task.worker is not null as running, pawl.ms(task.due_at) as due_ms, task.worker
    from pawl.tasks as task where task.id = ${instanceId}::uuid`);
  return step;
}
