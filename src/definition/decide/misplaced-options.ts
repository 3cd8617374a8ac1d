import type { StandardSchemaV1 } from "@standard-schema/spec";
import { PawlError } from "../../base/errors.ts";
import { acceptsNothing } from "../read/read.ts";
import { isPlainObject } from "./move.ts";
import { validate } from "./validate.ts";

/**
 * Refuses options in the place of an optional payload: as payload they would be stored, or dropped by the schema, and the
 * call would ignore them. What the schema keeps is a payload.
 */
export function refuseMisplacedOptions(
  payload: unknown,
  known: readonly string[],
  { schema, call, remedy }: { readonly schema: StandardSchemaV1 | undefined; call: string; remedy: string },
): void {
  if (!isPlainObject(payload)) return;
  const keys = Object.keys(payload);
  if (keys.length === 0 || !keys.every((key) => known.includes(key)) || !acceptsNothing(schema)) return;
  const { value, faults } = validate(schema, payload, "The payload");
  const isKept = isPlainObject(value) && keys.some((key) => Object.hasOwn(value, key));
  if (schema !== undefined && (faults !== undefined || isKept)) return;
  throw misplaced(keys, call, remedy);
}

export function misplaced(keys: readonly string[], call: string, remedy: string): PawlError {
  const names = keys.map((key) => `\`${key}\``).join(", ");
  return new PawlError("option_invalid", `${call} has options (${names}) in the place of its payload. ${remedy}`);
}
