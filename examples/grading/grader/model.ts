import { chance } from "../../chance.ts";

/** The model has had enough for now: a 429 with its `Retry-After`. */
export class TooMany extends Error {
  readonly retryAfterMinutes: number;

  constructor(retryAfterMinutes: number) {
    super("Too many requests.");
    this.retryAfterMinutes = retryAfterMinutes;
  }
}

const mostAMinute = 3;

/** A stand-in for a large model. The same text gets the same grade. */
export class Model {
  readonly #minuteMs: number;
  #minute = 0;
  #asked = 0;

  constructor(minuteMs: number) {
    this.#minuteMs = minuteMs;
  }

  grade(text: string, isLimited: boolean): { score: number; feedback: string } {
    const now = performance.now() / this.#minuteMs;
    if (Math.floor(now) !== this.#minute) [this.#minute, this.#asked] = [Math.floor(now), 0];
    if (isLimited && this.#asked >= mostAMinute) throw new TooMany(Math.floor(now) + 1 - now + 0.05);
    this.#asked += 1;
    const score = Math.round(chance("score", text) * 20) / 2;
    return { score, feedback: score < 5 ? "Say it in your own words." : "Clear, and well put." };
  }
}
