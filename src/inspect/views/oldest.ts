import { type InstanceRow, instanceColumns } from "../../store/move/instances.ts";
import { type Executor, sql, textArray } from "../../store/port/db.ts";

/** Of the instances at rest in these states, those that were started first: one index probe a state. */
export function findOldestResting(
  db: Executor,
  wanted: { lifecycle: string; states: readonly string[]; limit: number },
): Promise<InstanceRow[]> {
  return db.rows<InstanceRow>(sql`
    with clock as materialized (select pawl.now() as now)
    select ${instanceColumns}
    from clock, lateral (
      select found.*
      from unnest((select ${textArray(wanted.states)}::text)::text[]) as state(name)
      cross join lateral (
        select * from pawl.instances as each
        where each.lifecycle = ${wanted.lifecycle}::text and each.shelf = state.name
        order by each.id limit ${wanted.limit}::int
      ) as found
      order by found.id limit ${wanted.limit}::int
    ) as instance
    order by instance.id`);
}

/**
 * Of the instances whose work is in these lanes, the oldest, as far as the heads of the lanes show: ready, scheduled
 * and running tasks.
 */
export function findOldestWorking(
  db: Executor,
  wanted: { lanes: readonly string[]; limit: number },
): Promise<InstanceRow[]> {
  return db.rows<InstanceRow>(sql`
    with clock as materialized (select pawl.now() as now),
    lane as materialized (select name from unnest((select ${textArray(wanted.lanes)}::text)::text[]) as lane(name)),
    head as materialized (
      select found.id from lane cross join lateral (
        (select each.id from pawl.tasks as each where each.queue = lane.name and each.due_at is null
         order by each.priority, each.id limit ${wanted.limit}::int)
        union all
        (select each.id from pawl.tasks as each where each.queue = lane.name and each.due_at is not null
         order by each.due_at, each.id limit ${wanted.limit}::int)
      ) as found
      union all
      select each.id from pawl.tasks as each
      where each.worker is not null and each.lane = any((select ${textArray(wanted.lanes)}::text)::text[])
    ),
    first as materialized (select id from head order by id limit ${wanted.limit}::int)
    select ${instanceColumns}
    from clock, first
    cross join lateral (select * from pawl.instances as each where each.id = first.id offset 0) as instance
    order by instance.id`);
}
