/** Prefetched tasks must begin within this time. */
export const windowMs = 100;
const maxPrefetch = 1_000;
/** How much the newest duration counts in the average. */
const weight = 1 / 8;

/**
 * How many tasks to hold in addition to the running ones: as many as will begin within a tenth of a second. Quick steps
 * then never wait for a claim, and slow ones are left to other workers. Two measures bound it: how many steps ended
 * lately, and how many can end by their duration. The first alone would take sixteen slow steps that end together for
 * quick ones.
 */
export class PrefetchEstimator {
  #perWindow = 0;
  #finished = 0;
  #averageMs: number | undefined;
  #since: number;
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#since = now();
  }

  /** A step has ended that ran for so long. */
  finished(durationMs: number): void {
    this.#finished += 1;
    const averageMs = this.#averageMs ?? durationMs;
    this.#averageMs = averageMs + (durationMs - averageMs) * weight;
  }

  /** `slots`: those with finished steps, without those in which one has run for longer than the window. */
  prefetch(slots: number): number {
    const elapsedMs = this.#now() - this.#since;
    if (elapsedMs >= windowMs / 4) {
      const seen = (this.#finished * windowMs) / elapsedMs;
      this.#perWindow = seen > this.#perWindow ? seen : (this.#perWindow + seen) / 2;
      this.#finished = 0;
      this.#since = this.#now();
    }
    const canEnd = this.#averageMs === undefined ? 0 : (slots * windowMs) / this.#averageMs;
    return Math.floor(Math.min(maxPrefetch, this.#perWindow, canEnd));
  }
}
