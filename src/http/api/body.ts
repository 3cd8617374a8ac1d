import type { Context } from "hono";
import { messageOf, PawlError } from "../../base/errors.ts";

/** The longest request that is read. */
export const maxRequestBytes = 1024 * 1024;

/** Whether the body of a request is JSON. A form, which any page could send in a principal's name, is not. */
export function isJson(context: Context): boolean {
  const type = context.req.header("content-type") ?? "";
  return /^application\/(?:[\w.+-]+\+)?json\b/i.test(type) && context.req.header("content-encoding") === undefined;
}

/** Reads the body of a request: a JSON object, as names and values. */
export function parseObject(text: string): ReadonlyMap<string, unknown> {
  const given = parseJson(text);
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw new PawlError("option_invalid", "The body must be a JSON object.");
  return new Map(Object.entries(given));
}

/** JSON without the one key that could change the objects of a reader. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, (key, value) => {
      if (key === "__proto__") throw new PawlError("option_invalid", "The key `__proto__` is not allowed.");
      return value;
    });
  } catch (error) {
    if (error instanceof PawlError) throw error;
    throw new PawlError("option_invalid", `The request body is not JSON: ${messageOf(error)}.`);
  }
}
