import { type Db, sql } from "../../src/store/db.ts";
import { verify } from "../../src/views/verify.ts";

/** What a caller was told: it is done, it is not done, or nobody knows. */
export type Answer = "done" | "not done" | "unknown";

/** The callers' side of the story: every call by its mark, and the answer to it. Held against the database at the end. */
export class Ledger {
  readonly #answers = new Map<string, Answer>();

  /** A call is made. Until it is answered nobody knows. */
  begin(mark: string): void {
    if (this.#answers.has(mark)) throw new Error(`The mark ${mark} was used twice.`);
    this.#answers.set(mark, "unknown");
  }

  answer(mark: string, answer: Answer): void {
    this.#answers.set(mark, answer);
  }

  count(answer: Answer): number {
    return [...this.#answers.values()].filter((one) => one === answer).length;
  }

  /** Every way in which the database contradicts what callers were told, or itself. */
  async contradictions(db: Db): Promise<string[]> {
    const found: string[] = [];
    const made = await readMarks(db);
    for (const [mark, answer] of this.#answers) {
      const times = made.get(mark) ?? 0;
      const lies = answer === "done" ? times !== 1 : answer === "not done" ? times !== 0 : times > 1;
      if (lies) found.push(`${mark} was told to be ${answer}, and was carried out ${times} times`);
    }
    for (const mark of made.keys())
      if (!this.#answers.has(mark)) found.push(`${mark} was carried out, and nobody asked for it`);
    found.push(...(await readHookDifferences(db)));
    for (const one of await verify(db)) found.push(`${one.invariant}: ${one.instance} ${one.message}`);
    return found;
  }
}

/** A worker's report has no actor: its mark is made of its token. */
export function reportMark(token: number): string {
  return `token ${token}`;
}

async function readMarks(db: Db): Promise<Map<string, number>> {
  const rows = await db.rows<{ mark: string; times: number }>(sql`
    select marked.mark, count(*)::int as times
    from (
      select coalesce(actor, 'token ' || token) as mark from pawl.journal where actor is not null or token is not null
      union all
      select 'token ' || token from pawl.attempts where what in ('failed', 'released', 'deferred')
      union all
      select actor from pawl.timers where actor is not null
    ) as marked
    group by marked.mark`);
  return new Map(rows.map(({ mark, times }) => [mark, times]));
}

/** Nothing half-written: what the hook wrote is there if and only if the move is. */
async function readHookDifferences(db: Db): Promise<string[]> {
  const rows = await db.rows<{ mark: string; moves: number; hooks: number }>(sql`
    select mark, coalesce(move.times, 0)::int as moves, coalesce(hook.times, 0)::int as hooks
    from (select actor as mark, count(*) as times from pawl.journal where event = 'booked' group by actor) as move
    full join (select mark, count(*) as times from booked group by mark) as hook using (mark)
    where move.times is distinct from hook.times`);
  return rows.map(({ mark, moves, hooks }) => `${mark} has ${moves} moves and ${hooks} rows of its hook`);
}
