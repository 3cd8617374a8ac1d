import { type Duration, durationMs } from "../base/duration.ts";
import { PawlError } from "../base/errors.ts";
import { guardListener } from "../base/guard.ts";
import { checkedOptions } from "../base/options.ts";
import { failureListener, logFailure, type Log as TelemetryLog } from "../telemetry/log.ts";
import type { WorkerMove } from "./states.ts";
import type { Log } from "./steps/step.ts";

export interface WorkOptions {
  /**
   * How many steps run at once in this process.
   * @default 16
   */
  readonly concurrency?: number;
  /**
   * The lanes of this worker: `"essay"` all of a lifecycle, `"essay/grading"` one state, `"essay:after"` its
   * after-effects, `"essay:send"` the delivery of events from other instances to it.
   * @default everything that this process declares
   */
  readonly lanes?: readonly string[];
  /** How many tasks to hold beyond those that run. Defaults to as many as will begin within a tenth of a second, by how long steps take. */
  readonly prefetch?: number;
  /**
   * How long a lease lasts without a renewal.
   * @default "30s"
   */
  readonly leaseDuration?: Duration;
  /**
   * How long `stop` waits for running steps before their tasks are returned.
   * @default "25s"
   */
  readonly shutdownGrace?: Duration;
  /**
   * How long a step may continue after its signal was aborted. Then it counts as stuck, and its slot is freed for other
   * work; at most `concurrency` slots are freed this way.
   *
   * @default "30s"
   */
  readonly abortGrace?: Duration;
  /**
   * The longest pause between two polls for work.
   * @default "1s"
   */
  readonly pollInterval?: Duration;
  /**
   * The interval of maintenance: tasks of silent workers, scheduled tasks and timers.
   * @default "1s"
   */
  readonly maintenanceInterval?: Duration;
  /** Called with every change of state of the worker's loop and slots. */
  readonly onMove?: (move: WorkerMove) => void;
  /** Called with errors outside of steps: a lost connection, a lost lease. */
  readonly onFailure?: (error: unknown) => void;
  /** Receives what steps log with `step.log`. Defaults to the logger of `createPawl`. */
  readonly onLog?: Log;
}

/** The default settings of a worker. */
export const defaults = {
  concurrency: 16,
  leaseDuration: "30s",
  shutdownGrace: "25s",
  abortGrace: "30s",
  pollInterval: "1s",
  maintenanceInterval: "1s",
} as const;

export interface Settings {
  readonly concurrency: number;
  readonly prefetch: number | undefined;
  readonly leaseMs: number;
  readonly graceMs: number;
  readonly abortGraceMs: number;
  readonly pollMs: number;
  readonly maintainEveryMs: number;
  readonly onMove: (move: WorkerMove) => void;
  readonly onFailure: (error: unknown) => void;
  readonly log: Log;
}

const known = [
  "concurrency",
  "lanes",
  "prefetch",
  "leaseDuration",
  "shutdownGrace",
  "abortGrace",
  "pollInterval",
  "maintenanceInterval",
  "onMove",
  "onFailure",
  "onLog",
] as const satisfies readonly (keyof WorkOptions)[];

export function settingsOf(given: WorkOptions, log: TelemetryLog): Settings {
  const options = checkedOptions(given, known, "work");
  const concurrency = options.concurrency ?? defaults.concurrency;
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 10_000) {
    throw new PawlError("option_invalid", "`concurrency` must be a whole number from 1 to 10,000.");
  }
  const { prefetch } = options;
  if (prefetch !== undefined && !(Number.isInteger(prefetch) && prefetch >= 0 && prefetch <= 10_000)) {
    throw new PawlError("option_invalid", "`prefetch` must be a whole number from 0 to 10,000.");
  }
  const leaseMs = durationMs(options.leaseDuration ?? defaults.leaseDuration, "leaseDuration");
  if (leaseMs < 100) throw new PawlError("option_invalid", "`leaseDuration` must be at least 100 milliseconds.");
  return {
    concurrency,
    prefetch,
    leaseMs,
    graceMs: durationMs(options.shutdownGrace ?? defaults.shutdownGrace, "shutdownGrace"),
    abortGraceMs: durationMs(options.abortGrace ?? defaults.abortGrace, "abortGrace"),
    pollMs: Math.max(10, durationMs(options.pollInterval ?? defaults.pollInterval, "pollInterval")),
    maintainEveryMs: durationMs(options.maintenanceInterval ?? defaults.maintenanceInterval, "maintenanceInterval"),
    onMove: guardListener(options.onMove, (error) => logFailure(log, error)),
    onFailure: failureListener(log, options.onFailure),
    log: guardListener(options.onLog ?? ((message, fields) => log.info(fields, message)), (error) =>
      logFailure(log, error),
    ),
  };
}
