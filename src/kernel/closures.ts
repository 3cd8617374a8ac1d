import { readPauses } from "../store/pauses.ts";
import type { Kernel } from "./kernel.ts";
import { purposeOf } from "./lanes.ts";

/** Why no work is taken from a lane. */
export interface Closure {
  readonly by: "pause";
  readonly sinceMs: number;
  readonly reason: string;
  /** Who closed it, as the caller said. */
  readonly actor: string | null;
}

/** The topic of the hint that lanes were closed or opened. */
export const closuresTopic = "closures";

/**
 * Which of these lanes are closed, and why. Every worker asks before it claims, if it has not asked for half a second:
 * whatever else is to close lanes is asked here.
 */
export async function closuresOf(kernel: Kernel, lanes: readonly string[]): Promise<Map<string, Closure>> {
  const closed = new Map<string, Closure>();
  const pauses = await readPauses(kernel.db);
  if (pauses.length === 0) return closed;
  for (const lane of lanes) {
    const { lifecycle, part } = purposeOf(kernel, lane);
    const pause = pauses.find((one) => one.lifecycle === lifecycle && (one.part === "" || one.part === part));
    if (pause === undefined) continue;
    closed.set(lane, { by: "pause", sinceMs: pause.since_ms, reason: pause.reason, actor: pause.actor });
  }
  return closed;
}
