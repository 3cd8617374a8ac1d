import { isPawlError } from "../../base/errors.ts";

const firstPauseMs = 1_000;
const longestPauseMs = 10_000;
const passing = ["database_unreachable", "outcome_unknown", "busy"] as const;

export interface Waiting {
  /** Called before each pause. */
  readonly onWait: (error: Error, pauseMs: number) => void;
  /** Ends the waiting. */
  readonly stopped: Promise<unknown>;
  readonly pause?: (ms: number) => Promise<void>;
}

/**
 * Opens something on a database, and retries while the database is unreachable: a process that starts before its
 * database behaves like one whose database goes away later. Returns undefined if it was stopped meanwhile. A database
 * that refuses the user or the name is not retried.
 */
export async function openWhenReachable<T>(open: () => Promise<T>, waiting: Waiting): Promise<T | undefined> {
  const { onWait, stopped, pause = sleep } = waiting;
  const stop = stopped.then(() => true);
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await open();
    } catch (error) {
      if (!passing.some((code) => isPawlError(error, code))) throw error;
      onWait(error as Error, pauseMs);
      if ((await Promise.race([pause(pauseMs), stop])) === true) return undefined;
    }
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
