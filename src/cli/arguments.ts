import { readFileSync } from "node:fs";
import { InvalidArgumentError } from "commander";
import { messageOf, PawlError } from "../base/errors.ts";

/** A JSON value from the command line: the text itself, `@file`, or `-` for stdin. */
export function jsonValue(text: string): unknown {
  const [source, json] = readSource(text);
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new InvalidArgumentError(`${source} is not JSON: ${messageOf(error)}.`);
  }
}

function readSource(text: string): [source: string, json: string] {
  try {
    if (text === "-") return ["Standard input", readFileSync(0, "utf8")];
    if (text.startsWith("@")) return [text.slice(1), readFileSync(text.slice(1), "utf8")];
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
  return ["It", text];
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

/** A number above nought, such as 0.5. */
export function rateOf(text: string): number {
  if (/^\d{1,6}(?:\.\d{1,3})?$/.test(text) && Number(text) > 0) return Number(text);
  throw new InvalidArgumentError("It must be a number above 0.");
}

/** An option that may be given several times. */
export function several(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}

/** The instance of a command: by its key or by `--id`, not by both. */
export function instanceArgs(key: string | undefined, id: string | undefined): { key: string } | { id: string } {
  if (key !== undefined && id === undefined) return { key };
  if (id !== undefined && key === undefined) return { id };
  throw new PawlError("option_invalid", "Name the instance: by its KEY, or with --id ID.");
}

/** A word as one would type it in a shell. */
export function quoted(word: string): string {
  return /^[\w./@:+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
