import { type Executor, sql, textArray } from "../store/port/db.ts";

/** Instance counts by state, summed from the deltas that every move writes. */
export function readCounts(
  db: Executor,
  lifecycles: readonly string[],
): Promise<{ lifecycle: string; state: string; instances: number }[]> {
  return db.rows(sql`
    select lifecycle, state, sum(delta)::float8 as instances from pawl.counts
    where lifecycle = any((select ${textArray(lifecycles)}::text)::text[])
    group by lifecycle, state having sum(delta) <> 0
    order by lifecycle, state`);
}
