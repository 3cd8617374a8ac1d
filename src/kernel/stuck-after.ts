import { type Duration, durationMs } from "../base/duration.ts";
import { checkedOptions, optionNames } from "../base/options.ts";

/** How long something may wait before it is reported as stuck. */
export interface StuckAfterOptions {
  /**
   * A task in a lane that no live worker serves.
   * @default "1m"
   */
  readonly noWorker?: Duration;
  /**
   * A task that is ready, whatever keeps workers from claiming it.
   * @default "15m"
   */
  readonly ready?: Duration;
  /**
   * A timer, a retry, a release, a check of children or an expired lease that should have been dealt with.
   * @default "1m"
   */
  readonly overdue?: Duration;
  /**
   * A task that runs: its worker renews the lease, and the step does not end.
   * @default "1d"
   */
  readonly running?: Duration;
}

export interface StuckAfter {
  readonly noWorkerMs: number;
  readonly readyMs: number;
  readonly overdueMs: number;
  readonly runningMs: number;
}

const known = optionNames<StuckAfterOptions>({ noWorker: true, ready: true, overdue: true, running: true });

/** The thresholds, with defaults. Throws `option_invalid` for a value that is no duration. */
export function stuckAfterOf(given: unknown): StuckAfter {
  const options = checkedOptions(given as StuckAfterOptions | undefined, known, "stuckAfter");
  const { noWorker = "1m", ready = "15m", overdue = "1m", running = "1d" } = options;
  return {
    noWorkerMs: durationMs(noWorker, "stuckAfter.noWorker"),
    readyMs: durationMs(ready, "stuckAfter.ready"),
    overdueMs: durationMs(overdue, "stuckAfter.overdue"),
    runningMs: durationMs(running, "stuckAfter.running"),
  };
}
