import { type Db, sql } from "../../../src/store/port/db.ts";
import type { Finding, Witness } from "./checker.ts";

/** A claim of a step, by the step's idempotency key, and whether the tables show that it was cut off or returned. */
interface ClaimOfStep {
  readonly key: string;
  readonly attempt: number;
  readonly isCutOff: boolean;
}

/** The outside record: every attempt at a step that began and ended there, by the step's idempotency key. */
export class Handlers implements Witness {
  /** By key, and then each attempt as often as it began. */
  readonly #begun = new Map<string, number[]>();
  readonly #ended = new Set<string>();

  begin(key: string, attempt: number): void {
    const attempts = this.#begun.get(key);
    if (attempts === undefined) this.#begun.set(key, [attempt]);
    else attempts.push(attempt);
  }

  end(key: string): void {
    this.#ended.add(key);
  }

  /** How many different steps were begun, and how many of them more than once. */
  get steps(): { readonly begun: number; readonly again: number } {
    const again = [...this.#begun.values()].filter((attempts) => attempts.length > 1);
    return { begun: this.#begun.size, again: again.length };
  }

  async contradictions(db: Db): Promise<Finding[]> {
    const found: string[] = [];
    const claims = new Map<string, ClaimOfStep[]>();
    for (const one of await readClaims(db)) claims.set(one.key, [...(claims.get(one.key) ?? []), one]);
    const others = await readMovedByOthers(db);
    for (const [key, attempts] of this.#begun) {
      if (others.has(key.split(":")[0]!)) continue;
      const own = claims.get(key) ?? [];
      for (const attempt of new Set(attempts)) {
        const times = attempts.filter((one) => one === attempt).length;
        const claimed = own.filter((one) => one.attempt === attempt).length;
        if (times > claimed)
          found.push(`attempt ${attempt} of ${key} began ${times} times, and was claimed ${claimed}`);
      }
      const cutOff = own.filter((one) => one.isCutOff).length;
      if (attempts.length - 1 > cutOff)
        found.push(`${key} began ${attempts.length} times, and only ${cutOff} of them were cut off`);
    }
    for (const key of await readStepsDone(db)) {
      if (!this.#ended.has(key)) found.push(`${key} was reported, and was never done`);
    }
    return found.map((message) => ({ invariant: "I5", message }));
  }
}

/** The claims of steps, by the visits that they belong to. */
async function readClaims(db: Db): Promise<ClaimOfStep[]> {
  const rows = await db.rows<{ key: string; attempt: number; cut_off: boolean }>(sql`
    with claims as (
      select instance_id, token, attempt, visit from pawl.attempts where what = 'claimed' and task_id = instance_id
      union all
      select instance_id, granted, 1, version from pawl.journal where granted is not null
    )
    select concat_ws(':', claim.instance_id, entry.to_state, entry.version) as key, claim.attempt, exists (
      select from pawl.attempts as record
      where record.instance_id = claim.instance_id and record.task_id = claim.instance_id and record.token = claim.token
        and record.what in ('failed', 'lapsed', 'released', 'deferred')
    ) as cut_off
    from claims as claim
    join pawl.journal as entry on entry.instance_id = claim.instance_id and entry.version = claim.visit`);
  return rows.map(({ key, attempt, cut_off: isCutOff }) => ({ key, attempt, isCutOff }));
}

/** Where others move an instance on, too, they cut attempts off without a record, and may lead it back to the same visit. */
async function readMovedByOthers(db: Db): Promise<Set<string>> {
  const rows = await db.rows<{ id: string }>(sql`
    select distinct instance_id::text as id from pawl.journal where source <> 'worker' and version > 1`);
  return new Set(rows.map(({ id }) => id));
}

/** The keys of the steps that workers reported as done. */
async function readStepsDone(db: Db): Promise<string[]> {
  const rows = await db.rows<{ key: string }>(sql`
    select concat_ws(':', move.instance_id, move.from_state, visit.version) as key
    from pawl.journal as move
    cross join lateral (
      select max(each.version) as version from pawl.journal as each
      where each.instance_id = move.instance_id and each.version < move.version
        and each.to_state is distinct from each.from_state
    ) as visit
    where move.source = 'worker' and move.to_state <> 'failed'`);
  return rows.map(({ key }) => key);
}
