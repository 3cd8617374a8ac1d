import { setTimeout as rest } from "node:timers/promises";
import { type Alert, type AlertSink, createPawl, type Instance, type Pawl, type Violation } from "pawl";
import type { AttemptLifecycle } from "./attempt.ts";
import { type Candidate, candidatesOf } from "./candidates.ts";
import { minutesOf } from "./minutes.ts";
import { type Tally, Trouble } from "./services/trouble.ts";
import { type Stage, setStage } from "./stage.ts";

export interface SimulationOptions {
  /** How many candidates there are; at most 1,000. */
  readonly attempts: number;
  /** The share of calls that go wrong, from 0 to 1. */
  readonly faults: number;
  readonly seed: number;
  /** How long a minute of the definition lasts. */
  readonly minuteMs: number;
  /** A PostgreSQL URL; without one, the database is embedded in `folder`. */
  readonly database: string | undefined;
  readonly folder: string;
}

type Attempt = Instance<AttemptLifecycle>;

/** The state at one moment. */
export interface Look {
  readonly counts: ReadonlyMap<string, number>;
  readonly attempts: number;
  /** No attempt will move by itself any more: each has ended, or waits for a person. */
  readonly isOver: boolean;
  readonly recoveries: number;
  readonly faults: number;
  readonly alerts: number;
  readonly scored: number;
}

/** The result. */
export interface Result {
  readonly attempts: number;
  readonly processed: number;
  /** The attempts that wait for a person, with the reasons. */
  readonly explained: readonly { readonly key: string; readonly sentences: readonly string[] }[];
  /** Those that are neither. */
  readonly unsettled: readonly { readonly key: string; readonly state: string }[];
  readonly services: ReadonlyMap<string, Tally>;
  readonly failures: number;
  readonly recoveries: number;
  readonly alerts: number;
  readonly scored: number;
  readonly scoredTwice: number;
  readonly moves: number;
  readonly violations: readonly Violation[];
}

/** An assessment with its candidates, its services and all that goes wrong with them, in this process. */
export class Simulation {
  readonly #options: SimulationOptions;
  readonly #trouble: Trouble;
  readonly #stage: Stage;
  readonly #pawl: Pawl;
  /** The alerts that were raised. */
  readonly #alerts: readonly Alert[];
  #run = 1;
  #count = 0;
  /** The attempts that were failed at the last poll, and since which move. */
  #failed = new Map<string, number>();
  #recoveries = 0;

  private constructor(
    options: SimulationOptions,
    around: { trouble: Trouble; stage: Stage; pawl: Pawl; alerts: Alert[] },
  ) {
    this.#options = options;
    this.#trouble = around.trouble;
    this.#stage = around.stage;
    this.#pawl = around.pawl;
    this.#alerts = around.alerts;
  }

  static async open(options: SimulationOptions): Promise<Simulation> {
    const { seed, faults, minuteMs, database, folder } = options;
    const trouble = new Trouble({ seed, rate: faults });
    const stage = await setStage(trouble, { minuteMs });
    const alerts: Alert[] = [];
    const people: AlertSink = {
      name: "people",
      send: (alert) => void alerts.push(alert),
    };
    try {
      const { lifecycles, breakers } = stage;
      const pawl = await createPawl({ database, folder, lifecycles, breakers, alerts: [people], logger: false });
      stage.takeVerdictsTo(pawl);
      return new Simulation(options, { trouble, stage, pawl, alerts });
    } catch (error) {
      await stage.close();
      throw error;
    }
  }

  /** The states of an attempt, in their order. */
  get states(): readonly string[] {
    return [...this.#stage.attempt.states.keys()];
  }

  /** Starts the attempts, or continues an interrupted run; returns which of the two. */
  async begin(): Promise<"new" | "taken up"> {
    const { attempts, minuteMs } = this.#options;
    const latest = await this.#pawl.list(this.#stage.attempt, { limit: 1_000 });
    this.#run = Number(latest[0]?.key?.split("-")[0]) || 0;
    const last = latest.filter((one) => this.#isOurs(one));
    const waiting = await this.#waitForPeople();
    const isTakenUp = last.some((one) => !isSettled(one, waiting));
    if (isTakenUp) this.#count = last.length;
    else {
      this.#run += 1;
      this.#count = attempts;
      await this.#start(candidatesOf(attempts));
    }
    this.#pawl.work({
      concurrency: 32,
      pollInterval: "250ms",
      maintenanceInterval: Math.max(50, minutesOf(minuteMs)(0.2)),
    });
    return isTakenUp ? "taken up" : "new";
  }

  /** All of them begin at once, and are through after a while. That they will be is kept in the database, too. */
  async #start(candidates: readonly Candidate[]): Promise<void> {
    const { attempt } = this.#stage;
    const minutes = minutesOf(this.#options.minuteMs);
    const keyOf = ({ name }: Candidate) => `${this.#run}-${name}`;
    this.#trouble.tally("browsers").requests += candidates.length;
    for (const { isCutOff } of candidates) if (isCutOff) this.#trouble.note("browsers", "crashes");
    await this.#pawl.transaction(async (tx) => {
      const starts = candidates.map((one) => ({
        key: keyOf(one),
        data: { candidate: one.name, finished: one.finished, answers: [...one.answers] },
      }));
      await this.#pawl.startMany(attempt, starts, { tx });
      const sends = candidates.map((one) => {
        const when = { to: keyOf(one), after: minutes(one.doneAt * 20) };
        return one.isCutOff
          ? { ...when, event: "fail" as const, payload: { reason: "the browser went away" } }
          : { ...when, event: "complete" as const };
      });
      for (const sent of await this.#pawl.sendMany(attempt, sends, { tx })) if (!sent.ok) throw sent.error;
    });
  }

  async look(): Promise<Look> {
    const attempts = await this.#attempts();
    const counts = new Map<string, number>();
    for (const { state } of attempts) counts.set(state, (counts.get(state) ?? 0) + 1);
    const failed = attempts.filter(({ state }) => state === "failed");
    const since = new Map(failed.map(({ id, version }) => [id, version]));
    for (const [id, version] of this.#failed) if (since.get(id) !== version) this.#recoveries += 1;
    this.#failed = since;
    const mayBeOver = attempts.every(({ outcome, state }) => outcome !== null || state === "failed");
    const waiting = mayBeOver ? await this.#waitForPeople() : new Set<string>();
    return {
      counts,
      attempts: attempts.length,
      isOver: mayBeOver && attempts.every((one) => isSettled(one, waiting)),
      recoveries: this.#recoveries,
      faults: this.#trouble.struck,
      alerts: this.#alerts.length,
      scored: this.#stage.checker.scored.length,
    };
  }

  async result(): Promise<Result> {
    const { attempt, checker } = this.#stage;
    const attempts = await this.#attempts();
    const waiting = await this.#waitForPeople();
    for (let look = 0; look < 40 && this.#alerts.length < waiting.size; look++) await rest(50); // They arrive a little later.
    const explained: { key: string; sentences: readonly string[] }[] = [];
    let [failures, recoveries, moves] = [0, 0, 0];
    for (const { id, key } of attempts) {
      const journal = await this.#pawl.journal(attempt, { id });
      moves += journal.length;
      failures += journal.filter(({ from, to }) => to === "failed" && from !== "failed").length;
      recoveries += journal.filter(({ from, to }) => from === "failed" && to !== "failed").length;
      if (!waiting.has(id)) continue;
      const { recovery } = await this.#pawl.explain(attempt, { id });
      explained.push({ key: key!, sentences: recovery!.sentences });
    }
    return {
      attempts: attempts.length,
      processed: attempts.filter(({ state }) => state === "processed").length,
      explained,
      unsettled: attempts.filter((one) => !isSettled(one, waiting)).map(({ key, state }) => ({ key: key!, state })),
      services: this.#trouble.tallies,
      failures,
      recoveries,
      alerts: this.#alerts.length,
      scored: checker.scored.length,
      scoredTwice: checker.scored.length - new Set(checker.scored.map(({ solve }) => solve)).size,
      moves,
      violations: await this.#pawl.inspect.verify(),
    };
  }

  async close(): Promise<void> {
    await this.#pawl.close();
    await this.#stage.close();
  }

  /** Newest first, and so just ours. */
  async #attempts(): Promise<Attempt[]> {
    const found = await this.#pawl.list(this.#stage.attempt, { limit: this.#count });
    return found.filter((one) => this.#isOurs(one)).reverse();
  }

  #isOurs({ key }: Attempt): boolean {
    return key?.startsWith(`${this.#run}-`) === true;
  }

  /** The attempts that failed permanently and wait for a person. */
  async #waitForPeople(): Promise<Set<string>> {
    const letters = await this.#pawl.deadLetters.list({ lifecycle: this.#stage.attempt, limit: 1_000 });
    return new Set(letters.map(({ instance }) => instance!));
  }
}

function isSettled({ id, outcome }: Attempt, waitForPeople: ReadonlySet<string>): boolean {
  return outcome !== null || waitForPeople.has(id);
}
