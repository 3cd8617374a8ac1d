import { isPawlError } from "../../../base/errors.ts";
import { TransientError } from "../../../base/step-errors.ts";

/**
 * Whether an error does not concern the message itself: the database, or another store of the handler, is unreachable.
 * An instance of a newer definition does not count: another process can handle its message at once.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof TransientError) return true;
  return isPawlError(error) && error.fault === "environment" && error.code !== "definition_newer";
}
