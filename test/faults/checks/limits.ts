import { durationMs } from "../../../src/base/duration.ts";
import { type LifecycleModel, laneOf } from "../../../src/definition/model.ts";
import { standardRetry } from "../../../src/policy/retry.ts";
import { type Db, sql } from "../../../src/store/port/db.ts";
import type { Finding, Witness } from "./checker.ts";

interface Visit {
  readonly key: string;
  readonly lifecycle: string;
  readonly state: string;
  readonly entered_ms: number;
  readonly left_ms: number;
  readonly source: string;
  readonly reason: string | null;
}

/**
 * Checks the limits of these lifecycles that the tables alone do not contain: how often a step may be tried, and how
 * long a state may last. An instance that the timeout moves has stayed for that long; any other leaves before it.
 */
export class Limits implements Witness {
  readonly #lifecycles: readonly LifecycleModel[];
  readonly #underWayMs: number;

  /** `underWayMs`: how long a move may be under way, decided in time and written after it. */
  constructor(lifecycles: readonly LifecycleModel[], underWayMs: number) {
    this.#lifecycles = lifecycles;
    this.#underWayMs = underWayMs;
  }

  async contradictions(db: Db): Promise<Finding[]> {
    const untimely = (await readVisits(db)).flatMap((visit) => this.#judge(visit) ?? []);
    return [
      ...(await this.#overtried(db)).map((message) => ({ invariant: "I6" as const, message })),
      ...(await readLettersTwice(db)).map((message) => ({ invariant: "I6" as const, message })),
      ...untimely.map((message) => ({ invariant: "I7" as const, message })),
    ];
  }

  async #overtried(db: Db): Promise<string[]> {
    const most = new Map<string, number>();
    for (const lifecycle of this.#lifecycles) {
      for (const { name, run, retry = standardRetry } of lifecycle.states.values())
        if (run !== undefined) most.set(laneOf(lifecycle, name), retry.maxAttempts);
    }
    const tried = await db.rows<{ lane: string; attempt: number }>(sql`
      select lane, max(attempt) as attempt from pawl.attempts where what = 'claimed' and lane is not null group by lane`);
    return tried.flatMap(({ lane, attempt }) => {
      const allowed = most.get(lane) ?? attempt;
      return attempt > allowed ? [`a step of ${lane} was tried ${attempt} times, and may be ${allowed} times`] : [];
    });
  }

  #judge({ key, lifecycle, state, ...visit }: Visit): string | undefined {
    const [limit] = this.#lifecycles.find(({ name }) => name === lifecycle)?.states.get(state)?.timeouts ?? [];
    if (limit === undefined || typeof limit.after === "function") return undefined;
    const lateMs = visit.left_ms - visit.entered_ms - durationMs(limit.after, "timeout");
    const isExpired = visit.source === "timer" && visit.reason === "timeout";
    if (isExpired && lateMs < 0) return `${key} expired ${-lateMs} ms before its time`;
    if (!isExpired && lateMs > this.#underWayMs) return `${key} was met ${lateMs} ms after its time`;
    return undefined;
  }
}

function readVisits(db: Db): Promise<Visit[]> {
  return db.rows<Visit>(sql`
    with moves as (
      select move.*, lag(move.at) over path as entered, lag(move.version) over path as visit
      from pawl.journal as move where move.to_state is distinct from move.from_state
      window path as (partition by move.instance_id order by move.version)
    )
    select concat_ws(':', instance_id, from_state, visit) as key, lifecycle, from_state as state, pawl.ms(entered) as entered_ms,
      pawl.ms(at) as left_ms, source, reason
    from moves where version > 1`);
}

/** A permanent failure happens once. */
async function readLettersTwice(db: Db): Promise<string[]> {
  const rows = await db.rows<{ message: string }>(sql`
    select format('%s was given up %s times at once (%s)', instance_id, count(*), string_agg(reason, ', ')) as message
    from pawl.dead_letters where kind = 'instance' group by instance_id, version having count(*) > 1`);
  return rows.map(({ message }) => message);
}
