import { type Executor, sql } from "../../store/port/db.ts";

/** Alerts that a sink could not deliver, and that are tried again. */
export interface UndeliveredAlertsView {
  /** How long the oldest of them has waited; null when there is none. */
  readonly oldest_age_ms: number | null;
  /** The errors of the sinks, for that alert. */
  readonly error: string | null;
}

/**
 * The oldest alert that waits for a failed sink. Alerts in a process without sinks were never tried, and do not count.
 */
export async function readUndeliveredAlerts(db: Executor): Promise<UndeliveredAlertsView> {
  const [oldest] = await db.rows<UndeliveredAlertsView>(sql`
    with clock as materialized (select pawl.now() as now)
    select pawl.ms(clock.now) - pawl.ms(undelivered.at) as oldest_age_ms, undelivered.error
    from clock, lateral (
      select few.at, few.error from (
        select alert.at, alert.error from pawl.alerts as alert where alert.due_at is not null
        order by alert.due_at, alert.id limit 1000
      ) as few
      where few.error is not null order by few.at limit 1
    ) as undelivered`);
  return oldest ?? { oldest_age_ms: null, error: null };
}
