import { timerMs } from "../base/duration.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { lanesOf } from "../kernel/lanes.ts";
import { logFailure } from "../telemetry/log.ts";
import { maintain } from "./round.ts";

export interface DriveOptions {
  readonly everyMs: number;
  /** Hears of a round that failed, and of each instance that could not be moved; the next round comes all the same. */
  readonly onFailure: (error: unknown) => void;
}

/** Repeats rounds of maintenance, one at a time, until it is stopped. */
export function driveMaintenance(kernel: Kernel, options: DriveOptions): { stop(): Promise<void> } {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let underWay: Promise<void> = Promise.resolve();
  let lanes: readonly string[] | undefined;

  const fail = (error: unknown): void => {
    logFailure(kernel.telemetry.log, error);
    options.onFailure(error);
  };
  const round = async (): Promise<void> => {
    try {
      lanes ??= await lanesOf(kernel);
      const { failures } = await maintain(kernel, lanes);
      for (const failure of failures) fail(failure.error);
    } catch (error) {
      if (!stopped) fail(error);
    }
    if (!stopped) schedule(options.everyMs);
  };
  const schedule = (ms: number): void => {
    timer = setTimeout(() => {
      underWay = round();
    }, timerMs(ms));
    timer.unref();
  };
  schedule(0);
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await underWay;
    },
  };
}
