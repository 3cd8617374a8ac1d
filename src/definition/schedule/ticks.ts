import { type Cron, nextMatch } from "./cron.ts";
import type { Timing } from "./schedule.ts";
import { Zone } from "./zone.ts";

/** The moments of a schedule, in milliseconds. */
export interface Ticks {
  /** The first tick after a moment; undefined if there is none. */
  after(momentMs: number): number | undefined;
}

/** Intervals are counted from 1970, so that every process, also the next deploy's, means the same moments. */
export function ticksOf({ cron, everyMs, timezone }: Timing): Ticks {
  if (cron !== undefined) return new CronTicks(cron, new Zone(timezone));
  return { after: (momentMs) => (Math.floor(momentMs / everyMs!) + 1) * everyMs! };
}

/** The latest tick up to a moment, after another one; undefined if there is none between. */
export function latestTick(ticks: Ticks, afterMs: number, upToMs: number): number | undefined {
  // Searches back in growing steps: it iterates over the ticks of one step only.
  for (let spanMs = 60_000; ; spanMs *= 2) {
    const fromMs = Math.max(afterMs, upToMs - spanMs);
    let latest: number | undefined;
    for (let at = ticks.after(fromMs); at !== undefined && at <= upToMs; at = ticks.after(at)) latest = at;
    if (latest !== undefined || fromMs === afterMs) return latest;
  }
}

const minuteMs = 60_000;
/** Longer than any clock change. */
const hoursMs = 180 * minuteMs;

/**
 * Clock changes are handled as by cron. A schedule for certain times of the day runs once a day: a skipped time runs
 * when the clocks change, a repeated one the first time. An interval (`*` in the minute or the hour) follows the
 * clocks: it does not run in a skipped hour, and twice in a repeated one.
 */
class CronTicks implements Ticks {
  readonly #cron: Cron;
  readonly #zone: Zone;

  constructor(cron: Cron, zone: Zone) {
    this.#cron = cron;
    this.#zone = zone;
  }

  after(momentMs: number): number | undefined {
    const wallMs = this.#zone.wallAt(momentMs);
    // The local times that will be repeated.
    const againMs = this.#cron.atFixedTimes ? 0 : this.#zone.turnsBackMs(momentMs, hoursMs);
    let earliest: number | undefined;
    for (let wall = nextMatch(this.#cron, wallMs - againMs); wall !== undefined; ) {
      for (const at of this.#momentsOf(wall)) {
        if (at > momentMs && (earliest === undefined || at < earliest)) earliest = at;
      }
      if (earliest !== undefined && wall > wallMs) return earliest;
      wall = nextMatch(this.#cron, wall + minuteMs);
    }
    return earliest;
  }

  #momentsOf(wall: number): number[] {
    const moments = this.#zone.momentsOf(wall);
    if (!this.#cron.atFixedTimes) return moments;
    return moments.length === 0 ? [this.#zone.momentAfterGap(wall)] : moments.slice(0, 1);
  }
}
