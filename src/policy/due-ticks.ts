import type { Schedule } from "../definition/schedule/schedule.ts";
import { latestTick, type Ticks } from "../definition/schedule/ticks.ts";

/** What is to be run now, and what comes next. */
export interface DueTicks {
  /** In their order. */
  readonly run: readonly number[];
  readonly nextMs: number | undefined;
}

/** A tick that is found later than this was missed: nobody was there for it. */
const missedAfterMs = 60_000;

/**
 * Of the ticks from `firstMs` on that have come, those that are to be run. The ones of the last minute always are. Of
 * those that were missed: all, so many at a time; none; or the latest, where none of the last minute takes its place.
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
