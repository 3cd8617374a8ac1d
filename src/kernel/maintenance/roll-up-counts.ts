import { rollUpCounts } from "../../store/move/counts.ts";
import type { Kernel } from "../kernel.ts";

const enough = 1_000;
const most = 20_000;

/** Keeps small what every move adds to and nobody needs in full: the deltas of the counts per state. */
export function rollUpStateCounts(kernel: Kernel): Promise<number> {
  return rollUpCounts(kernel.db, enough, most);
}
