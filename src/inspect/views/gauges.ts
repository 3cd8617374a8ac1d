import { type Executor, sql, textArray } from "../../store/port/db.ts";

/**
 * How long the oldest of the next hundred tasks of each lane has been ready: reads the head, whatever the length of the
 * lane.
 */
export function readLaneAges(db: Executor, lanes: readonly string[]): Promise<{ lane: string; seconds: number }[]> {
  return db.rows(sql`
    with clock as materialized (select pawl.now() as now)
    select lane.name as lane, coalesce(greatest(0, date_part('epoch', clock.now - oldest.since)), 0)::float8 as seconds
    from clock, unnest((select ${textArray(lanes)}::text)::text[]) as lane(name)
    cross join lateral (
      select min(next.since) as since from (
        select each.since from pawl.tasks as each
        where each.queue = lane.name and each.due_at is null
        order by each.priority, each.id limit 100
      ) as next
    ) as oldest
    order by lane.name`);
}

/** By how much the next tick of each schedule is overdue. */
export function readScheduleLags(db: Executor, names: readonly string[]): Promise<{ name: string; seconds: number }[]> {
  return db.rows(sql`
    with clock as materialized (select pawl.now() as now)
    select schedule.name, greatest(0, date_part('epoch', clock.now - schedule.next_at))::float8 as seconds
    from clock, unnest((select ${textArray(names)}::text)::text[]) as wanted(name)
    cross join lateral (
      select each.name, each.next_at from pawl.schedules as each
      where each.name = wanted.name and each.paused_at is null and each.next_at is not null
      offset 0
    ) as schedule
    order by schedule.name`);
}
