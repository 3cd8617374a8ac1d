import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import type { JsonSchema } from "./json-schema.ts";

type Converted = StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>;

/** Whether a library can write its schemas as JSON Schemas. */
export function isConvertible(schema: StandardSchemaV1): boolean {
  const standard: Converted = schema["~standard"];
  return typeof standard.jsonSchema?.input === "function";
}

/** The JSON Schema of a library's schema, of what it takes or of what it returns. Throws what the library throws. */
export function toJsonSchema(schema: StandardSchemaV1, side: "input" | "output"): JsonSchema {
  const standard: Converted = schema["~standard"];
  return standard.jsonSchema![side]({ target: "draft-2020-12" });
}

/** The same; undefined if there is none. */
export function jsonSchemaOf(schema: StandardSchemaV1 | undefined, side: "input" | "output"): JsonSchema | undefined {
  if (schema === undefined || !isConvertible(schema)) return undefined;
  try {
    return toJsonSchema(schema, side);
  } catch {
    return undefined; // It has a part that JSON Schema cannot express, such as a transformation.
  }
}
