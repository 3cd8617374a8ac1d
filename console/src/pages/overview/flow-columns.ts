import type { RateSample } from "../../../../src/http/contract.ts";

/** Times in seconds, then failed on top of done, done, and started; null where nothing is known. */
export type Columns = [number[], ...(number | null)[][]];

/** Samples come every five seconds while a page is open. */
const gapMs = 15_000;

/** Failed is stacked on done: the upper edge is the sum. A time without samples is a gap, not a line. */
export function columnsOf(samples: readonly RateSample[]): Columns {
  const columns: Columns = [[], [], [], []];
  let lastMs: number | undefined;
  for (const { at, started, done, failed } of samples) {
    const atMs = Date.parse(at);
    if (lastMs !== undefined && atMs - lastMs > gapMs) add(columns, lastMs + 1, [null, null, null]);
    add(columns, atMs, [done + failed, done, started]);
    lastMs = atMs;
  }
  return columns;
}

function add([times, ...columns]: Columns, atMs: number, values: readonly (number | null)[]): void {
  times.push(atMs / 1_000);
  for (const [at, column] of columns.entries()) column.push(values[at]!);
}
