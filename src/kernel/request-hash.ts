import { createHash } from "node:crypto";
import { messageOf, PawlError } from "../base/errors.ts";
import { cleanText } from "../base/json.ts";

/** Distinguishes requests with one idempotency key: the same content has the same hash in any order of its keys. */
export function requestHash(event: string, payload: unknown, delay: unknown): string {
  let text: string;
  try {
    text = JSON.stringify([event, payload ?? null, delay ?? null], inOrder);
  } catch (thrown) {
    const reason = cleanText(messageOf(thrown), 200);
    throw new PawlError("value_not_serializable", `The payload of \`${event}\` cannot be written as JSON: ${reason}.`);
  }
  return createHash("sha256").update(text).digest("base64url").slice(0, 27);
}

function inOrder(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
