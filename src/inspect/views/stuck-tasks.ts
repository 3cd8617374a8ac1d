import { type Executor, part, sql, textArray } from "../../store/port/db.ts";
import { type Bounds, type FoundGroup, grouped, readMore } from "./grouped.ts";

/** The lanes in which something is ready, by one index probe each. */
export async function readReadyLanes(db: Executor): Promise<string[]> {
  const rows = await db.rows<{ lane: string }>(sql`
    with recursive lane(name) as (
      (
        select each.queue from pawl.tasks as each where each.queue is not null and each.due_at is null
        order by each.queue, each.priority, each.id limit 1
      )
      union all
      select next.queue from lane cross join lateral (
        select each.queue from pawl.tasks as each where each.queue > lane.name and each.due_at is null
        order by each.queue, each.priority, each.id limit 1
      ) as next
    )
    select lane.name as lane from lane`);
  return rows.map(({ lane }) => lane);
}

/** How many priorities of one lane are checked. */
const maxPriorities = 100;

/**
 * Tasks that have been ready in these lanes for longer than each lane's limit. Checks the first tasks of each priority,
 * so that starved ones are found.
 */
export function readReadyTasks(
  db: Executor,
  lanes: readonly { readonly lane: string; readonly afterMs: number }[],
  bounds: Bounds,
): Promise<FoundGroup[]> {
  return db.rows<FoundGroup>(sql`
    with clock as materialized (select pawl.now() as now),
    found as materialized (
      select '' as lifecycle, lane.name as place, late.instance_id, late.since
      from clock, unnest(
        (select ${textArray(lanes.map(({ lane }) => lane))}::text)::text[],
        (select ${textArray(lanes.map(({ afterMs }) => String(afterMs)))}::text)::float8[]
      ) as lane(name, after_ms)
      cross join lateral (
        select head.instance_id, head.since
        from (
          with recursive level(priority) as (
            (
              select each.priority from pawl.tasks as each where each.queue = lane.name and each.due_at is null
              order by each.priority, each.id limit 1
            )
            union all
            select next.priority from level cross join lateral (
              select each.priority from pawl.tasks as each
              where each.queue = lane.name and each.due_at is null and each.priority > level.priority
              order by each.priority, each.id limit 1
            ) as next
          )
          select level.priority from level limit ${maxPriorities}::int
        ) as level
        cross join lateral (
          select each.instance_id, each.since from pawl.tasks as each
          where each.queue = lane.name and each.due_at is null and each.priority = level.priority
          order by each.id limit ${bounds.counted}::int
        ) as head
        where head.since < clock.now - lane.after_ms * interval '1 millisecond'
        limit ${bounds.counted}::int
      ) as late
    )
    ${grouped(bounds)}`);
}

/** Tasks whose lease or whose pause should have been ended by maintenance long ago. */
export function readOverdueTasks(db: Executor, overdueMs: number, bounds: Bounds): Promise<FoundGroup[]> {
  return db.rows<FoundGroup>(sql`
    with recursive clock as materialized (
      select pawl.now() - ${overdueMs}::float8 * interval '1 millisecond' as late
    ),
    lane(name) as (
      (select each.queue from pawl.tasks as each where each.due_at is not null order by each.queue, each.due_at, each.id limit 1)
      union all
      select next.queue from lane cross join lateral (
        select each.queue from pawl.tasks as each where each.queue > lane.name and each.due_at is not null
        order by each.queue, each.due_at, each.id limit 1
      ) as next
    ),
    found as materialized (
      (
        select '' as lifecycle, each.lane as place, each.instance_id, each.leased_until as since
        from clock, pawl.tasks as each
        where each.worker is not null and each.leased_until < clock.late
        order by each.leased_until, each.id limit ${bounds.counted}::int
      )
      union all
      select '', lane.name, late.instance_id, late.due_at
      from clock, lane
      cross join lateral (
        select each.instance_id, each.due_at from pawl.tasks as each
        where each.queue = lane.name and each.due_at is not null and each.due_at < clock.late
        order by each.due_at, each.id limit ${bounds.counted}::int
      ) as late
    )
    ${grouped(bounds)}`);
}

/** More tasks than these run nowhere: their slots bound them. */
const maxRunning = 100_000;

/** Tasks that have been running for longer than this. */
export function readLongTasks(db: Executor, runningMs: number, bounds: Bounds): Promise<FoundGroup[]> {
  return db.rows<FoundGroup>(sql`
    with clock as materialized (select pawl.now() - ${runningMs}::float8 * interval '1 millisecond' as late),
    found as materialized (
      select '' as lifecycle, each.lane as place, each.instance_id, each.since
      from clock, (
        select task.lane, task.instance_id, task.since, task.id from pawl.tasks as task
        where task.worker is not null order by task.leased_until, task.id limit ${maxRunning}::int
      ) as each
      where each.since < clock.late
      limit ${bounds.counted}::int
    )
    ${grouped(bounds)}`);
}

/** The step of its present visit, unless it runs; a recovery is none. */
const waitingStep = part`
  cross join lateral (
    select task.lane from pawl.tasks as task
    join pawl.instances as instance on instance.id = task.id and instance.visit = task.visit
    join pawl.journal as entry on entry.instance_id = instance.id and entry.version = instance.visit
    where task.id = faulty.task_id and task.id = faulty.instance_id and task.kind = 'step' and task.worker is null
      and entry.at <= faulty.at and instance.state <> 'failed'
    offset 0
  ) as step`;

/** Steps that were put off because their last attempt contradicts their definition, the newest attempts first. */
export function readFaultySteps(db: Executor, bounds: Bounds): Promise<FoundGroup[]> {
  return db.rows<FoundGroup>(sql`
    with faulty as materialized (
      select each.instance_id, each.task_id, each.token, coalesce(each.position, each.token) as position, each.at from pawl.attempts as each
      where each.what = 'deferred' and each.detail ->> 'reason' = 'definition'
      order by each.at desc limit ${bounds.counted * readMore}::int
    ),
    found as materialized (
      select '' as lifecycle, step.lane as place, faulty.instance_id, faulty.at as since
      from faulty
      ${waitingStep}
      where not exists (
        select from pawl.attempts as later
        where later.instance_id = faulty.instance_id and later.task_id = faulty.task_id
          and (coalesce(later.position, later.token), later.token) > (faulty.position, faulty.token)
          and later.what in ('failed', 'lapsed', 'released', 'deferred')
      )
    )
    ${grouped(bounds)}`);
}
