import { PawlError } from "../base/errors.ts";

/** Something that happened outside, once. */
export interface RecordedEffect {
  readonly name: string;
  /** The idempotency key that it was asked for with; null where none was given. */
  readonly key: string | null;
  /** Whom or what it was about. */
  readonly about: string | null;
}

/** By what an effect is recognised. */
export interface EffectDetails {
  /** The idempotency key of the request, as in `step.idempotencyKey` or `step.keyFor("charge")`. */
  readonly key?: string | null | undefined;
  /** Whom or what it is about, such as the id of the instance, to count by. */
  readonly about?: string | null | undefined;
}

/** Called around every effect, so that a process can die there. */
type Observer = (name: string) => Promise<void> | void;

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
  #observer: Observer | undefined;

  /** Everything that happened, in order. */
  get happened(): readonly RecordedEffect[] {
    return this.#happened;
  }

  /** How many requests came again with a key that was known, and so did nothing. */
  get repeats(): number {
    return this.#repeats;
  }

  /** How often an effect happened, to one or to all. */
  times(name: string, about?: string): number {
    return this.#happened.filter((one) => one.name === name && (about === undefined || one.about === about)).length;
  }

  /**
   * Lets an effect happen, once for each key, and returns what `work` returned for it. A `work` that throws has done nothing.
   */
  async record<Result = undefined>(
    name: string,
    details: EffectDetails = {},
    work?: () => Result | Promise<Result>,
  ): Promise<Result> {
    if (typeof name !== "string" || name === "")
      throw new PawlError("option_invalid", 'The name of an effect must be a text: effects.record("charge", { key }).');
    const { key = null, about = null } = details;
    const answer = key === null ? this.#happen({ name, key, about }, work) : this.#once({ name, key, about }, work);
    const result = await answer;
    await this.#observer?.(name);
    return result as Result;
  }

  /** Forgets everything. */
  clear(): void {
    this.#happened.length = 0;
    this.#answers.clear();
    this.#repeats = 0;
  }

  /** @internal */
  observe(observer: Observer | undefined): void {
    this.#observer = observer;
  }

  #once(effect: RecordedEffect, work: (() => unknown) | undefined): Promise<unknown> {
    const id = JSON.stringify([effect.name, effect.key]);
    const known = this.#answers.get(id);
    if (known !== undefined) {
      this.#repeats += 1;
      return known;
    }
    const answer = this.#happen(effect, work);
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
