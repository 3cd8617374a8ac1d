import type { JsonSchema } from "../../definition/schema/json-schema.ts";

/** One field of a form, as a line for a labeler: its name, and its allowed values. */
export interface FormField {
  readonly name: string;
  readonly takes: string;
}

/** The form of a label, field by field; one nameless field if a label is one answer. */
export function formFields(schema: JsonSchema): FormField[] {
  const { properties, required } = schema as { properties?: Record<string, JsonSchema>; required?: readonly string[] };
  if (properties === undefined) return [{ name: "", takes: takenBy(schema) }];
  return Object.entries(properties).map(([name, field]) => ({
    name,
    takes: required?.includes(name) === true ? takenBy(field) : `${takenBy(field)}, or nothing`,
  }));
}

/** A label that fits in form, to be filled in: the first of all choices, the least of all numbers. */
export function blankLabel(schema: JsonSchema): unknown {
  const { properties, required = [] } = schema as {
    properties?: Record<string, JsonSchema>;
    required?: readonly string[];
  };
  if (properties === undefined) return blank(schema);
  const asked = Object.entries(properties).filter(([name]) => required.includes(name));
  return Object.fromEntries(asked.map(([name, field]) => [name, blank(field)]));
}

function takenBy(field: JsonSchema): string {
  const { enum: choices, const: only, type, minimum, maximum, items } = field as Readonly<Record<string, unknown>>;
  if (Array.isArray(choices)) return choices.map(shown).join(" | ");
  if (only !== undefined) return shown(only);
  const kind = kindOf(type);
  if (kind === "a number" || kind === "a whole number") return `${kind}${spanOf(minimum, maximum)}`;
  if (kind === "a list" && typeof items === "object" && items !== null)
    return `a list of ${takenBy(items as JsonSchema)}`;
  return kind;
}

function spanOf(minimum: unknown, maximum: unknown): string {
  const [least, most] = [minimum, maximum].map((end) => (isEnd(end) ? end : undefined));
  if (least !== undefined && most !== undefined) return ` from ${least} to ${most}`;
  if (least !== undefined) return `, at least ${least}`;
  return most === undefined ? "" : `, at most ${most}`;
}

/** A limit such as "any safe integer", which libraries generate, is not shown. */
function isEnd(end: unknown): end is number {
  return typeof end === "number" && Math.abs(end) < Number.MAX_SAFE_INTEGER;
}

const kinds = new Map<unknown, string>([
  ["string", "a string"],
  ["number", "a number"],
  ["integer", "a whole number"],
  ["boolean", "true | false"],
  ["array", "a list"],
  ["object", "an object"],
]);

function kindOf(type: unknown): string {
  return kinds.get(type) ?? "JSON";
}

function shown(choice: unknown): string {
  return typeof choice === "string" ? choice : JSON.stringify(choice);
}

function blank(field: JsonSchema): unknown {
  const { enum: choices, const: only, type, minimum } = field as Readonly<Record<string, unknown>>;
  if (only !== undefined) return only;
  if (Array.isArray(choices)) return choices[0];
  if (type === "integer" || type === "number") return isEnd(minimum) ? minimum : 0;
  if (type === "boolean") return true;
  if (type === "array") return [];
  return type === "object" ? blankLabel(field) : "…";
}
