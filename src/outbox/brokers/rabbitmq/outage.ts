import { isOfOtherProcesses, isPawlError } from "../../../base/errors.ts";
import { TransientError } from "../../../base/step-errors.ts";

/**
 * Whether an error does not concern the message itself: the database, or another store of the handler, is unreachable.
 * An instance that only processes with another definition can move does not count: one of them can handle its message at once.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof TransientError) return true;
  return isPawlError(error) && error.fault === "environment" && !isOfOtherProcesses(error);
}
