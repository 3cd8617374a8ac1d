import { readPauses } from "../../store/tasks/pauses.ts";
import type { Kernel } from "../kernel.ts";
import { currentLaneName } from "./lanes.ts";

/** Why no work is taken from a lane. */
export interface LaneClosedReason {
  readonly by: "pause" | "breaker";
  readonly sinceMs: number;
  readonly reason: string;
  /** The actor of the pause. */
  readonly actor: string | null;
}

/** The topic of the hint that lanes were closed or opened. */
export const closedLanesTopic = "closures";

/**
 * Which of these lanes are closed, and why. Every worker calls this before it claims, if half a second has passed: all
 * reasons to close lanes belong here. The states of breakers are those of the last read.
 */
export async function readClosedLanes(
  kernel: Kernel,
  lanes: readonly string[],
): Promise<Map<string, LaneClosedReason>> {
  const closed = new Map<string, LaneClosedReason>();
  const pauses = await readPauses(kernel.db);
  for (const lane of lanes) {
    const { lifecycle, part } = currentLaneName(kernel, lane);
    const pause = pauses.find((one) => one.lifecycle === lifecycle && (one.part === "" || one.part === part));
    if (pause !== undefined)
      closed.set(lane, { by: "pause", sinceMs: pause.since_ms, reason: pause.reason, actor: pause.actor });
    const broken = closedByBreaker(kernel, lane);
    if (broken !== undefined && pause === undefined) closed.set(lane, broken);
  }
  return closed;
}

function closedByBreaker(kernel: Kernel, lane: string): LaneClosedReason | undefined {
  const name = breakerOf(kernel, lane);
  if (name === undefined) return undefined;
  const { state, since_ms, reason, actor } = kernel.breakers.of(name);
  if (state === "closed") return undefined;
  const why = state === "half_open" ? "half-open: one probe at a time." : `open. ${reason ?? ""}`.trimEnd();
  return { by: "breaker", sinceMs: since_ms, reason: `The breaker ${name} is ${why}`, actor };
}

/** The breaker of the state whose tasks wait in a lane. */
export function breakerOf(kernel: Kernel, lane: string): string | undefined {
  const { lifecycle, part } = currentLaneName(kernel, lane);
  return part.startsWith("/") ? kernel.lifecycles.get(lifecycle)?.states.get(part.slice(1))?.uses : undefined;
}
