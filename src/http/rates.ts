import type { RateSample } from "./contract.ts";

/** How many instances there are of each standing, over all lifecycles. */
export type Totals = ReadonlyMap<string, { readonly total: number; readonly done: number; readonly failed: number }>;

const sampleEveryMs = 5_000;
const firstAfterMs = 1_000;
const keptMs = 15 * 60_000;

/**
 * What was started, done and failed in the last quarter of an hour, from counts alone: nothing of the journal is read. What
 * maintenance deletes makes counts fall; that is no negative start, so it counts as none. It knows of the time in which it
 * is told.
 */
export class Rates {
  #samples: RateSample[] = [];
  #last: { readonly atMs: number; readonly totals: Totals } | undefined;
  #begun = false;

  get samples(): readonly RateSample[] {
    return this.#samples;
  }

  /** Tells how all stands; gives back a sample when it is time for one. */
  add(atMs: number, totals: Totals): RateSample | undefined {
    const last = this.#last;
    const elapsedMs = last === undefined ? 0 : atMs - last.atMs;
    if (last !== undefined && elapsedMs < (this.#begun ? sampleEveryMs : firstAfterMs)) return undefined;
    this.#last = { atMs, totals };
    if (last === undefined) return undefined;
    this.#begun = true;
    const perMinute = 60_000 / elapsedMs;
    const grown = { started: 0, done: 0, failed: 0 };
    for (const [lifecycle, now] of totals) {
      const before = last.totals.get(lifecycle) ?? { total: 0, done: 0, failed: 0 };
      grown.started += Math.max(0, now.total - before.total) * perMinute;
      grown.done += Math.max(0, now.done - before.done) * perMinute;
      grown.failed += Math.max(0, now.failed - before.failed) * perMinute;
    }
    const sample = { at: new Date(atMs).toISOString(), ...grown };
    const since = new Date(atMs - keptMs).toISOString();
    this.#samples = [...this.#samples.filter(({ at }) => at > since), sample];
    return sample;
  }

  /** Nobody looks for a while: what happens meanwhile belongs to no sample. */
  rest(): void {
    this.#last = undefined;
    this.#begun = false;
  }
}
