import type { StandardSchemaV1 } from "@standard-schema/spec";
import { PawlError } from "../base/errors.ts";

export interface Validated {
  readonly value: unknown;
  readonly faults: readonly string[] | undefined;
}

/** A value held against a schema of whichever library. Without a schema there must be no value. */
export function validate(schema: StandardSchemaV1 | undefined, value: unknown, what: string): Validated {
  if (schema === undefined) {
    const empty = value === undefined || value === null || isEmptyObject(value);
    return empty ? { value: undefined, faults: undefined } : { value, faults: ["is given, but none is declared"] };
  }
  const result = schema["~standard"].validate(value);
  if (result instanceof Promise) {
    throw new PawlError(
      "schema_async",
      `${what} has a schema that validates asynchronously; decisions are made in one breath, so use a synchronous one.`,
    );
  }
  if (result.issues === undefined) return { value: result.value, faults: undefined };
  return { value: undefined, faults: result.issues.map(sentence) };
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === "object" && !Array.isArray(value) && Object.keys(value as object).length === 0;
}

function sentence(issue: StandardSchemaV1.Issue): string {
  const path = (issue.path ?? [])
    .map((segment) => String(typeof segment === "object" ? segment.key : segment))
    .join(".");
  return path === "" ? issue.message : `${path}: ${issue.message}`;
}
