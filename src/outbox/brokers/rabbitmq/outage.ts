import { isPawlError } from "../../../base/errors.ts";
import { TransientError } from "../../../base/step-errors.ts";

/**
 * Whether an error says nothing about the message at hand: the database, or whatever else the handler stores it in, is away.
 * An instance of a newer definition is none of that; another process can handle its message at once.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof TransientError) return true;
  return isPawlError(error) && error.fault === "environment" && error.code !== "definition_newer";
}
