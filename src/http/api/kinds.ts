import { PawlError } from "../../base/errors.ts";
import { list, suggest } from "../../definition/read/fault.ts";
import type { Schema } from "./schema.ts";

/** A query has only texts: the schema says how to convert them. */
export function fromText(name: string, schema: Schema, values: readonly string[]): unknown {
  if (schema.type === "array") return values.flatMap((value) => value.split(",")).filter((value) => value !== "");
  if (values.length > 1) throw invalid(`\`${name}\` is given more than once.`);
  const [value] = values as [string];
  const kinds = kindsOf(schema);
  if (kinds.includes("boolean") && (value === "true" || value === "false")) return value === "true";
  const isNumber = value.trim() !== "" && Number.isFinite(Number(value));
  return (kinds.includes("number") || kinds.includes("integer")) && isNumber ? Number(value) : value;
}

/** Refuses a value of another kind than the schema says. Its content is checked by the call. */
export function checkKind(name: string, schema: Schema, value: unknown): void {
  if (value === null || value === undefined) return;
  const kinds = kindsOf(schema);
  if (kinds.length > 0 && !kinds.some((kind) => isOfKind(kind, value)))
    throw invalid(`\`${name}\` must be ${kinds.map((kind) => words[kind] ?? kind).join(" or ")}.`);
  if (schema.enum !== undefined && !schema.enum.includes(value as string)) {
    const known = schema.enum.filter((one) => one !== null);
    throw invalid(`\`${name}\` cannot be ${list([String(value)])}. ${suggest(String(value), known)}`);
  }
  if (schema.items === undefined || !Array.isArray(value)) return;
  const { maxItems = Number.POSITIVE_INFINITY } = schema;
  if (value.length > maxItems)
    throw invalid(
      `\`${name}\` has ${value.length} items; the maximum is ${maxItems}. Send the rest in another request.`,
    );
  for (const one of value) {
    if (one === null) throw invalid(`\`${name}\` contains null.`);
    checkKind(name, schema.items, one);
  }
}

/** Moments arrive as texts; a call is given dates. */
export function toMoment(name: string, { format }: Schema, value: unknown): unknown {
  if (format !== "date-time") return value;
  const moment = new Date(value as string);
  // The database supports other first and last days than JavaScript; both are refused.
  const isUsual = moment.getUTCFullYear() >= 1 && moment.getUTCFullYear() <= 9999;
  if (!isUsual) throw invalid(`\`${name}\` must be a time such as 2026-01-31T12:00:00Z.`);
  return moment;
}

const words: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};

function kindsOf(schema: Schema): readonly string[] {
  return schema.type === undefined ? [] : [schema.type].flat();
}

function isOfKind(kind: string, value: unknown): boolean {
  if (kind === "integer") return Number.isSafeInteger(value);
  if (kind === "array") return Array.isArray(value);
  if (kind === "object") return typeof value === "object" && !Array.isArray(value);
  return typeof value === kind;
}

function invalid(message: string): PawlError {
  return new PawlError("option_invalid", message);
}
