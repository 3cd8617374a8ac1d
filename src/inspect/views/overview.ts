import { type Executor, sql } from "../../store/port/db.ts";

/** Counts of what waits for a person. */
export interface WaitingView {
  readonly dead_letters: number;
  /** Samples with an unassigned slot. */
  readonly samples: number;
  readonly now_ms: number;
}

/** Counts with limits, by indexes that contain nothing else. */
export async function readWaiting(db: Executor): Promise<WaitingView> {
  const [waiting] = await db.rows<WaitingView>(sql`
    with clock as materialized (select pawl.now() as now)
    select
      (select count(*)::int from (select from pawl.dead_letters where status = 'open' limit 100000) as few) as dead_letters,
      (
        select count(distinct few.sample_id)::int
        from (select sample_id from pawl.slots where open_in is not null limit 100000) as few
      ) as samples,
      pawl.ms(clock.now) as now_ms
    from clock`);
  return waiting!;
}
