import { type Executor, sql, textArray } from "../../store/port/db.ts";

/** A new cause of stuck instances, with its alert. */
export interface StuckCauseRow {
  readonly cause: string;
  readonly lifecycle: string;
  readonly alertId: string;
  readonly message: string;
  readonly detailsText: string;
}

/** How long a cause is remembered that is not seen any more. */
export interface Memory {
  /** Those of lifecycles that this process knows. */
  readonly lifecycles: readonly string[];
  readonly resolvedMs: number;
  /** Any other: no process may know it any more. */
  readonly forgottenMs: number;
}

/** Raises alerts for new causes, and deletes resolved ones, in one statement; returns the new causes. */
export async function recordCauses(db: Executor, rows: readonly StuckCauseRow[], memory: Memory): Promise<string[]> {
  const added = await db.rows<{ cause: string }>(sql`
    with clock as materialized (select pawl.now() as now),
    given as materialized (
      select * from unnest(
        (select ${textArray(rows.map((row) => row.cause))}::text)::text[],
        (select ${textArray(rows.map((row) => row.lifecycle))}::text)::text[],
        (select ${textArray(rows.map((row) => row.alertId))}::text)::uuid[],
        (select ${textArray(rows.map((row) => row.message))}::text)::text[],
        (select ${textArray(rows.map((row) => row.detailsText))}::text)::text[]
      ) as given(cause, lifecycle, alert_id, message, details)
    ),
    seen as (
      update pawl.stuck_causes as known set seen_at = clock.now
      from clock, given where known.cause = given.cause
      returning known.cause
    ),
    added as (
      insert into pawl.stuck_causes (cause, lifecycle, alerted_at, seen_at)
      select given.cause, given.lifecycle, clock.now, clock.now from clock, given
      where given.cause not in (select seen.cause from seen)
      on conflict do nothing
      returning cause
    ),
    alerted as (
      insert into pawl.alerts (id, cause, kind, lifecycle, message, details, at, due_at)
      select given.alert_id, format('%s:%s', given.cause, given.alert_id), 'instances_stuck', given.lifecycle, given.message,
        given.details::jsonb, clock.now, clock.now
      from clock, given join added on added.cause = given.cause
    ),
    resolved as (
      delete from pawl.stuck_causes as known using clock
      where known.cause not in (select given.cause from given) and (
        known.seen_at < clock.now - ${memory.forgottenMs}::float8 * interval '1 millisecond'
        or (
          known.seen_at < clock.now - ${memory.resolvedMs}::float8 * interval '1 millisecond'
          and known.lifecycle = any((select ${textArray(memory.lifecycles)}::text)::text[])
        )
      )
    )
    select added.cause from added`);
  return added.map(({ cause }) => cause);
}
