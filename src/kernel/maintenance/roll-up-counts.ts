import { rollUpCounts } from "../../store/move/counts.ts";
import type { Kernel } from "../kernel.ts";

const enough = 1_000;
const most = 20_000;

/** Sums the deltas of the counts by state, which every move adds to, so that they stay few. */
export function rollUpStateCounts(kernel: Kernel): Promise<number> {
  return rollUpCounts(kernel.db, enough, most);
}
