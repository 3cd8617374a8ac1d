import type { Schedule } from "../definition/schedule/schedule.ts";
import { latestTick, type Ticks } from "../definition/schedule/ticks.ts";

/** The ticks to run now, and the next tick. */
export interface DueTicks {
  /** In their order. */
  readonly run: readonly number[];
  readonly nextMs: number | undefined;
}

/** A tick that is found later than this was missed: no process was running. */
const missedAfterMs = 60_000;

/**
 * Selects the ticks to run from `firstMs` on. Those of the last minute always run. Of the missed ones: all, a limited
 * number at a time; none; or the latest, unless one of the last minute replaces it.
 */
export function dueTicks(
  ticks: Ticks,
  missed: Schedule["missed"],
  { firstMs, nowMs, most }: { firstMs: number; nowMs: number; most: number },
): DueTicks {
  if (firstMs > nowMs) return { run: [], nextMs: firstMs };
  const fromMs = missed === "all" ? firstMs : Math.max(firstMs, nowMs - missedAfterMs);
  const run: number[] = [];
  let at = fromMs === firstMs ? firstMs : ticks.after(fromMs - 1);
  for (; at !== undefined && at <= nowMs && run.length < most; at = ticks.after(at)) run.push(at);
  if (run.length === 0 && missed === "once") run.push(latestTick(ticks, firstMs, nowMs) ?? firstMs);
  return { run, nextMs: at };
}
