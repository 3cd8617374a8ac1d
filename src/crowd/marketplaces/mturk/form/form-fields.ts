import type { Json } from "../../../../base/json.ts";
import type { JsonSchema } from "../../../../definition/schema/json-schema.ts";
import type { Kind } from "./input-names.ts";

/** The field of a form for a part of an answer. */
export type Field = Group | Input;

interface Shown {
  readonly path: readonly string[];
  readonly title: string;
  readonly help: string;
  readonly required: boolean;
}

/** Fields that belong together. */
export interface Group extends Shown {
  readonly shows: "group";
  readonly fields: readonly Field[];
}

/** One input, or the inputs of one list of choices. */
export interface Input extends Shown {
  readonly shows: "choice" | "choices" | "checkbox" | "number" | "text" | "lines";
  readonly kind: Kind;
  readonly choices: readonly Json[];
  /** The JSON value of an empty input; undefined if the field is then omitted. */
  readonly otherwise: Json | undefined;
  readonly schema: JsonSchema;
}

const deepest = 6;

/** The fields of a form. A part without an input of its own is entered as JSON. */
export function fieldsOf(form: JsonSchema): Field {
  return fieldFor(form, { path: [], title: "", help: "", required: true }, form);
}

function fieldFor(given: unknown, place: Shown, root: JsonSchema): Field {
  const { schema, nullable } = settled(given, root);
  const shown = { ...place, title: textOf(schema.title) ?? place.title, help: textOf(schema.description) ?? "" };
  const otherwise = nullable ? null : undefined;
  const input = (shows: Input["shows"], kind: Kind, more: Partial<Input> = {}): Input => {
    return { ...shown, shows, kind, choices: [], otherwise, schema, ...more };
  };
  const choices = choicesOf(schema, root);
  if (choices !== undefined) return input("choice", plainOrJson(choices), { choices });
  const properties = schema.properties;
  // An optional object is entered as JSON: an omitted one would look like one with every box unchecked.
  const isWhole = place.required && !nullable && place.path.length < deepest;
  if (schema.type === "object" && isObject(properties) && isWhole) {
    return { ...shown, shows: "group", fields: fieldsWithin(schema, properties, place.path, root) };
  }
  switch (schema.type) {
    case "boolean":
      return input("checkbox", "boolean", { otherwise: false });
    case "integer":
    case "number":
      return input("number", "number");
    case "string":
      return input("text", place.required && !nullable ? "text" : "optional");
    case "array":
      return listField(schema, input, root);
    default:
      return input("text", "json");
  }
}

function fieldsWithin(
  schema: JsonSchema,
  properties: Readonly<Record<string, unknown>>,
  path: readonly string[],
  root: JsonSchema,
): Field[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(properties).map(([name, inner]) =>
    fieldFor(inner, { path: [...path, name], title: name, help: "", required: required.includes(name) }, root),
  );
}

function listField(
  schema: JsonSchema,
  input: (shows: Input["shows"], kind: Kind, more?: Partial<Input>) => Input,
  root: JsonSchema,
): Input {
  const items = settled(schema.items, root);
  const choices = choicesOf(items.schema, root);
  if (choices !== undefined) return input("choices", plainOrJson(choices), { choices, otherwise: [] });
  const type = items.nullable ? undefined : items.schema.type;
  if (type === "string") return input("lines", "lines");
  if (type === "number" || type === "integer") return input("lines", "numbers");
  return input("text", "json");
}

function plainOrJson(choices: readonly Json[]): Kind {
  return choices.every((choice) => typeof choice === "string") ? "text" : "json";
}

/** A schema without references, and without "or null", which is returned separately. */
function settled(given: unknown, root: JsonSchema): { readonly schema: JsonSchema; readonly nullable: boolean } {
  const schema = resolved(given, root);
  const types = schema.type;
  if (Array.isArray(types) && types.includes("null") && types.length === 2) {
    return { schema: { ...schema, type: types.find((type) => type !== "null") }, nullable: true };
  }
  const ways = branchesOf(schema)?.map((way) => resolved(way, root));
  const notifier = ways?.filter((way) => way.type !== "null");
  const [only] = notifier ?? [];
  if (ways?.length !== 2 || notifier?.length !== 1 || only === undefined) return { schema, nullable: false };
  const { anyOf: _anyOf, oneOf: _oneOf, ...about } = schema;
  return { schema: { ...about, ...only }, nullable: true };
}

/** Follows references within the form; a circular one ends as a schema without constraints. */
function resolved(given: unknown, root: JsonSchema): JsonSchema {
  let schema: unknown = given;
  for (let hops = 0; hops < deepest && isObject(schema); hops++) {
    const reference = schema.$ref;
    if (typeof reference !== "string") return schema;
    const { $ref: _, ...about } = schema;
    const target = targetOf(reference, root);
    schema = isObject(target) ? { ...target, ...about } : {};
  }
  return {};
}

function targetOf(reference: string, root: JsonSchema): unknown {
  const steps = reference.replace(/^#\/?/, "").split("/");
  if (steps[0] === "") return root;
  return steps.reduce<unknown>((at, step) => {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    return isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }, root);
}

function branchesOf({ anyOf, oneOf }: JsonSchema): readonly unknown[] | undefined {
  const ways = anyOf ?? oneOf;
  return Array.isArray(ways) ? ways : undefined;
}

/** All values that a schema allows, if it lists them. */
function choicesOf(schema: JsonSchema, root: JsonSchema, depth = 0): readonly Json[] | undefined {
  if (depth > deepest) return undefined;
  if (Array.isArray(schema.enum)) return schema.enum as Json[];
  if (schema.const !== undefined) return [schema.const as Json];
  const ways = branchesOf(schema)?.map((way) => choicesOf(resolved(way, root), root, depth + 1));
  if (ways === undefined || ways.some((way) => way === undefined)) return undefined;
  return ways.flatMap((way) => way ?? []);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> & JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
