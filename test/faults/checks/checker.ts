import { type Violation, verify } from "../../../src/inspect/verify/verify.ts";
import type { Db } from "../../../src/store/port/db.ts";

/**
 * What must hold through every fault:
 *
 * - I1 conservation: what callers were told to have begun is there, in a state that its definition knows.
 * - I2 one path: the journal is 1, 2, 3 …, over declared edges, and leads to where the instance stands.
 * - I3 no stale holder: a worker's move carries the newest claim of its task.
 * - I4 messages: those that the journal counts are in the outbox, and go out in order.
 * - I5 effects: each step was done at least once, and again only where the tables tell that an attempt was cut off.
 * - I6 attempts: counted one by one; what is used up ends as one dead letter.
 * - I7 times: a deadline is met or expires, never both; nothing comes early, and what is late is not applied.
 * - I8 answers: what a caller was told is so.
 * - I9 liveness: soon after the last fault nothing is overdue, nobody holds a transaction, and every worker works.
 * - I10 bounds: no more claimed than asked for, no more connections and memory than allowed, no error unheard.
 * - I11 no silence: an open instance runs, is ready or scheduled, waits with an end or for ever by declaration, waits for a
 *   live counterpart, or is known to be stuck. What works, joins or has failed is found as tasks, children and recovery.
 */
export type Invariant = Violation["invariant"] | "I5" | "I8" | "I9" | "I10";

export interface Finding {
  readonly invariant: Invariant;
  readonly message: string;
}

/** An outside witness, which reports where the tables contradict it. */
export interface Witness {
  contradictions(db: Db): Promise<Finding[]>;
}

/** The one checker: all contradictions within the tables, and those with the witnesses. */
export async function check(db: Db, ...witnesses: readonly Witness[]): Promise<Finding[]> {
  const found: Finding[] = (await verify(db)).map(({ invariant, instance, message }) => ({
    invariant,
    message: `${instance}: ${message}`,
  }));
  for (const witness of witnesses) found.push(...(await witness.contradictions(db)));
  return found;
}
