import { isPawlError, messageOf, PawlError } from "../base/errors.ts";
import type { Db } from "../store/port/db.ts";
import { isReadOnly } from "../store/port/failures.ts";
import { pause } from "./pause.ts";

/** How long an unknown outcome of a call is retried by default. Reports and relays retry until the database answers. */
export const standardOutcomeTimeoutMs = 10_000;
/** The longest pause between two tries: a try after the timeout is not waited for. */
export const longestPauseMs = 1_000;

/**
 * Runs a round, and repeats it with growing pauses while its reply is lost or the database is busy or read-only, until
 * the timeout. The round must search for its own traces first: a lost reply says nothing about what was written. Once a
 * reply was lost, here or earlier (`unsure`), only an answer after such a search counts; otherwise the outcome is
 * unknown.
 *
 * A trace that was found after a lost reply may be on the primary alone: a commit whose connection ends while it waits
 * for a synchronous standby stays and can be read. It is confirmed before it counts, or a failover could still undo it.
 */
export async function retryUntilKnown<T>(
  { db, outcomeTimeoutMs }: { readonly db: Pick<Db, "confirm">; readonly outcomeTimeoutMs: number },
  round: () => Promise<T>,
  unsure = false,
): Promise<T> {
  let isUnsure = unsure;
  let endAt: number | undefined;
  for (let pauseMs = 20; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      const result = await round();
      if (isUnsure) await confirm(db, (endAt ?? performance.now() + outcomeTimeoutMs) - performance.now());
      return result;
    } catch (error) {
      isUnsure ||= isPawlError(error, "outcome_unknown");
      // From the first lost reply on: however long that call took, there is time to search for its traces.
      endAt ??= performance.now() + outcomeTimeoutMs;
      const again = isPawlError(error, "busy") || isReadOnly(error) || (isUnsure && isTransient(error));
      if (!again || performance.now() + pauseMs >= endAt)
        throw isUnsure && !isFinal(error) ? stillUnknown(error) : error;
      await pause(pauseMs);
    }
  }
}

/** Waits until a synchronous standby has what is committed, where there is one. */
export async function confirm(db: Pick<Db, "confirm">, withinMs: number): Promise<void> {
  if (db.confirm === undefined) return;
  let timer: NodeJS.Timeout | undefined;
  const isLate = new Promise<never>((_, reject) => {
    const late = new PawlError("outcome_unknown", "No synchronous standby has confirmed the change in time.");
    timer = setTimeout(() => reject(late), Math.max(withinMs, longestPauseMs));
  });
  try {
    await Promise.race([db.confirm(), isLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** It may resolve itself. */
function isTransient(error: unknown): boolean {
  return isPawlError(error, "outcome_unknown") || isPawlError(error, "database_unreachable");
}

/** An answer of the instance or its definition, and not an error on the way to them. */
function isFinal(error: unknown): boolean {
  return isPawlError(error) && (error.fault === "request" || error.fault === "definition");
}

function stillUnknown(cause: unknown): PawlError {
  return new PawlError(
    "outcome_unknown",
    `A reply was lost, and the database is unreachable, so the outcome is unknown: ${messageOf(cause)} Read the instance when it is back; with a \`key\` or an \`idempotencyKey\` the call can simply be repeated.`,
    {},
    { cause },
  );
}
