import { PermanentError, TransientError } from "pawl";
import type { Dice } from "../../../src/testing/dice.ts";
import type { Attempt, Ledger } from "../checks/ledger.ts";
import type { StagePlan, Temper } from "../plan/plan.ts";
import type { Owner } from "../world/virtual-time.ts";
import type { AnyStep } from "./any-step.ts";

/** What user code finds around it. */
export interface Surroundings {
  readonly dice: Dice;
  readonly temper: Temper;
  readonly ledger: Ledger;
  /** Notes that a feature was at work in this run: for this instance, or for all of them. */
  readonly used: (feature: string, name?: unknown) => void;
  /** The process that runs the code that asks. */
  readonly owner: () => Owner | undefined;
  /** Whether user code still misbehaves. */
  readonly isHealed: () => boolean;
}

/** Where an attempt runs, and how many its retry policy allows. */
interface Where {
  readonly lifecycle: string;
  readonly state: string;
  readonly kind: Attempt["kind"];
  readonly maxAttempts: number;
}

const hangMs = 30 * 60_000;
const deafMs = 10 * 60_000;

type Mishap = "none" | keyof Omit<Temper, "hooks" | "poison">;

/** Functions that users write, which do what they should most of the time. */
export class UserCode {
  readonly around: Surroundings;
  readonly #calls = new Map<string, number>();

  constructor(around: Surroundings) {
    this.around = around;
  }

  /** Notes that an attempt begins; returns how to note that it is over. */
  begin(step: AnyStep, where: Where): () => void {
    const owner = this.around.owner();
    const { maxAttempts, ...place } = where;
    const attempt: Attempt = {
      ...place,
      name: String(step.data.name),
      key: step.idempotencyKey,
      attempt: step.attempt,
      signal: step.signal,
      owner,
      isOver: false,
    };
    this.around.ledger.attemptBegins(attempt, maxAttempts);
    return () => {
      attempt.isOver = true;
    };
  }

  /** What goes wrong in this attempt; with the event that it would end with. Returns what the handler returns. */
  async mishap(step: AnyStep, stage: StagePlan, site: string, good: () => unknown): Promise<unknown> {
    const { dice, used } = this.around;
    if (this.isPoisoned(`${step.data.name} ${stage.name}`, step.data.name))
      throw new Error(`${site} fails whenever it runs`);
    const what = this.#mishapOf(`${site} ${step.attempt}`);
    if (what !== "none") used(`user code: ${what}`, step.data.name);
    switch (what) {
      case "none":
        return good();
      case "throws":
        throw dice.pick(`${site} error`, [
          new Error(`${site} failed`),
          new TransientError("try later"),
          "just a text",
          undefined,
          { odd: 1n },
        ]);
      case "permanent":
        throw new PermanentError(`${site} can never work`);
      case "giveUp":
        return step.giveUp(`${site} gives up`);
      case "later":
        return step.retryLater({ after: dice.pick(`${site} later`, ["5s", "2m"]) });
      case "nonsense":
        return dice.pick(`${site} nonsense`, [
          42,
          "done",
          { kind: "go", event: "nowhere" },
          { kind: "retry_later", after: "soon" },
          [stage.name],
        ]);
      case "slow":
        await sleep(dice.between(`${site} slow`, 1, 40) * 1_000, step.signal);
        return good();
      case "hangs":
        await sleep(hangMs, step.signal);
        return good();
      default:
        await sleep(deafMs); // It ignores its signal.
        return good();
    }
  }

  #mishapOf(site: string): Mishap {
    const { dice, temper, isHealed } = this.around;
    if (isHealed()) return "none";
    const { hooks: _, poison: __, ...mishaps } = temper;
    const bad = Object.values(mishaps).reduce((sum, one) => sum + one, 0);
    return dice.weighted<Mishap>(`mishap ${site}`, { none: Math.max(0, 1 - bad), ...mishaps });
  }

  /** Whether the code of this place never works, whoever tries it and however often. */
  isPoisoned(place: string, name?: unknown): boolean {
    const { dice, temper, used } = this.around;
    if (!dice.chance(`poison ${place}`, temper.poison)) return false;
    used("poisoned code", name);
    return true;
  }

  /** Whether a function of a definition misbehaves at this call of it. */
  isOdd(site: string, name?: unknown): boolean {
    if (this.isPoisoned(site, name)) return true;
    const count = (this.#calls.get(site) ?? 0) + 1;
    this.#calls.set(site, count);
    const { dice, temper, isHealed, used } = this.around;
    if (isHealed() || !dice.chance(`odd ${site} ${count}`, temper.hooks)) return false;
    used("odd hooks", name);
    return true;
  }

  /** Throws, or returns something that no such function may return. */
  odd(site: string): unknown {
    const { dice } = this.around;
    const what = dice.pick(`odd what ${site} ${this.#calls.get(site)}`, [
      "throw",
      "undefined",
      "number",
      "bigint",
      "promise",
    ]);
    if (what === "throw") throw new Error(`${site} throws`);
    if (what === "promise") return Promise.reject(new Error(`${site} rejects`));
    return { undefined: undefined, number: Number.NaN, bigint: { name: 10n } }[what];
  }
}

/** A pause in virtual time, ended by the signal where there is one. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    const abort = () => {
      clearTimeout(timer);
      reject(signal!.reason as Error);
    };
    if (signal?.aborted === true) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}
