import { type Executor, sql, textArray } from "../../store/port/db.ts";

/** An alert that a process is delivering. */
export interface ClaimedAlert {
  readonly id: string;
  readonly cause: string;
  readonly kind: string;
  readonly lifecycle: string;
  readonly instance_id: string | null;
  readonly key: string | null;
  readonly message: string;
  readonly details: unknown;
  readonly at_ms: number;
  readonly attempts: number;
  readonly received: string[];
}

/** Notes that a process has these sinks, unless that was noted lately. */
export async function declareSinks(db: Executor, names: readonly string[], everyMs: number): Promise<void> {
  await db.rows(sql`
    insert into pawl.alert_sinks as sink (name, seen_at)
    select given.name, pawl.now() from unnest((select ${textArray(names)}::text)::text[]) as given(name)
    on conflict (name) do update set seen_at = excluded.seen_at
    where sink.seen_at < excluded.seen_at - ${everyMs}::float8 * interval '1 millisecond'`);
}

/** Claims alerts that are due and that one of these sinks has not settled, each for a while: a claim ends with that time. */
export function claimAlerts(
  db: Executor,
  sinks: readonly string[],
  { limit, heldMs }: { limit: number; heldMs: number },
): Promise<ClaimedAlert[]> {
  return db.rows<ClaimedAlert>(sql`
    with clock as materialized (select pawl.now() as now),
    due as materialized (
      select each.id from clock, pawl.alerts as each
      where each.due_at is not null and each.due_at <= clock.now
        and not each.told @> (select ${textArray(sinks)}::text)::text[]
      order by each.due_at, each.id limit ${limit}::int for update of each skip locked
    )
    update pawl.alerts as alert
    set due_at = clock.now + ${heldMs}::float8 * interval '1 millisecond', attempts = alert.attempts + 1
    from due, clock where alert.id = due.id
    returning alert.id::text as id, alert.cause, alert.kind, alert.lifecycle, alert.instance_id::text as instance_id, alert.key,
      alert.message, alert.details, pawl.ms(alert.at) as at_ms, alert.attempts, to_json(alert.told) as received`);
}

/** The outcome of a delivery. */
export interface DeliveryResult {
  readonly id: string;
  readonly attempts: number;
  /** Sinks that received it, or that failed permanently. */
  readonly received: readonly string[];
  readonly error: string | null;
  readonly retryAfterMs: number;
}

/**
 * Records the outcome, unless another process has claimed the alert meanwhile. It is settled when every sink is that a
 * process has declared within `aliveMs`.
 */
export async function markDelivered(db: Executor, result: DeliveryResult, aliveMs: number): Promise<void> {
  await db.rows(sql`
    update pawl.alerts
    set told = ${textArray(result.received)}::text::text[], error = ${result.error}::text,
      due_at = case when exists (
        select from pawl.alert_sinks as sink
        where sink.seen_at > pawl.now() - ${aliveMs}::float8 * interval '1 millisecond'
          and sink.name <> all((select ${textArray(result.received)}::text)::text[])
      ) then pawl.now() + ${result.retryAfterMs}::float8 * interval '1 millisecond' end
    where id = ${result.id}::uuid and attempts = ${result.attempts}::int and due_at is not null`);
}

/** Settles alerts that wait only for sinks that no process has any more. */
export async function settleAbandoned(db: Executor, aliveMs: number, limit: number): Promise<void> {
  await db.rows(sql`
    with clock as materialized (select pawl.now() as now),
    abandoned as materialized (
      select each.id from clock, pawl.alerts as each
      where each.due_at is not null and each.due_at <= clock.now and each.told <> '{}' and not exists (
        select from pawl.alert_sinks as sink
        where sink.seen_at > clock.now - ${aliveMs}::float8 * interval '1 millisecond' and sink.name <> all(each.told)
      )
      order by each.due_at, each.id limit ${limit}::int for update of each skip locked
    )
    update pawl.alerts as alert set due_at = null from abandoned where alert.id = abandoned.id`);
}

/** Deletes alerts that were delivered long ago. */
export async function pruneAlerts(db: Executor, retentionMs: number, limit: number): Promise<number> {
  const rows = await db.rows(sql`
    delete from pawl.alerts where id in (
      select id from pawl.alerts where at < pawl.now() - ${retentionMs}::float8 * interval '1 millisecond'
      order by at limit ${limit}::int
    )
    returning id::text as id`);
  return rows.length;
}
