import { type Executor, sql } from "../store/port/db.ts";

/** What waits for somebody, in numbers. */
export interface WaitingView {
  readonly dead_letters: number;
  /** Samples with a slot that nobody holds. */
  readonly samples: number;
  readonly now_ms: number;
}

/** How much waits: looks at indexes that hold nothing else, and nobody needs to know of a hundred thousand how many more. */
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
