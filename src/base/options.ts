import { PawlError } from "./errors.ts";
import { isId } from "./ids.ts";
import { cleanText } from "./json.ts";
import { nearest } from "./nearest.ts";
import { checkedText } from "./text.ts";

/** The options of a call. A misspelt one would silently not be followed, and a payload taken for options be lost. */
export function checkedOptions<Options extends object>(
  given: Options | undefined,
  known: readonly string[],
  call: string,
): Options {
  if (given === undefined) return {} as Options;
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw invalid(`\`${call}\` takes an object with ${listed(known)}.`);
  const stray = Object.keys(given).find((key) => !known.includes(key));
  if (stray === undefined) return given;
  throw invalid(`Unknown option \`${cleanText(stray, 100)}\` for \`${call}\`. ${remedyFor(stray, known)}`);
}

/**
 * The names of all options of a type. The compiler refuses a name that the type lacks and a list that lacks one, so the
 * options that are documented are those that are accepted.
 */
export function optionNames<Options>(names: { readonly [Name in keyof Options]-?: true }): readonly string[] {
  return Object.keys(names);
}

function remedyFor(stray: string, known: readonly string[]): string {
  const close = nearest(stray, known);
  return close === undefined ? `Known options: ${listed(known)}.` : `Did you mean \`${close}\`?`;
}

function listed(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}

/** Refuses an additional argument of a call: options passed there would silently be ignored. */
export function refuseMore(stray: readonly unknown[], call: string, remedy: string): void {
  if (stray.length === 0) return;
  throw invalid(`\`${call}\` was given ${stray.length} argument${stray.length === 1 ? "" : "s"} too many. ${remedy}`);
}

/** How many a page holds. */
export function checkedLimit(limit: unknown): number {
  if (Number.isInteger(limit) && (limit as number) >= 1 && (limit as number) <= 1_000) return limit as number;
  throw invalid("`limit` must be a whole number from 1 to 1,000; page on with `after`.");
}

/** The id of a thing. */
export function checkedId(given: unknown, what: string): string {
  const id = typeof given === "string" ? given.toLowerCase() : given;
  if (isId(id)) return id;
  throw invalid(`Name the ${what} by its id.`);
}

export function textOrNull(given: unknown, what: string): string | null {
  return given === undefined || given === null ? null : checkedText(given, what);
}

/** The actor and the reason, as they are recorded. */
export interface Cause {
  readonly actor: string | null;
  readonly reason: string | null;
}

export function causeOf(given: { readonly actor?: unknown; readonly reason?: unknown }): Cause {
  return { actor: textOrNull(given.actor, "The actor"), reason: textOrNull(given.reason, "The reason") };
}

function invalid(message: string): PawlError {
  return new PawlError("option_invalid", message);
}
