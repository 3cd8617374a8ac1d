import type { Json } from "../../base/json.ts";

/** A JSON Schema, as OpenAPI 3.1 has them. */
export interface Schema {
  readonly type?: string | readonly string[];
  /** Its name among the schemas of the document; without one it stands wherever it is used. */
  readonly title?: string;
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly (string | null)[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly anyOf?: readonly Schema[];
  readonly $ref?: string;
}

/** A value as it is after its way over the wire: moments are texts. */
export type Wire<T> = T extends Date
  ? string
  : T extends Json // What is JSON already, and may be nested for ever.
    ? T
    : T extends readonly (infer One)[]
      ? Wire<One>[]
      : T extends object
        ? { [Key in keyof T]: Wire<T[Key]> }
        : T;

export const text: Schema = { type: "string" };
export const number: Schema = { type: "number" };
export const whole: Schema = { type: "integer" };
export const flag: Schema = { type: "boolean" };
export const moment: Schema = { type: "string", format: "date-time" };
export const id: Schema = { type: "string", format: "uuid" };
/** Any JSON. */
export const anything: Schema = {};
/** A JSON object whose keys are the user's own. */
export const record: Schema = { type: "object", additionalProperties: true };
/** A length of time: milliseconds, or a text such as `10m`. */
export const duration: Schema = {
  type: ["string", "number"],
  description: "Milliseconds, or a text such as `90s`, `10m`, `2h`, `60d`.",
};
/** A verb that has nothing to tell. */
export const nothing: Schema = { type: "null" };

export function oneOf(...values: readonly string[]): Schema {
  return { type: "string", enum: values };
}

export function listOf(items: Schema): Schema {
  return { type: "array", items };
}

export function mapOf(values: Schema): Schema {
  return { type: "object", additionalProperties: values };
}

export function orNull(schema: Schema): Schema {
  if (schema.title !== undefined) return { anyOf: [schema, { type: "null" }] };
  if (schema.enum !== undefined) return { ...schema, type: ["string", "null"], enum: [...schema.enum, null] };
  if (typeof schema.type === "string") return { ...schema, type: [schema.type, "null"] };
  return { anyOf: [schema, { type: "null" }] };
}

/** One of several shapes. */
export function anyOf(...schemas: readonly Schema[]): Schema {
  return { anyOf: schemas };
}

/** A schema with a name of its own in the document. */
export function named(title: string, schema: Schema): Schema {
  return { ...schema, title };
}

/** An object that has more than another. */
export function withMore<T>(schema: Schema, more: { readonly [Key in keyof T]-?: Schema }): Schema {
  const added = more as Readonly<Record<string, Schema>>;
  return {
    type: "object",
    properties: { ...schema.properties, ...added },
    required: [...(schema.required ?? []), ...Object.keys(added)],
    additionalProperties: false,
  };
}

export function about(schema: Schema, description: string): Schema {
  return { ...schema, description };
}

type Optional<T> = { [Key in keyof T]-?: undefined extends T[Key] ? Key : never }[keyof T];

/**
 * An object. With the type of what is answered, the compiler asks for a schema of each of its properties, and for no
 * others: what is shown and what is documented cannot drift apart.
 */
export function shape<T>(
  properties: { readonly [Key in keyof T]-?: Schema },
  optional?: readonly Optional<T>[],
): Schema {
  const all = properties as Readonly<Record<string, Schema>>;
  const left = (optional ?? []) as readonly string[];
  return {
    type: "object",
    properties: all,
    required: Object.keys(all).filter((name) => !left.includes(name)),
    additionalProperties: false,
  };
}

export function canBeNull(schema: Schema): boolean {
  return [schema.type].flat().includes("null") || (schema.anyOf?.some(canBeNull) ?? Object.keys(schema).length === 0);
}
