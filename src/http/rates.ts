import type { RateSample } from "./contract.ts";

/** Instance counts by category, over all lifecycles. */
export type Totals = ReadonlyMap<string, { readonly total: number; readonly done: number; readonly failed: number }>;

const sampleEveryMs = 5_000;
/** The interval of a rate: with a shorter one, a single instance would show as a spike. */
const windowMs = 30_000;
const keptMs = 15 * 60_000;

interface Growth {
  readonly sinceMs: number;
  readonly atMs: number;
  readonly started: number;
  readonly done: number;
  readonly failed: number;
}

/**
 * The instances that started, ended and failed in the last quarter of an hour, computed from counts alone, without the
 * journal. Pruning lowers the counts; a negative difference counts as zero. Only the time during which it is updated is
 * known.
 */
export class Rates {
  #samples: RateSample[] = [];
  #growth: Growth[] = [];
  #last: { readonly atMs: number; readonly totals: Totals } | undefined;

  get samples(): readonly RateSample[] {
    return this.#samples;
  }

  /** Adds the current counts; returns a sample when an interval has passed. */
  add(atMs: number, totals: Totals): RateSample | undefined {
    const last = this.#last;
    if (last !== undefined && atMs - last.atMs < sampleEveryMs) return undefined;
    this.#last = { atMs, totals };
    if (last === undefined) return undefined;
    const growth = { sinceMs: last.atMs, atMs, ...growthOf(last.totals, totals) };
    this.#growth = [...this.#growth.filter((one) => one.atMs > atMs - windowMs), growth];
    // What was not counted for a whole interval yet is divided by the time that was counted.
    const countedMs = atMs - this.#growth[0]!.sinceMs;
    const perMinute = (what: "started" | "done" | "failed") =>
      this.#growth.reduce((sum, one) => sum + one[what], 0) * (60_000 / countedMs);
    const sample = {
      at: new Date(atMs).toISOString(),
      started: perMinute("started"),
      done: perMinute("done"),
      failed: perMinute("failed"),
    };
    const since = new Date(atMs - keptMs).toISOString();
    this.#samples = [...this.#samples.filter(({ at }) => at > since), sample];
    return sample;
  }

  /** There are no readers for a while: changes in that time belong to no sample. */
  rest(): void {
    this.#last = undefined;
    this.#growth = [];
  }
}

function growthOf(before: Totals, after: Totals): Pick<Growth, "started" | "done" | "failed"> {
  const grown = { started: 0, done: 0, failed: 0 };
  for (const [lifecycle, now] of after) {
    const was = before.get(lifecycle) ?? { total: 0, done: 0, failed: 0 };
    grown.started += Math.max(0, now.total - was.total);
    grown.done += Math.max(0, now.done - was.done);
    grown.failed += Math.max(0, now.failed - was.failed);
  }
  return grown;
}
