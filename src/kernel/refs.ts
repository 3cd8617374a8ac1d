import { messageOf, PawlError } from "../base/errors.ts";
import { isId } from "../base/ids.ts";
import { cleanText } from "../base/json.ts";
import { checkedText } from "../base/text.ts";

/** A reference to an instance. */
export type Ref = { readonly id: string } | { readonly key: string };

/** Which instance a caller means: a key, `{ key }` or `{ id }`. */
export function refOf(given: unknown): Ref {
  if (typeof given === "string") return { key: checkedText(given, "The key", "key_invalid") };
  if (given instanceof Object && "id" in given) {
    const id = typeof given.id === "string" ? given.id.toLowerCase() : given.id;
    if (isId(id)) return { id };
    const shown = cleanText(messageOf(given.id), 100);
    throw new PawlError("option_invalid", `"${shown}" is not an instance's id; a key is passed as a plain string.`);
  }
  if (given instanceof Object && "key" in given) return { key: checkedText(given.key, "The key", "key_invalid") };
  throw new PawlError("option_invalid", "Name the instance by its key, as a string, or by { id }.");
}
