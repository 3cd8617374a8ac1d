import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type Duration, parseDuration } from "../../base/duration.ts";
import { ignoreRejection, isThenable } from "../../base/guard.ts";
import { nearest } from "../../base/nearest.ts";
import type { RetryModel, RetryRule, Timing } from "../model.ts";
import { type Faults, list, quotedValue } from "./fault.ts";

/**
 * Reads one part of a definition without assumptions about its type: an author may write plain JavaScript, and any
 * value leads to a fault with a place, never to a TypeError.
 */
export type Fields = Readonly<Record<string, unknown>>;

const namePattern = /^[a-z][a-z0-9_]*$/;
export const outerNamePattern = /^[a-z][a-z0-9_-]*$/;
const longestName = 100;

/** The place of a definition as such; the places of its parts do without it. */
export const whole = "definition";

/** An object all of whose keys are among `allowed`, or undefined and a fault. */
export function readFields(
  value: unknown,
  allowed: readonly string[],
  place: string,
  faults: Faults,
): Fields | undefined {
  const fields = readObject(value, place, faults);
  for (const key of fields === undefined ? [] : Object.keys(fields)) {
    if (allowed.includes(key)) continue;
    const close = nearest(key, allowed);
    const remedy =
      close === undefined ? `Take it out; known are ${list(allowed)}.` : `Did you mean ${quotedValue(close)}?`;
    faults.add(
      "key_unknown",
      place === whole ? key : `${place}.${key}`,
      `There is no key ${quotedValue(key)} here.`,
      remedy,
    );
  }
  return fields;
}

export function readObject(value: unknown, place: string, faults: Faults): Fields | undefined {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  faults.add("shape_invalid", place, `It is ${quotedValue(value)}.`, "Write an object.");
  return undefined;
}

/** A fault for each of `keys` that is not there. */
export function requireKeys(
  fields: Fields,
  keys: readonly string[],
  remedy: string,
  place: string,
  faults: Faults,
): void {
  for (const key of keys) {
    if (fields[key] === undefined) faults.add("shape_invalid", `${place}.${key}`, "It is missing.", remedy);
  }
}

export function readName(value: unknown, place: string, faults: Faults, pattern = namePattern): string | undefined {
  if (typeof value === "string" && pattern.test(value) && value.length <= longestName) return value;
  const signs = pattern === namePattern ? "letters, digits and _" : "letters, digits, _ and -";
  const remedy = `Write a name of small ${signs} that begins with a letter, of at most ${longestName} characters.`;
  faults.add("name_invalid", place, `${quotedValue(value)} is not a name.`, remedy);
  return undefined;
}

export function readText(value: unknown, place: string, faults: Faults): string | undefined {
  if (value === undefined || (typeof value === "string" && value.length > 0)) return value;
  faults.add("shape_invalid", place, `It is ${quotedValue(value)}.`, "Write a text.");
  return undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: a function of the author's, whose types `language.ts` has checked.
export function readFunction(value: unknown, place: string, faults: Faults): ((given: any) => any) | undefined {
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  if (value === undefined || typeof value === "function") return value as ((given: any) => any) | undefined;
  faults.add("shape_invalid", place, `It is ${quotedValue(value)}.`, "Write a function.");
  return undefined;
}

export function readBoolean(value: unknown, otherwise: boolean, place: string, faults: Faults): boolean {
  if (value === undefined) return otherwise;
  if (typeof value === "boolean") return value;
  faults.add("shape_invalid", place, `It is ${quotedValue(value)}.`, "Write true or false.");
  return otherwise;
}

export function readOneOf<const Choice extends string, Otherwise>(
  value: unknown,
  choices: readonly Choice[],
  otherwise: Otherwise,
  place: string,
  faults: Faults,
): Choice | Otherwise {
  if (value === undefined) return otherwise;
  const chosen = choices.find((choice) => choice === value);
  if (chosen !== undefined) return chosen;
  faults.add("shape_invalid", place, `It is ${quotedValue(value)}.`, `Choose one of ${list(choices)}.`);
  return otherwise;
}

/** A whole number from `least` to `most`; `otherwise` where there is none or a wrong one. */
export function readInteger<Otherwise>(
  value: unknown,
  [least, most]: readonly [number, number],
  otherwise: Otherwise,
  place: string,
  faults: Faults,
): number | Otherwise {
  if (value === undefined) return otherwise;
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
  const remedy = `Write a whole number from ${least} to ${most}.`;
  faults.add("number_invalid", place, `${quotedValue(value)} is out of range.`, remedy);
  return otherwise;
}

/** A duration that is longer than nothing. */
export function readDuration<Otherwise>(
  value: unknown,
  otherwise: Otherwise,
  place: string,
  faults: Faults,
): Duration | Otherwise {
  if (value === undefined) return otherwise;
  const ms = typeof value === "string" || typeof value === "number" ? parseDuration(value) : 0;
  if (typeof ms === "number" && ms > 0) return value as Duration;
  const remedy = 'Write one such as "90s", "10m", "2h", "60d" or milliseconds.';
  faults.add("duration_invalid", place, `${quotedValue(value)} is not a length of time.`, remedy);
  return otherwise;
}

/** A duration or a function of the data; where it is missing or wrong, a fault and undefined. */
export function readTiming(value: unknown, place: string, faults: Faults): Timing | undefined {
  if (typeof value === "function") return value as Timing;
  if (value !== undefined) return readDuration(value, undefined, place, faults);
  faults.add(
    "shape_invalid",
    place,
    "It is missing.",
    'Write a length of time such as "10m", or a function of the data.',
  );
  return undefined;
}

export function readSchema(value: unknown, place: string, faults: Faults): StandardSchemaV1 | undefined {
  if (value === undefined || isSchema(value)) return value;
  const remedy = "Give a schema of zod, valibot, arktype or any other library that follows Standard Schema.";
  faults.add("schema_invalid", place, `${quotedValue(value)} is not a schema.`, remedy);
  return undefined;
}

/** Whether it follows Standard Schema. Some libraries' schemas are functions. */
export function isSchema(value: unknown): value is StandardSchemaV1 {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  const standard = (value as Partial<StandardSchemaV1>)["~standard"];
  return typeof standard === "object" && standard !== null && typeof standard.validate === "function";
}

/** Whether an event with this schema can be sent without a payload. */
export function acceptsNothing(schema: StandardSchemaV1 | undefined): boolean {
  if (schema === undefined) return true;
  try {
    const result = schema["~standard"].validate(undefined);
    if (!isThenable(result)) return result.issues === undefined;
    ignoreRejection(result); // It is not awaited; a start reports that such a schema cannot be used.
    return false;
  } catch {
    return false;
  }
}

const ratePattern = /^([1-9]\d{0,6})\/(s|m|h|d)$/;

export function isRate(value: unknown): value is string {
  return typeof value === "string" && ratePattern.test(value);
}

export function readRate(value: unknown, place: string, faults: Faults): string | undefined {
  if (value === undefined || isRate(value)) return value;
  const remedy = 'Write how many in a second, minute, hour or day, such as "100/m".';
  faults.add("number_invalid", place, `${quotedValue(value)} is not a rate.`, remedy);
  return undefined;
}

export function readRetry(value: unknown, place: string, faults: Faults): RetryModel | undefined {
  if (value === undefined) return undefined;
  const fields = readFields(value, ["maxAttempts", "backoff", "rules"], place, faults);
  if (fields === undefined) return undefined;
  requireKeys(fields, ["maxAttempts"], "Write it, such as { maxAttempts: 5 }.", place, faults);
  const maxAttempts = readInteger(fields.maxAttempts, [1, 1_000], undefined, `${place}.maxAttempts`, faults);
  const backoff = readFunction(fields.backoff, `${place}.backoff`, faults);
  const rules = readRetryRules(fields.rules, `${place}.rules`, faults);
  if (maxAttempts === undefined) return undefined;
  return rules === undefined ? { maxAttempts, backoff } : { maxAttempts, backoff, rules };
}

function readRetryRules(value: unknown, place: string, faults: Faults): RetryRule[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) {
    faults.add("shape_invalid", place, `It is ${quotedValue(value)}.`, "Write a list of { when, maxAttempts }.");
    return undefined;
  }
  return value.flatMap((one: unknown, index) => {
    const at = `${place}[${index}]`;
    const fields = readFields(one, ["type", "when", "maxAttempts", "backoff"], at, faults);
    if (fields === undefined) return [];
    const { when } = fields;
    const names = typeof when === "string" || (Array.isArray(when) && when.every((name) => typeof name === "string"));
    if (!names && typeof when !== "function") {
      const remedy = "Write the name of an error, a list of names, or a function of the error.";
      faults.add("shape_invalid", `${at}.when`, `It is ${quotedValue(when)}.`, remedy);
      return [];
    }
    return {
      type: readText(fields.type, `${at}.type`, faults),
      when: when as RetryRule["when"],
      maxAttempts: readInteger(fields.maxAttempts, [1, 1_000], undefined, `${at}.maxAttempts`, faults),
      backoff: readFunction(fields.backoff, `${at}.backoff`, faults),
    };
  });
}
