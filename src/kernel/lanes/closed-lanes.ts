import { readPauses } from "../../store/tasks/pauses.ts";
import type { Kernel } from "../kernel.ts";
import { purposeOf } from "./lanes.ts";

/** Why no work is taken from a lane. */
export interface Closure {
  readonly by: "pause" | "breaker";
  readonly sinceMs: number;
  readonly reason: string;
  /** Who closed it, as the caller said. */
  readonly actor: string | null;
}

/** The topic of the hint that lanes were closed or opened. */
export const closuresTopic = "closures";

/**
 * Which of these lanes are closed, and why. Every worker asks before it claims, if it has not asked for half a second:
 * whatever else is to close lanes is asked here. How breakers stand is known from the last look at them.
 */
export async function closuresOf(kernel: Kernel, lanes: readonly string[]): Promise<Map<string, Closure>> {
  const closed = new Map<string, Closure>();
  const pauses = await readPauses(kernel.db);
  for (const lane of lanes) {
    const { lifecycle, part } = purposeOf(kernel, lane);
    const pause = pauses.find((one) => one.lifecycle === lifecycle && (one.part === "" || one.part === part));
    if (pause !== undefined)
      closed.set(lane, { by: "pause", sinceMs: pause.since_ms, reason: pause.reason, actor: pause.actor });
    const broken = closureByBreaker(kernel, lane);
    if (broken !== undefined && pause === undefined) closed.set(lane, broken);
  }
  return closed;
}

function closureByBreaker(kernel: Kernel, lane: string): Closure | undefined {
  const name = breakerOf(kernel, lane);
  if (name === undefined) return undefined;
  const { state, since_ms, reason, actor } = kernel.breakers.of(name);
  if (state === "closed") return undefined;
  const why = state === "half_open" ? "half-open: one probe at a time." : `open. ${reason ?? ""}`.trimEnd();
  return { by: "breaker", sinceMs: since_ms, reason: `The breaker ${name} is ${why}`, actor };
}

/** The breaker of the state whose tasks wait in a lane. */
export function breakerOf(kernel: Kernel, lane: string): string | undefined {
  const { lifecycle, part } = purposeOf(kernel, lane);
  return part.startsWith("/") ? kernel.lifecycles.get(lifecycle)?.states.get(part.slice(1))?.uses : undefined;
}
