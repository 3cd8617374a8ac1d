import { type Db, sql } from "../../../src/store/port/db.ts";
import type { Finding, Witness } from "./checker.ts";

/** The result that a caller got: done, not done, or unknown. */
export type Answer = "done" | "not done" | "unknown";

/** Callers record their calls and the results here. */
export interface Book {
  /** A call starts that should leave this many rows. Until it is answered the result is unknown. */
  begin(mark: string, rows: number): void;
  answer(mark: string, answer: Answer): void;
}

interface Call {
  readonly rows: number;
  readonly atMs: number;
  answer: Answer | undefined;
  tookMs: number;
}

/** The callers' side of the story: every call by its mark, and the answer to it. Held against the database at the end. */
export class Ledger implements Book, Witness {
  readonly #calls = new Map<string, Call>();
  readonly #waiting = new Set<{ left: number; resolve: () => void }>();

  begin(mark: string, rows = 1): void {
    if (this.#calls.has(mark)) throw new Error(`The mark ${mark} was used twice.`);
    this.#calls.set(mark, { rows, answer: undefined, atMs: performance.now(), tookMs: 0 });
  }

  answer(mark: string, answer: Answer): void {
    const call = this.#calls.get(mark)!;
    call.answer = answer;
    call.tookMs = performance.now() - call.atMs;
    if (answer !== "done") return;
    for (const one of this.#waiting) {
      one.left -= 1;
      if (one.left === 0) one.resolve();
    }
  }

  /** Resolves when this many more calls were acknowledged. */
  whenDone(more: number): Promise<void> {
    return new Promise((resolve) => this.#waiting.add({ left: more, resolve }));
  }

  /** The marks of those who were given this answer. */
  told(answer: Answer): string[] {
    return [...this.#calls].filter(([, call]) => call.answer === answer).map(([mark]) => mark);
  }

  /** The marks of calls with an unknown result, though there was time left to find out. */
  unknownWithin(ms: number): string[] {
    return this.told("unknown").filter((mark) => this.#calls.get(mark)!.tookMs < ms);
  }

  /** Every contradiction between the database and the results of callers. */
  async contradictions(db: Db): Promise<Finding[]> {
    const found: string[] = [];
    const made = await readMarks(db);
    for (const [mark, { rows, answer }] of this.#calls) {
      const times = made.get(mark) ?? 0;
      const isSo = answer === "done" ? times === rows : answer === "not done" ? times === 0 : times <= rows;
      if (!isSo) found.push(`${mark} was told "${answer ?? "nothing"}", and left ${times} rows instead of ${rows}`);
    }
    for (const mark of made.keys())
      if (!this.#calls.has(mark)) found.push(`${mark} was carried out and never asked for`);
    found.push(...(await readHookDifferences(db)));
    return found.map((message) => ({ invariant: "I8", message }));
  }
}

/** The mark of a worker's report, which has no actor. */
export function reportMark(token: number): string {
  return `token ${token}`;
}

/** How many rows each call left: moves, steps that were put back, and events that wait for their time. */
async function readMarks(db: Db): Promise<Map<string, number>> {
  const rows = await db.rows<{ mark: string; times: number }>(sql`
    select marked.mark, count(*)::int as times
    from (
      select coalesce(actor, 'token ' || token) as mark from pawl.journal where actor is not null or token is not null
      union all
      select 'token ' || token from pawl.attempts
      where task_id = instance_id and what in ('failed', 'released', 'deferred')
      union all
      select actor from pawl.timers where actor is not null
    ) as marked
    group by marked.mark`);
  return new Map(rows.map(({ mark, times }) => [mark, times]));
}

/** Nothing half-written: the rows of a hook exist if and only if its move does. */
async function readHookDifferences(db: Db): Promise<string[]> {
  const rows = await db.rows<{ mark: string; moves: number; hooks: number }>(sql`
    select mark, coalesce(move.times, 0)::int as moves, coalesce(hook.times, 0)::int as hooks
    from (select actor as mark, count(*) as times from pawl.journal where event = 'booked' group by actor) as move
    full join (select mark, count(*) as times from public.booked group by mark) as hook using (mark)
    where move.times is distinct from hook.times`);
  return rows.map(({ mark, moves, hooks }) => `${mark} has ${moves} moves and ${hooks} rows of its hook`);
}
