import { type Executor, sql } from "../port/db.ts";

/** Limits of a state that replace those of its definition; null: as defined. */
export interface LaneLimits {
  readonly limit: number | null;
  readonly limitEach: number | null;
  readonly rate: string | null;
  readonly rateEach: string | null;
}

/** The changed limits of a gate, and who changed them. */
export interface LaneLimitsRow extends LaneLimits {
  /** `lifecycle/state`. */
  readonly gate: string;
  readonly changed_ms: number;
  readonly actor: string | null;
  readonly reason: string | null;
}

/** Those that hold now. */
export function readLaneLimits(db: Executor): Promise<LaneLimitsRow[]> {
  return db.rows<LaneLimitsRow>(sql`
    select gate, limit_all as "limit", limit_each as "limitEach", rate_all as rate, rate_each as "rateEach",
      pawl.ms(changed_at) as changed_ms, actor, reason
    from pawl.lane_limits where replaced_at is null`);
}

/** Of several changes at the same time, each begins when the one before is committed. */
export async function lockLaneLimits(tx: Executor): Promise<void> {
  await tx.rows(sql`select pg_advisory_xact_lock(7298)`);
}

/** Replaces the limits of a gate; those before stay as its history. Under the lock. */
export async function putLaneLimits(tx: Executor, row: Omit<LaneLimitsRow, "changed_ms">): Promise<void> {
  await tx.rows(sql`
    update pawl.lane_limits as known set replaced_at = greatest(pawl.now(), known.changed_at)
    where known.gate = ${row.gate}::text and known.replaced_at is null`);
  await tx.rows(sql`
    insert into pawl.lane_limits (gate, limit_all, limit_each, rate_all, rate_each, changed_at, actor, reason)
    values (${row.gate}::text, ${row.limit}::int, ${row.limitEach}::int, ${row.rate}::text, ${row.rateEach}::text, pawl.now(),
      ${row.actor}::text, ${row.reason}::text)`);
}
