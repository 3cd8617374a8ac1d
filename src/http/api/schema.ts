import type { Duration } from "../../base/duration.ts";
import type { Json } from "../../base/json.ts";

declare const type: unique symbol;

/** A JSON Schema, as OpenAPI 3.1 has them, of values of the type `T`. */
export interface Schema<out T = unknown> {
  /** For the compiler alone. */
  readonly [type]?: T;
  readonly type?: string | readonly string[];
  /** Its name among the schemas of the document; a schema without a name is inlined. */
  readonly title?: string;
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly (string | null)[];
  readonly items?: Schema;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly anyOf?: readonly Schema[];
  readonly $ref?: string;
}

/** The type of the values that a schema describes, as JSON carries them. */
export type TypeOf<S> = S extends Schema<infer T> ? T : never;

/** A value after its way over the wire: moments are texts. */
export type Wire<T> = T extends Date
  ? string
  : T extends Json // Any JSON, of any depth.
    ? T
    : T extends readonly (infer One)[]
      ? Wire<One>[]
      : T extends object
        ? { [Key in keyof T]: Wire<T[Key]> }
        : T;

export const text: Schema<string> = { type: "string" };
export const number: Schema<number> = { type: "number" };
export const whole: Schema<number> = { type: "integer" };
export const flag: Schema<boolean> = { type: "boolean" };
export const moment: Schema<string> & { readonly format: "date-time" } = { type: "string", format: "date-time" };
export const id: Schema<string> = { type: "string", format: "uuid" };
/** Any JSON. */
export const anything: Schema = {};
/** A JSON object whose keys are the user's own. */
export const record: Schema<Record<string, unknown>> = { type: "object", additionalProperties: true };
/** A length of time: milliseconds, or a text such as `10m`. */
export const duration: Schema<Duration> = {
  type: ["string", "number"],
  description: "Milliseconds, or a string such as `90s`, `10m`, `2h`, `60d`.",
};
/** The answer of a call that returns nothing. */
export const nothing: Schema<null> = { type: "null" };

export function oneOf<const T extends string>(...values: readonly T[]): Schema<T> {
  return { type: "string", enum: values };
}

export function listOf<T>(items: Schema<T>, maxItems?: number): Schema<T[]> {
  return { type: "array", items, ...(maxItems !== undefined && { maxItems }) };
}

export function mapOf<T>(values: Schema<T>): Schema<Record<string, T>> {
  return { type: "object", additionalProperties: values };
}

export function orNull<T>(schema: Schema<T>): Schema<T | null> {
  if (schema.title !== undefined) return { anyOf: [schema, { type: "null" }] };
  if (schema.enum !== undefined) return { ...schema, type: ["string", "null"], enum: [...schema.enum, null] };
  if (typeof schema.type === "string") return { ...schema, type: [schema.type, "null"] };
  return { anyOf: [schema, { type: "null" }] };
}

/** One of several shapes. */
export function anyOf<const S extends readonly Schema[]>(...schemas: S): Schema<TypeOf<S[number]>> {
  return { anyOf: schemas };
}

/** A schema with a name of its own in the document. */
export function named<S extends Schema>(title: string, schema: S): S {
  return { ...schema, title };
}

/** An object that has more than another. */
export function withMore<T, More extends Readonly<Record<string, Schema>>>(
  schema: Schema<T>,
  more: More,
): Schema<T & { readonly [Name in keyof More]: TypeOf<More[Name]> }> {
  return {
    type: "object",
    properties: { ...schema.properties, ...more },
    required: [...(schema.required ?? []), ...Object.keys(more)],
    additionalProperties: false,
  };
}

export function about<S extends Schema>(schema: S, description: string): S {
  return { ...schema, description };
}

type Optional<T> = { [Key in keyof T]-?: undefined extends T[Key] ? Key : never }[keyof T];

/**
 * An object. Given the type of the answer, the compiler requires a schema for each of its properties, and for no
 * others: types and document cannot drift apart.
 */
export function shape<T>(
  properties: { readonly [Key in keyof T]-?: Schema },
  optional?: readonly Optional<T>[],
): Schema<T> {
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
