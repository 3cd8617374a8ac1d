import { type Executor, sql, textArray } from "../port/db.ts";

/** Claims the release of a parked state, if it is due: of many processes, one gets it. */
export async function claimRelease(db: Executor, lifecycle: string, state: string, everyMs: number): Promise<boolean> {
  const taken = await db.rows(sql`
    insert into pawl.releases as release (lifecycle, state, due_at)
    values (${lifecycle}::text, ${state}::text, pawl.now() + ${everyMs}::float8 * interval '1 millisecond')
    on conflict (lifecycle, state) do update set due_at = excluded.due_at where release.due_at <= pawl.now()
    returning 1 as taken`);
  return taken.length > 0;
}

/** A parked instance to release. */
export interface ParkedRow {
  readonly id: string;
  readonly visit: number;
}

/** Instances parked in a state without a failed release, in the order in which they were parked, after `afterId`. */
export function readParked(
  db: Executor,
  parked: { lifecycle: string; state: string; afterId: string; limit: number },
): Promise<ParkedRow[]> {
  return db.rows<ParkedRow>(sql`
    select instance.id::text as id, instance.visit from pawl.instances as instance
    where instance.lifecycle = ${parked.lifecycle}::text and instance.shelf = ${parked.state}::text
      and instance.id > ${parked.afterId}::uuid
      and not exists (
        select from pawl.release_failures as failure
        where failure.instance_id = instance.id and failure.visit = instance.visit
      )
    order by instance.id limit ${parked.limit}::int`);
}

/** Parked instances whose release failed and is due again, those that have waited longest. */
export function readDueReleases(
  db: Executor,
  parked: { lifecycle: string; state: string; limit: number },
): Promise<ParkedRow[]> {
  return db.rows<ParkedRow>(sql`
    select failure.instance_id::text as id, failure.visit from pawl.release_failures as failure
    where failure.lifecycle = ${parked.lifecycle}::text and failure.state = ${parked.state}::text
      and failure.retry_at is not null and failure.retry_at <= pawl.now()
    order by failure.retry_at limit ${parked.limit}::int`);
}

/** A release that failed. */
export interface ReleaseFailure {
  readonly instanceId: string;
  readonly visit: number;
  /** Whether the instance refused the event, or its definition threw. */
  readonly what: "refused" | "failed";
  readonly reason: string;
  readonly errorText: string | null;
}

/** The stored data of a failed release. */
export interface KnownReleaseFailure {
  readonly id: string;
  readonly attempts: number;
  /** It is the first failure of the visit, or another one than before. */
  readonly is_new: boolean;
}

/** Counts failures. The pause doubles from `everyMs` up to `capMs`. */
export function recordReleaseFailures(
  db: Executor,
  parked: { lifecycle: string; state: string; everyMs: number; capMs: number },
  rows: readonly ReleaseFailure[],
): Promise<KnownReleaseFailure[]> {
  return db.rows<KnownReleaseFailure>(sql`
    with clock as materialized (select pawl.now() as now),
    given as materialized (
      select failed.*, coalesce(known.attempts, 0) + 1 as attempts, known.first_at,
        known.reason is distinct from failed.reason or known.what is distinct from failed.what as is_new
      from unnest(
        (select ${textArray(rows.map((row) => row.instanceId))}::text)::uuid[],
        (select ${textArray(rows.map((row) => row.visit))}::text)::int[],
        (select ${textArray(rows.map((row) => row.what))}::text)::text[],
        (select ${textArray(rows.map((row) => row.reason))}::text)::text[],
        (select ${textArray(rows.map((row) => row.errorText))}::text)::text[]
      ) as failed(instance_id, visit, what, reason, error)
      left join lateral (
        select each.attempts, each.reason, each.what, each.first_at from pawl.release_failures as each
        where each.instance_id = failed.instance_id and each.visit = failed.visit
      ) as known on true
    ),
    recorded as (
      insert into pawl.release_failures (
        instance_id, lifecycle, state, visit, what, attempts, reason, error, first_at, last_at, retry_at
      )
      select given.instance_id, ${parked.lifecycle}::text, ${parked.state}::text, given.visit, given.what, given.attempts,
        given.reason, given.error::jsonb, coalesce(given.first_at, clock.now), clock.now,
        clock.now + least(${parked.everyMs}::float8 * power(2, least(given.attempts - 1, 20)), ${parked.capMs}::float8)
          * interval '1 millisecond'
      from clock, given
      on conflict (instance_id) do update set
        lifecycle = excluded.lifecycle, state = excluded.state, visit = excluded.visit, what = excluded.what,
        attempts = excluded.attempts, reason = excluded.reason, error = excluded.error, first_at = excluded.first_at,
        last_at = excluded.last_at, retry_at = excluded.retry_at
    )
    select given.instance_id::text as id, given.attempts, given.is_new from given`);
}

/** These are not released by themselves any more: a person decides. */
export async function endReleases(db: Executor, ids: readonly string[]): Promise<void> {
  await db.rows(sql`
    update pawl.release_failures set retry_at = null
    where instance_id = any((select ${textArray(ids)}::text)::uuid[])`);
}

/**
 * Deletes due failures whose visit has ended, at most `limit` of them. Others cost nothing: an instance that parks
 * again overwrites its own, and removing an instance deletes it.
 */
export async function forgetReleaseFailures(
  db: Executor,
  parked: { lifecycle: string; state: string; limit: number },
): Promise<void> {
  await db.rows(sql`
    with due as materialized (
      select failure.instance_id, failure.visit from pawl.release_failures as failure
      where failure.lifecycle = ${parked.lifecycle}::text and failure.state = ${parked.state}::text
        and failure.retry_at is not null and failure.retry_at <= pawl.now()
      order by failure.retry_at limit ${parked.limit}::int
    ),
    ended as materialized (
      select due.instance_id, due.visit from due
      cross join lateral (
        select from pawl.instances as each where each.id = due.instance_id and each.visit <> due.visit offset 0
      ) as instance
    )
    delete from pawl.release_failures as failure using ended
    where failure.instance_id = ended.instance_id and failure.visit = ended.visit`);
}
