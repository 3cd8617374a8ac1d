import { type Executor, sql } from "../../store/port/db.ts";

/** A schedule for display. */
export interface ScheduleView {
  readonly name: string;
  readonly lifecycle: string;
  readonly timing: string;
  readonly next_ms: number | null;
  readonly seen_ms: number;
  readonly paused_ms: number | null;
  readonly paused_by: string | null;
  readonly paused_reason: string | null;
  readonly last_ms: number | null;
  readonly last_run_ms: number | null;
  readonly last_result: "started" | "existed" | "failed" | null;
  readonly last_instance: string | null;
  readonly last_error: string | null;
  readonly now_ms: number;
}

/** Lists all stored schedules, including those that no process declares any more. */
export function listSchedules(db: Executor): Promise<ScheduleView[]> {
  return db.rows<ScheduleView>(sql`
    with clock as materialized (select pawl.now() as now)
    select schedule.name, schedule.lifecycle, schedule.timing, pawl.ms(schedule.next_at) as next_ms,
      pawl.ms(schedule.seen_at) as seen_ms, pawl.ms(schedule.paused_at) as paused_ms, schedule.paused_by,
      schedule.paused_reason, pawl.ms(schedule.last_at) as last_ms, pawl.ms(schedule.last_run_at) as last_run_ms,
      schedule.last_result, schedule.last_instance::text as last_instance, schedule.last_error, pawl.ms(clock.now) as now_ms
    from clock, pawl.schedules as schedule
    order by schedule.name`);
}
