import { PawlError } from "../base/errors.ts";

/** Something that happened outside, once. */
export interface RecordedEffect {
  readonly name: string;
  /** The idempotency key of the request; null without one. */
  readonly key: string | null;
  /** The subject of the effect. */
  readonly about: string | null;
}

/** The identity of an effect. */
export interface EffectDetails {
  /** The idempotency key of the request, as in `step.idempotencyKey` or `step.keyFor("charge")`. */
  readonly key?: string | null | undefined;
  /** The subject, such as the id of the instance, to count by. */
  readonly about?: string | null | undefined;
}

/** Called around every request for an effect, so that a process can die there, and a dead one requests nothing. */
export interface EffectObserver {
  readonly before?: () => Promise<void> | void;
  /** `isRepeat`: the key was known, so it did not happen again. */
  readonly after: (effect: RecordedEffect, isRepeat: boolean) => Promise<void> | void;
}

/**
 * The outside world of a test: what fake services did. As a service that honours idempotency keys, it does the work of one key
 * once and gives a repeated request the first answer; a request without a key takes effect each time. It outlives the
 * processes that `crashEverywhere` and `simulate` end, and both clear it before every run.
 *
 * ```ts
 * const effects = new EffectLedger();
 * const bank = {
 *   charge: (amount: number, about: string, key: string) =>
 *     effects.record("charge", { key, about }, () => ({ receipt: `${about}-${amount}` })),
 * };
 * ```
 */
export class EffectLedger {
  readonly #happened: RecordedEffect[] = [];
  readonly #answers = new Map<string, Promise<unknown>>();
  #repeats = 0;
  #observer: EffectObserver | undefined;

  /** Everything that happened, in order. */
  get happened(): readonly RecordedEffect[] {
    return this.#happened;
  }

  /** The number of requests with a known key, which did nothing. */
  get repeats(): number {
    return this.#repeats;
  }

  /** How often an effect happened, to one or to all. */
  times(name: string, about?: string): number {
    return this.#happened.filter((one) => one.name === name && (about === undefined || one.about === about)).length;
  }

  /** Performs an effect, once per key, and returns the result of `work`. A `work` that throws has done nothing. */
  async record<Result = undefined>(
    name: string,
    details: EffectDetails = {},
    work?: () => Result | Promise<Result>,
  ): Promise<Result> {
    if (typeof name !== "string" || name === "")
      throw new PawlError(
        "option_invalid",
        'The name of an effect must be a string: effects.record("charge", { key }).',
      );
    const { key = null, about = null } = details;
    const observer = this.#observer;
    await observer?.before?.();
    const effect = { name, key, about };
    const known = key === null ? undefined : this.#answers.get(idOf(effect));
    const result = await (known === undefined ? this.#happenFirst(effect, work) : this.#repeat(known));
    await observer?.after(effect, known !== undefined);
    return result as Result;
  }

  /** Clears the ledger. */
  clear(): void {
    this.#happened.length = 0;
    this.#answers.clear();
    this.#repeats = 0;
  }

  /** @internal */
  observe(observer: EffectObserver | undefined): void {
    this.#observer = observer;
  }

  #repeat(answer: Promise<unknown>): Promise<unknown> {
    this.#repeats += 1;
    return answer;
  }

  #happenFirst(effect: RecordedEffect, work: (() => unknown) | undefined): Promise<unknown> {
    const answer = this.#happen(effect, work);
    if (effect.key === null) return answer;
    const id = idOf(effect);
    this.#answers.set(id, answer);
    answer.catch(() => this.#answers.delete(id));
    return answer;
  }

  async #happen(effect: RecordedEffect, work: (() => unknown) | undefined): Promise<unknown> {
    const result = await work?.();
    this.#happened.push(effect);
    return result;
  }
}

/** The identity of a repeated request. */
function idOf({ name, key }: RecordedEffect): string {
  return JSON.stringify([name, key]);
}
