import { isPawlError, messageOf, PawlError } from "../base/errors.ts";
import { pause } from "./pause.ts";

const patienceMs = 10_000;

/**
 * Runs a round, and again while its reply gets lost or the database is busy, with growing pauses, until patience ends.
 * The round must look for its own traces first: a lost reply says nothing about what was written.
 */
export async function untilAnswered<T>(round: () => Promise<T>): Promise<T> {
  let unsure = false;
  for (let waitedMs = 0, pauseMs = 20; ; pauseMs = Math.min(pauseMs * 2, 1_000)) {
    try {
      return await round();
    } catch (error) {
      unsure ||= isPawlError(error, "outcome_unknown");
      const again = unsure || isPawlError(error, "busy");
      if (!again || waitedMs >= patienceMs || !isSurroundings(error)) throw error;
      if (waitedMs + pauseMs >= patienceMs && unsure) throw stillUnknown(error);
      await pause(pauseMs);
      waitedMs += pauseMs;
    }
  }
}

function isSurroundings(error: unknown): boolean {
  return ["outcome_unknown", "busy", "database_unreachable"].some((code) => isPawlError(error, code as "busy"));
}

function stillUnknown(cause: unknown): PawlError {
  return new PawlError(
    "outcome_unknown",
    `A reply was lost and the database cannot be asked what became of it: ${messageOf(cause)} Read the instance when it is back; with a \`key\` or an \`idempotencyKey\` the call can simply be repeated.`,
    {},
    { cause },
  );
}
