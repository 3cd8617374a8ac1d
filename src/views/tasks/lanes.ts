import { type Executor, sql, textArray } from "../../store/port/db.ts";

/** The contents of a lane. */
export interface LaneRow {
  readonly lane: string;
  readonly ready: number;
  readonly scheduled: number;
  readonly running: number;
  /** How long the one that waits longest has been ready; null when none is. */
  readonly oldest_ms: number | null;
}

/** The contents of each of these lanes, counted up to `most`, since counting a million tasks takes long. */
export function readLanes(db: Executor, lanes: readonly string[], most: number): Promise<LaneRow[]> {
  return db.rows<LaneRow>(sql`
    with clock as materialized (select pawl.now() as now),
    running as materialized (
      select each.lane, least(count(*), ${most}::int)::int as tasks from pawl.tasks as each
      where each.worker is not null group by each.lane
    )
    select lane.name as lane, ready.tasks as ready, scheduled.tasks as scheduled, coalesce(running.tasks, 0) as running,
      pawl.ms(clock.now) - pawl.ms(ready.oldest) as oldest_ms
    from clock, unnest((select ${textArray(lanes)}::text)::text[]) with ordinality as lane(name, place)
    cross join lateral (
      select count(*)::int as tasks, min(few.since) as oldest
      from (select each.since from pawl.tasks as each where each.queue = lane.name and each.due_at is null limit ${most}::int) as few
    ) as ready
    cross join lateral (
      select count(*)::int as tasks
      from (select from pawl.tasks as each where each.queue = lane.name and each.due_at is not null limit ${most}::int) as few
    ) as scheduled
    left join running on running.lane = lane.name
    order by lane.place`);
}
