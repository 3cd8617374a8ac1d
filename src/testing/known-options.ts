import { PawlError } from "../base/errors.ts";
import { cleanText } from "../base/json.ts";
import { nearest } from "../base/nearest.ts";

/** Refuses options that are no object, and keys that nobody reads, with the name that was probably meant. */
export function refuseUnknownOptions(given: unknown, known: readonly string[], call: string): void {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new PawlError("option_invalid", `\`${call}\` takes an object with ${known.map(quoted).join(", ")}.`);
  }
  const stray = Object.keys(given).find((key) => !known.includes(key));
  if (stray === undefined) return;
  const close = nearest(stray, known);
  const hint = close === undefined ? `Known options: ${known.map(quoted).join(", ")}.` : `Did you mean \`${close}\`?`;
  throw new PawlError("option_invalid", `Unknown option \`${cleanText(stray, 100)}\` for \`${call}\`. ${hint}`);
}

function quoted(name: string): string {
  return `\`${name}\``;
}
