/** How often a value fell below each of some bounds. An observation is a few comparisons and two additions. */
export class Histogram {
  readonly bounds: readonly number[];
  /** Of each bound those above the one before it, and last of all the rest. */
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let index = 0;
    while (index < this.bounds.length && value > this.bounds[index]!) index += 1;
    this.counts[index]! += 1;
    this.sum += value;
  }
}

/** Seconds that steps take: from a lookup to a night. */
export const durationBounds = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800];
/** Tasks in a batch. */
export const batchBounds = [1, 2, 5, 10, 25, 50, 100, 250, 500];
