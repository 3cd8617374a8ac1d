import { type InstanceRow, instanceColumns } from "../../store/move/instances.ts";
import { type Executor, sql, textArray } from "../../store/port/db.ts";

/** The step that an instance waits for. */
export interface TaskView {
  readonly id: string;
  readonly lane: string;
  readonly attempt: number;
  readonly running: boolean;
  readonly due_ms: number | null;
  readonly worker: string | null;
}

/** The steps of these instances, of those that have one. */
export function readSteps(db: Executor, instanceIds: readonly string[]): Promise<TaskView[]> {
  return db.rows<TaskView>(sql`
    select step.*
    from unnest((select ${textArray(instanceIds)}::text)::uuid[]) as asked(id)
    cross join lateral (
      select task.id::text as id, task.lane, task.attempt, task.worker is not null as running, pawl.ms(task.due_at) as due_ms,
        task.worker
      from pawl.tasks as task where task.id = asked.id offset 0
    ) as step`);
}

const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Instances whose steps run, in these lanes; newest first. */
export function findRunning(
  db: Executor,
  lanes: readonly string[],
  page: { beforeId: string | null; limit: number },
): Promise<InstanceRow[]> {
  return db.rows<InstanceRow>(sql`
    with clock as materialized (select pawl.now() as now),
    running as materialized (
      select task.instance_id from pawl.tasks as task
      where task.worker is not null and task.lane = any ((select ${textArray(lanes)}::text)::text[])
        and task.instance_id < ${page.beforeId ?? lastId}::uuid
      order by task.instance_id desc limit ${page.limit}::int
    )
    select ${instanceColumns}
    from clock, running
    cross join lateral (
      select * from pawl.instances as each where each.id = running.instance_id offset 0
    ) as instance
    order by instance.id desc`);
}
