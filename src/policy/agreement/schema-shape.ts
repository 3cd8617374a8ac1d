import type { Json } from "../../base/json.ts";
import type { Answer, LabelShape } from "./label-shape.ts";

type Schema = Readonly<Record<string, unknown>>;

/**
 * Reads from a JSON Schema how to compare labels: which fields are choices, numbers, lists of choices or free text.
 * Three keywords are its own: `x-ordered: true` on an enum whose values go from the least to the most, `x-tolerance:
 * 0.5` on a number, and `x-consensus: "mean"` instead of the median.
 *
 * ```ts
 * agreementOf(labels, labelShape(essays.form));
 * ```
 */
export function labelShape(schema: Schema): LabelShape {
  const read = (given: unknown) => resolved(given, schema);
  const root = read(schema);
  if (!isObject(root.properties)) return answerOf(root, read);
  const required = Array.isArray(root.required) ? root.required : [];
  const fields = Object.entries(root.properties).map(([name, field]): [string, Answer] => {
    return [name, { ...answerOf(read(field), read), optional: !required.includes(name) }];
  });
  return { kind: "fields", fields: Object.fromEntries(fields) };
}

function answerOf(schema: Schema, read: (given: unknown) => Schema): Answer {
  const choices = choicesOf(schema, read);
  if (choices !== undefined) {
    return schema["x-ordered"] === true ? { kind: "categorical", order: choices } : { kind: "categorical" };
  }
  if (schema.type === "number" || schema.type === "integer") return numericOf(schema);
  if (schema.type === "array") return choicesOfItems(schema, read) ? { kind: "multiple" } : { kind: "categorical" };
  return { kind: schema.type === "string" ? "text" : "categorical" };
}

function numericOf(schema: Schema): Answer {
  const [least, most] = [
    limit(schema.minimum, schema.exclusiveMinimum),
    limit(schema.maximum, schema.exclusiveMaximum),
  ];
  const tolerance = schema["x-tolerance"];
  return {
    kind: "numeric",
    ...(schema.type === "integer" ? { integer: true } : {}),
    ...(least !== undefined && most !== undefined && least < most ? { range: [least, most] } : {}),
    ...(typeof tolerance === "number" ? { tolerance } : {}),
    ...(schema["x-consensus"] === "mean" ? { by: "mean" } : {}),
  };
}

/** Some libraries write the limits of safe integers, which have no meaning here. */
function limit(inclusive: unknown, exclusive: unknown): number | undefined {
  const given = typeof inclusive === "number" ? inclusive : exclusive;
  return typeof given === "number" && Math.abs(given) < Number.MAX_SAFE_INTEGER ? given : undefined;
}

/** The values between which a labeler chooses, where the schema lists them. */
function choicesOf(schema: Schema, read: (given: unknown) => Schema): readonly Json[] | undefined {
  if (Array.isArray(schema.enum)) return schema.enum;
  if (schema.const !== undefined) return [schema.const as Json];
  if (schema.type === "boolean") return [false, true];
  const ways = alternativesOf(schema);
  const choices = ways.map((way) => choicesOf(read(way), read));
  return ways.length > 0 && choices.every((each) => each !== undefined) ? choices.flat() : undefined;
}

function choicesOfItems(schema: Schema, read: (given: unknown) => Schema): boolean {
  return schema.uniqueItems === true || (isObject(schema.items) && choicesOf(read(schema.items), read) !== undefined);
}

function alternativesOf(schema: Schema): readonly unknown[] {
  return Array.isArray(schema.anyOf) ? schema.anyOf : Array.isArray(schema.oneOf) ? schema.oneOf : [];
}

const maxSteps = 20;

/** A schema with its references resolved; of a nullable schema (`anyOf: […, { type: "null" }]`) the other part. */
function resolved(given: unknown, root: Schema, steps = maxSteps): Schema {
  if (!isObject(given) || steps === 0) return {};
  if (typeof given.$ref === "string") return resolved(partOf(root, given.$ref), root, steps - 1);
  const ways = alternativesOf(given).filter((way) => !(isObject(way) && way.type === "null"));
  if (ways.length === 1 && alternativesOf(given).length === 2) return resolved(ways[0], root, steps - 1);
  if (!Array.isArray(given.type)) return given;
  const types = given.type.filter((type) => type !== "null");
  return types.length === 1 ? { ...given, type: types[0] } : given;
}

function partOf(root: Schema, reference: string): unknown {
  const keys = reference.replace(/^#\/?/, "").split("/");
  if (keys[0] === "") return root;
  return keys.reduce<unknown>((part, key) => {
    const name = decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof part !== "object" || part === null || !Object.hasOwn(part, name)) return undefined;
    return (part as Schema)[name];
  }, root);
}

function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
