import { isBusyParent } from "../../store/family/children.ts";
import { type Executor, sql, textArray } from "../../store/port/db.ts";
import { type Bounds, type FoundGroup, grouped, readMore } from "./grouped.ts";
import { isResting, stateKinds, withKind } from "./resting.ts";

/** Instances with a timer that should have fired long ago. */
export function readOverdueTimers(db: Executor, overdueMs: number, bounds: Bounds): Promise<FoundGroup[]> {
  return db.rows<FoundGroup>(sql`
    with clock as materialized (select pawl.now() - ${overdueMs}::float8 * interval '1 millisecond' as late),
    found as materialized (
      select each.lifecycle, each.state as place, each.id as instance_id, each.next_due_at as since
      from clock, pawl.instances as each
      where each.next_due_at is not null and each.next_due_at < clock.late
      order by each.next_due_at, each.id limit ${bounds.counted}::int
    )
    ${grouped(bounds)}`);
}

/** Parents that maintenance should have checked long ago, since their children or their questions have ended. */
export function readOverdueChecks(db: Executor, overdueMs: number, bounds: Bounds): Promise<FoundGroup[]> {
  return db.rows<FoundGroup>(sql`
    with clock as materialized (select pawl.now() - ${overdueMs}::float8 * interval '1 millisecond' as late),
    found as materialized (
      select parent.lifecycle, parent.state as place, parent.id as instance_id, min(look.at) as since
      from clock
      cross join lateral (
        select each.instance_id, each.at from pawl.checks as each
        order by each.id limit ${bounds.counted * readMore}::int
      ) as look
      cross join lateral (
        select each.* from pawl.instances as each where each.id = look.instance_id and each.outcome is null offset 0
      ) as parent
      where look.at < clock.late and not ${isBusyParent}
      group by parent.lifecycle, parent.state, parent.id
    )
    ${grouped(bounds)}`);
}

/** Instances with a result that should have been processed, or tried again, long ago. */
export function readOverdueResults(db: Executor, overdueMs: number, bounds: Bounds): Promise<FoundGroup[]> {
  return db.rows<FoundGroup>(sql`
    with clock as materialized (select pawl.now() - ${overdueMs}::float8 * interval '1 millisecond' as late),
    found as materialized (
      select instance.lifecycle, instance.state as place, instance.id as instance_id, min(result.due_at) as since
      from (
        select each.instance_id, coalesce(each.retry_at, each.received_at) as due_at from clock, pawl.callbacks as each
        where not each.looked and coalesce(each.retry_at, each.received_at) < clock.late
        order by coalesce(each.retry_at, each.received_at), each.id limit ${bounds.counted * readMore}::int
      ) as result
      cross join lateral (
        select each.* from pawl.instances as each where each.id = result.instance_id and each.outcome is null offset 0
      ) as instance
      group by instance.lifecycle, instance.state, instance.id
    )
    ${grouped(bounds)}`);
}

/** A state that no definition of this process has, and the version of its definition. */
interface UndeclaredState {
  readonly lifecycle: string;
  readonly state: string;
  readonly version: number;
}

/** Open instances in these states, where a definition has moved them that is not newer than this version. */
export function readUndeclared(
  db: Executor,
  states: readonly UndeclaredState[],
  bounds: Bounds,
): Promise<FoundGroup[]> {
  return db.rows<FoundGroup>(sql`
    with found as materialized (
      select one.lifecycle, one.state as place, instance.id as instance_id, entry.at as since
      from unnest(
        (select ${textArray(states.map(({ lifecycle }) => lifecycle))}::text)::text[],
        (select ${textArray(states.map(({ state }) => state))}::text)::text[],
        (select ${textArray(states.map(({ version }) => String(version)))}::text)::int[]
      ) as one(lifecycle, state, version)
      cross join lateral (
        select each.id, each.visit, each.definition from pawl.instances as each
        where each.lifecycle = one.lifecycle and each.shelf = one.state and each.outcome is null
        order by each.id limit ${bounds.counted}::int
      ) as instance
      cross join lateral (
        select move.at from pawl.journal as move
        where move.instance_id = instance.id and move.version = instance.visit offset 0
      ) as entry
      where instance.definition <= one.version
    )
    ${grouped(bounds)}`);
}

/** How often a parked state is released, by its definition. Of others the database knows the next release only. */
export interface ReleaseTurns {
  readonly lifecycle: string;
  readonly state: string;
  readonly everyMs: number;
}

/** Parked instances whose release should have had its turn long ago. */
export function readOverdueReleases(
  db: Executor,
  states: readonly ReleaseTurns[],
  overdueMs: number,
  bounds: Bounds,
): Promise<FoundGroup[]> {
  return db.rows<FoundGroup>(sql`
    with ${stateKinds},
    clock as materialized (select pawl.now() - ${overdueMs}::float8 * interval '1 millisecond' as late),
    newest as materialized (
      select distinct on (kinds.lifecycle, kinds.state) kinds.lifecycle, kinds.state, kinds.kind
      from kinds order by kinds.lifecycle, kinds.state, kinds.version desc
    ),
    parked as materialized (
      select newest.lifecycle, newest.state, turns.every_ms
      from newest
      left join unnest(
        (select ${textArray(states.map(({ lifecycle }) => lifecycle))}::text)::text[],
        (select ${textArray(states.map(({ state }) => state))}::text)::text[],
        (select ${textArray(states.map(({ everyMs }) => String(everyMs)))}::text)::float8[]
      ) as turns(lifecycle, state, every_ms) on turns.lifecycle = newest.lifecycle and turns.state = newest.state
      where newest.kind = 'park'
    ),
    found as materialized (
      select parked.lifecycle, parked.state as place, late.id as instance_id, late.due_at as since
      from clock
      cross join parked
      left join lateral (
        select each.due_at from pawl.releases as each
        where each.lifecycle = parked.lifecycle and each.state = parked.state offset 0
      ) as release on true
      cross join lateral (
        select head.id, turn.due_at
        from (
          select each.id, each.visit from pawl.instances as each
          where each.lifecycle = parked.lifecycle and each.shelf = parked.state
          order by each.id limit ${bounds.counted}::int
        ) as head
        left join lateral (
          select each.retry_at from pawl.release_failures as each
          where each.instance_id = head.id and each.visit = head.visit offset 0
        ) as failure on true
        left join lateral (
          select move.at from pawl.journal as move where move.instance_id = head.id and move.version = head.visit offset 0
        ) as entry on release.due_at is null
        cross join lateral (
          select greatest(
            coalesce(release.due_at, entry.at + parked.every_ms * interval '1 millisecond'), failure.retry_at
          ) as due_at
        ) as turn
        where turn.due_at < clock.late
          and not exists (
            select from pawl.release_failures as given_up
            where given_up.instance_id = head.id and given_up.visit = head.visit and given_up.retry_at is null
          )
      ) as late
      where release.due_at is null or release.due_at < clock.late
    )
    ${grouped(bounds)}`);
}

/** Parked instances that have refused their release so often that people were alerted. */
export function readRefusedReleases(db: Executor, bounds: Bounds): Promise<FoundGroup[]> {
  return db.rows<FoundGroup>(sql`
    with found as materialized (
      select failure.lifecycle, failure.state as place, failure.instance_id, entry.at as since
      from (
        select * from pawl.release_failures as each
        where each.what = 'refused' and each.attempts >= 10
        order by each.lifecycle, each.state, each.instance_id limit ${bounds.counted}::int
      ) as failure
      cross join lateral (
        select each.visit from pawl.instances as each
        where each.id = failure.instance_id and each.visit = failure.visit and each.outcome is null offset 0
      ) as instance
      cross join lateral (
        select move.at from pawl.journal as move
        where move.instance_id = failure.instance_id and move.version = failure.visit offset 0
      ) as entry
    )
    ${grouped(bounds)}`);
}

/**
 * Open instances with a dead letter that waits for a person, or that wait for nothing but one of their own. Letters about
 * instances come first: those of after-effects may be about any number of ended ones.
 */
export function readDeadInstances(db: Executor, bounds: Bounds): Promise<FoundGroup[]> {
  return db.rows<FoundGroup>(sql`
    with ${stateKinds},
    found as materialized (
      select instance.lifecycle, instance.state as place, instance.id as instance_id, min(letter.created_at) as since
      from (select distinct known.name from pawl.lifecycles as known) as lifecycle
      cross join lateral (
        (
          select each.instance_id, each.kind, each.created_at from pawl.dead_letters as each
          where each.lifecycle = lifecycle.name and each.status = 'open' and each.kind = 'instance'
          order by each.id limit ${bounds.counted}::int
        )
        union all
        (
          select each.instance_id, each.kind, each.created_at from pawl.dead_letters as each
          where each.lifecycle = lifecycle.name and each.status = 'open' and each.kind <> 'instance' and each.instance_id is not null
          order by each.id limit ${bounds.counted * readMore}::int
        )
      ) as letter
      cross join lateral (select each.* from pawl.instances as each where each.id = letter.instance_id offset 0) as instance
      ${withKind}
      where instance.outcome is null and (letter.kind = 'instance' or (${isResting}))
      group by instance.lifecycle, instance.state, instance.id
    )
    ${grouped(bounds)}`);
}

/** Instances that have refused in their present visit what would have ended their wait; the newest refusals first. */
export function readRefusedEvents(db: Executor, bounds: Bounds): Promise<FoundGroup[]> {
  return db.rows<FoundGroup>(sql`
    with ${stateKinds},
    found as materialized (
      select instance.lifecycle, instance.state as place, instance.id as instance_id, min(refused.at) as since
      from (
        select each.instance_id, each.at, (each.detail ->> 'visit')::int as visit from pawl.attempts as each
        where each.what = 'refused' and each.detail ->> 'visit' is not null
        order by each.at desc limit ${bounds.counted * readMore}::int
      ) as refused
      cross join lateral (
        select each.* from pawl.instances as each where each.id = refused.instance_id and each.visit = refused.visit offset 0
      ) as instance
      ${withKind}
      where ${isResting}
      group by instance.lifecycle, instance.state, instance.id
    )
    ${grouped(bounds)}`);
}

/** Waiting results of instances at rest, for a definition to decide whether a later state accepts them. */
export interface WaitingResults extends FoundGroup {
  readonly definition: number;
  readonly state: string;
  readonly failed_from: string | null;
  readonly event: string;
}

/** Oldest instances first. The place is a JSON list of all that decides. */
export async function readWaitingResults(db: Executor, bounds: Bounds): Promise<WaitingResults[]> {
  const rows = await db.rows<FoundGroup>(sql`
    with ${stateKinds},
    found as materialized (
      select instance.lifecycle,
        jsonb_build_array(instance.definition, instance.state, instance.failed_from, result.event)::text as place,
        instance.id as instance_id, min(result.received_at) as since
      from (
        select each.instance_id, each.event, each.received_at from pawl.callbacks as each
        where each.status = 'waiting'
        order by each.instance_id, each.received_at, each.id limit ${bounds.counted * readMore}::int
      ) as result
      cross join lateral (select each.* from pawl.instances as each where each.id = result.instance_id offset 0) as instance
      ${withKind}
      where ${isResting}
      group by instance.id, instance.lifecycle, instance.definition, instance.state, instance.failed_from, result.event
    )
    ${grouped(bounds)}`);
  return rows.map((row) => {
    const [definition, state, failedFrom, event] = JSON.parse(row.place) as [number, string, string | null, string];
    return { ...row, definition, state, failed_from: failedFrom, event };
  });
}
