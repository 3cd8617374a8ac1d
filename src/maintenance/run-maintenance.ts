import type { Kernel } from "../kernel/kernel.ts";
import { lanesOf } from "../kernel/lanes/lanes.ts";
import { type PruneOptions, prune } from "../kernel/maintenance/prune.ts";
import { failureListener, logFailure } from "../telemetry/log.ts";
import { type Repeated, repeat } from "./repeat.ts";
import { maintain } from "./round.ts";

export interface DriveOptions {
  readonly everyMs: number;
  /**
   * Called with the error of a failed round, and of each instance that could not be moved; the next round follows all
   * the same.
   */
  readonly onFailure: ((error: unknown) => void) | undefined;
  /** Called when it has stopped. */
  readonly onStopped?: () => void;
}

const rereadMs = 30_000;

/** Repeats rounds of maintenance until it is stopped. */
export function driveMaintenance(kernel: Kernel, options: DriveOptions): Repeated {
  let [lanes, readAt]: [readonly string[], number] = [[], Number.NEGATIVE_INFINITY];
  const onFailure = failureListener(kernel.telemetry.log, options.onFailure);
  const round = async (): Promise<number> => {
    // Definitions of other versions may be registered at any time, by processes that start later.
    if (performance.now() - readAt > rereadMs) [lanes, readAt] = [await lanesOf(kernel), performance.now()];
    const { failures } = await maintain(kernel, lanes);
    for (const failure of failures) onFailure(failure.error);
    return options.everyMs;
  };
  return repeat(round, { restMs: options.everyMs, onFailure, onStopped: options.onStopped });
}

const pruneEveryMs = 60_000;
/** Leaves a process time to start. */
const pruneFirstMs = 5_000;

/**
 * Deletes instances past their retention, in parallel to all other work: a batch at a time, followed by a pause as long
 * as the batch took, so that at most half of one connection is busy with it.
 */
export function drivePruning(kernel: Kernel, options: PruneOptions): Repeated {
  const round = async (): Promise<number> => {
    const began = performance.now();
    const { more } = await prune(kernel, options);
    return more ? performance.now() - began : pruneEveryMs;
  };
  const onFailure = (error: unknown) => logFailure(kernel.telemetry.log, error);
  return repeat(round, { restMs: pruneEveryMs, firstMs: pruneFirstMs, onFailure });
}
