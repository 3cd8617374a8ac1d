import { PawlError } from "./errors.ts";

const longestName = 500;

/** A short text that an index can hold. */
export function checkedText(
  given: unknown,
  what: string,
  code: "key_invalid" | "option_invalid" | "value_not_serializable" = "option_invalid",
): string {
  if (typeof given !== "string" || given === "" || given.length > longestName) {
    throw new PawlError(code, `${what} must be a text of 1 to ${longestName} characters.`);
  }
  if (given.includes("\u0000") || !given.isWellFormed()) {
    throw new PawlError(code, `${what} holds a character that cannot be stored (NUL, or half of a surrogate pair).`);
  }
  // Every client resolves them as path segments: such a key could never be requested over HTTP.
  if (code === "key_invalid" && (given === "." || given === ".."))
    throw new PawlError(code, `${what} must not be "." or "..", which have a meaning of their own in a path.`);
  return given;
}

/** The text with a full stop, unless it ends as a sentence already: what users write comes in both forms. */
export function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
/**
 * Bytes that Pawl hands out: a `Buffer`, of which only this is promised, so that programs without the types of Node
 * compile.
 */

export interface Bytes extends Uint8Array {
  subarray(start?: number, end?: number): Bytes;
  /** As UTF-8 by default; also as `"base64"` or `"hex"`. */
  toString(encoding?: "utf8" | "base64" | "base64url" | "hex" | "latin1"): string;
}
