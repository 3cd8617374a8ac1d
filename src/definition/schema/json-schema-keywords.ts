import { canonicalJson } from "../../base/canonical-json.ts";
import { messageOf } from "../../base/errors.ts";
import type { Json } from "../../base/json.ts";
import { list } from "../read/fault.ts";

/** What to write instead of a value, or undefined when it is well. `depth` is 1 at the top of the schema. */
type KeywordReader = (value: unknown, depth: number) => string | undefined;

const dialect = "https://json-schema.org/draft/2020-12/schema";
const maxPatternLength = 500;

/** Keywords that hold one schema, a list of schemas, or schemas by name. */
export const single = [
  "not",
  "if",
  "then",
  "else",
  "items",
  "contains",
  "additionalProperties",
  "propertyNames",
  "unevaluatedItems",
  "unevaluatedProperties",
  "contentSchema",
];
export const many = ["allOf", "anyOf", "oneOf", "prefixItems"];
export const named = ["$defs", "definitions", "properties", "patternProperties", "dependentSchemas"];
/** Those of them that apply to the value itself, not to a part of it. */
export const inPlace = ["not", "if", "then", "else", "allOf", "anyOf", "oneOf"];

const types = ["null", "boolean", "object", "array", "number", "integer", "string"];
const must = (holds: (value: unknown) => boolean, remedy: string): KeywordReader => {
  return (value) => (holds(value) ? undefined : remedy);
};
const anything = must(() => true, "");
const text = must((value) => typeof value === "string", "Write a text.");
const boolean = must((value) => typeof value === "boolean", "Write true or false.");
const number = must((value) => typeof value === "number", "Write a number.");
const count = must((value) => Number.isInteger(value) && (value as number) >= 0, "Write a whole number from 0.");
const anyList = must(Array.isArray, "Write a list.");
const isNames = (value: unknown) =>
  Array.isArray(value) && value.every((name) => typeof name === "string") && new Set(value).size === value.length;
const names = must(isNames, "Write a list of different names.");

export const pattern: KeywordReader = (value) => {
  if (typeof value !== "string") return "Write a regular expression as a text.";
  if (value.length > maxPatternLength) return `Write a pattern of at most ${maxPatternLength} characters.`;
  try {
    new RegExp(value, "u");
    return undefined;
  } catch (error) {
    return `Write a regular expression of JavaScript: ${messageOf(error)}.`;
  }
};

const type = must(
  (value) => {
    if (typeof value === "string") return types.includes(value);
    return (
      isNames(value) && (value as string[]).length > 0 && (value as string[]).every((each) => types.includes(each))
    );
  },
  `Write one of ${list(types)}, or a list of them.`,
);

const enumeration = must((value) => {
  if (!Array.isArray(value) || value.length === 0) return false;
  return new Set((value as Json[]).map(canonicalJson)).size === value.length;
}, "Write a list of different values, at least one.");

const atRoot = (reader: KeywordReader): KeywordReader => {
  return (value, depth) => (depth === 1 ? reader(value, depth) : "Write it at the top of the schema only.");
};

/** All other keywords, with what their values must be. */
export const values: Readonly<Record<string, KeywordReader>> = {
  $schema: atRoot(must((value) => value === dialect || value === `${dialect}#`, `Write "${dialect}", or nothing.`)),
  $id: atRoot(text),
  $ref: must(
    (value) => typeof value === "string" && value.startsWith("#"),
    'Nothing is fetched: write a reference within the schema, such as "#/$defs/name".',
  ),
  $anchor: must((value) => /^[A-Za-z_][-A-Za-z0-9._]*$/.test(String(value)), "Write a name."),
  $comment: text,
  type,
  const: anything,
  enum: enumeration,
  multipleOf: must((value) => typeof value === "number" && value > 0, "Write a number above 0."),
  maximum: number,
  exclusiveMaximum: number,
  minimum: number,
  exclusiveMinimum: number,
  maxLength: count,
  minLength: count,
  pattern,
  maxItems: count,
  minItems: count,
  uniqueItems: boolean,
  maxContains: count,
  minContains: count,
  maxProperties: count,
  minProperties: count,
  required: names,
  dependentRequired: must(
    (value) => typeof value === "object" && value !== null && Object.values(value).every(isNames),
    "Write an object of lists of names.",
  ),
  format: text,
  contentEncoding: text,
  contentMediaType: text,
  title: text,
  description: text,
  default: anything,
  deprecated: boolean,
  readOnly: boolean,
  writeOnly: boolean,
  examples: anyList,
};
