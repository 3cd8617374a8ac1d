import { type Executor, sql } from "./db.ts";

/** Takes the turn to release a parked state, if it is due: of many processes that ask, one is told yes. */
export async function takeRelease(db: Executor, lifecycle: string, state: string, everyMs: number): Promise<boolean> {
  const taken = await db.rows(sql`
    insert into pawl.releases as release (lifecycle, state, due_at)
    values (${lifecycle}::text, ${state}::text, pawl.now() + ${everyMs}::float8 * interval '1 millisecond')
    on conflict (lifecycle, state) do update set due_at = excluded.due_at where release.due_at <= pawl.now()
    returning 1 as taken`);
  return taken.length > 0;
}

/** Instances parked in a state, those that came first, from the place where the last page ended. */
export function readParked(
  db: Executor,
  parked: { lifecycle: string; state: string; afterId: string; limit: number },
): Promise<{ id: string }[]> {
  return db.rows<{ id: string }>(sql`
    select instance.id::text as id from pawl.instances as instance
    where instance.lifecycle = ${parked.lifecycle}::text and instance.shelf = ${parked.state}::text
      and instance.id > ${parked.afterId}::uuid
    order by instance.id limit ${parked.limit}::int`);
}
