import type { StandardSchemaV1 } from "@standard-schema/spec";
import { messageOf, PawlError } from "../../base/errors.ts";
import { ignoreRejection, isThenable } from "../../base/guard.ts";
import { cleanText, isTooDeep, tooDeep } from "../../base/json.ts";

export interface Validated {
  readonly value: unknown;
  readonly faults: readonly string[] | undefined;
}

/** Validates a value against a schema of any library. Without a schema there must be no value. */
export function validate(schema: StandardSchemaV1 | undefined, value: unknown, what: string): Validated {
  if (schema === undefined) {
    const empty = value === undefined || value === null || isEmptyObject(value);
    return empty ? { value: undefined, faults: undefined } : { value, faults: ["is given, but none is declared"] };
  }
  let result: ReturnType<StandardSchemaV1["~standard"]["validate"]>;
  try {
    result = schema["~standard"].validate(value);
  } catch (thrown) {
    return { value: undefined, faults: [`cannot be checked, its schema threw: ${cleanText(messageOf(thrown), 500)}`] };
  }
  if (isThenable(result)) {
    ignoreRejection(result);
    // Some libraries retry asynchronously when deep nesting breaks their recursion.
    if (isTooDeep(value)) return { value: undefined, faults: [tooDeep] };
    throw new PawlError(
      "schema_async",
      `${what} has a schema that validates asynchronously; decisions are made in one breath, so use a synchronous one.`,
    );
  }
  if (typeof result !== "object" || result === null || !("value" in result || "issues" in result))
    return { value: undefined, faults: ["cannot be checked, its schema returned no result"] };
  if (result.issues === undefined) return { value: result.value, faults: undefined };
  return { value: undefined, faults: [...result.issues].map(sentence) };
}

function isEmptyObject(value: unknown): boolean {
  return Object.prototype.toString.call(value) === "[object Object]" && Object.keys(value as object).length === 0;
}

function sentence(issue: StandardSchemaV1.Issue): string {
  const path = (issue.path ?? [])
    .map((segment) => String(typeof segment === "object" ? segment.key : segment))
    .join(".");
  return cleanText([path, issue.message].filter((part) => part !== "").join(": "), 500);
}
