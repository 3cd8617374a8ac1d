import { type Executor, sql } from "../port/db.ts";

/**
 * Sums deltas into few rows, once there are many; returns how many rows were summed. Rows that another process is
 * summing are skipped, so each is counted once.
 */
export async function rollUpCounts(db: Executor, enough: number, most: number): Promise<number> {
  const [there] = await db.rows<{ rows: number }>(sql`
    select count(*)::int as rows from (select from pawl.counts limit ${enough}::int) as few`);
  if (there!.rows < enough) return 0;
  const [summed] = await db.rows<{ rows: number }>(sql`
    with old as materialized (
      select ctid, lifecycle, state, delta from pawl.counts limit ${most}::int for update skip locked
    ),
    gone as (delete from pawl.counts as count using old where count.ctid = old.ctid returning count.lifecycle, count.state, count.delta),
    summed as (
      insert into pawl.counts (lifecycle, state, delta)
      select lifecycle, state, sum(delta) from gone group by lifecycle, state having sum(delta) <> 0
    )
    select count(*)::int as rows from gone`);
  return summed!.rows;
}
