import { type Executor, sql } from "../../store/port/db.ts";

/** Every breaker that the database knows, with its state. */
export function listBreakers(
  db: Executor,
): Promise<{ readonly name: string; readonly state: "closed" | "open" | "half_open" }[]> {
  return db.rows(sql`select name, state from pawl.breakers order by name`);
}

export interface FlipView {
  readonly flip: number;
  readonly from_state: "closed" | "open" | "half_open";
  readonly to_state: "closed" | "open" | "half_open";
  readonly cause: string;
  readonly good: number;
  readonly failed: number;
  readonly until_ms: number | null;
  readonly reason: string | null;
  readonly actor: string | null;
  readonly at_ms: number;
}

/** The changes of one breaker, newest first. */
export function readFlips(db: Executor, name: string, limit: number): Promise<FlipView[]> {
  return db.rows<FlipView>(sql`
    select flip, from_state, to_state, cause, good, failed, pawl.ms(open_until) as until_ms, reason, actor, pawl.ms(at) as at_ms
    from pawl.breaker_flips
    where breaker = ${name}::text
    order by flip desc limit ${limit}::int`);
}
