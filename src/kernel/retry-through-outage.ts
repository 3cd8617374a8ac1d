import { isPawlError } from "../base/errors.ts";
import type { Kernel } from "./kernel.ts";
import { pause } from "./pause.ts";
import { confirm, longestPauseMs } from "./retry-unknown-outcome.ts";

/**
 * Runs what a running step reads or writes, and again while the database is away: a step that failed of an outage would
 * spend an attempt. The round must do no harm when it is repeated after a lost reply. It ends with the step: when its
 * signal is aborted, the lease is lost or the worker stops.
 */
export async function retryThroughOutage<T>(kernel: Kernel, signal: AbortSignal, round: () => Promise<T>): Promise<T> {
  let isUnsure = false;
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      const result = await round();
      if (isUnsure) await confirm(kernel.db, kernel.outcomeTimeoutMs);
      return result;
    } catch (error) {
      isUnsure ||= isPawlError(error, "outcome_unknown");
      if (!isAway(error)) throw error;
      await pause(pauseMs);
      if (signal.aborted) throw error;
    }
  }
}

const awayCodes = ["database_unreachable", "database_refused", "outcome_unknown", "busy"] as const;

function isAway(error: unknown): boolean {
  return awayCodes.some((code) => isPawlError(error, code));
}
