import { type Executor, sql } from "../port/db.ts";

/** Those that have ended in one state of a lifecycle. */
export interface Ended {
  readonly lifecycle: string;
  readonly state: string;
}

/** Claims a sweep, if it is due, and returns its position; of many processes, one gets it. */
export async function claimSweep(db: Executor, ended: Ended, heldMs: number): Promise<string | undefined> {
  const [taken] = await db.rows<{ place: string }>(sql`
    insert into pawl.sweeps as sweep (lifecycle, state, due_at)
    values (${ended.lifecycle}::text, ${ended.state}::text, pawl.now() + ${heldMs}::float8 * interval '1 millisecond')
    on conflict (lifecycle, state) do update set due_at = excluded.due_at where sweep.due_at <= pawl.now()
    returning sweep.place::text as place`);
  return taken?.place;
}

/** Ends the turn: where the next one begins, and when. */
export async function endSweep(db: Executor, ended: Ended, next: { place: string; afterMs: number }): Promise<void> {
  await db.rows(sql`
    update pawl.sweeps
    set place = ${next.place}::uuid, due_at = pawl.now() + ${next.afterMs}::float8 * interval '1 millisecond'
    where lifecycle = ${ended.lifecycle}::text and state = ${ended.state}::text`);
}
