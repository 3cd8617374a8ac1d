import { PawlError } from "./errors.ts";

/** What JSON can carry. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

const maxBytes = 1024 * 1024;
const maxDepth = 64;

/**
 * The JSON text of a value, or `value_unstorable` with the place of the fault. What the database would choke on, what
 * would change silently on its way (dates, NaN, undefined in a list) and what could poison a reader (`__proto__`) is
 * refused here, at the door, so that one bad row never hurts its neighbours.
 */
export function storableText(value: unknown, what: string): string {
  const fault = findFault(value, "", 0);
  if (fault !== undefined) {
    const place = fault.path === "" ? what : `${what}${fault.path}`;
    throw unstorable(place, fault.reason);
  }
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes) {
    throw unstorable(what, `is ${bytes} bytes of JSON, and 1 MiB is the most; store the large part elsewhere`);
  }
  return text;
}

function unstorable(place: string, reason: string): PawlError {
  return new PawlError("value_unstorable", `${place} ${reason}.`, { place, reason });
}

interface Fault {
  readonly path: string;
  readonly reason: string;
}

function findFault(value: unknown, path: string, depth: number): Fault | undefined {
  switch (typeof value) {
    case "string":
      return textFault(value, path);
    case "boolean":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : { path, reason: `is ${value}, which JSON cannot carry` };
    case "object":
      return value === null ? undefined : objectFault(value, path, depth);
    default:
      return { path, reason: `is a ${typeof value}, which JSON cannot carry` };
  }
}

function objectFault(value: object, path: string, depth: number): Fault | undefined {
  if (depth >= maxDepth) return { path: clip(path), reason: `is nested deeper than ${maxDepth} levels` };
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const fault = findFault(value[index], `${path}[${index}]`, depth + 1);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    const name = prototype?.constructor?.name ?? "object";
    return { path, reason: `is a ${name}, which JSON cannot carry; convert it to plain data first` };
  }
  for (const key of Object.keys(value)) {
    const child = (value as Record<string, unknown>)[key];
    if (child === undefined) continue;
    const place = `${path}.${key}`;
    if (key === "__proto__") return { path: place, reason: "is a key that could change the objects of a reader" };
    const fault = textFault(key, place) ?? findFault(child, place, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function textFault(text: string, path: string): Fault | undefined {
  if (text.includes("\u0000"))
    return { path: clip(path), reason: "holds a NUL character, which Postgres cannot store" };
  if (!text.isWellFormed()) return { path: clip(path), reason: "holds half of a surrogate pair, which is not text" };
  return undefined;
}

/** A place is shown to people and logged: bounded, and without what made it faulty. */
function clip(path: string): string {
  const clean = path.replaceAll("\u0000", "\\0").toWellFormed();
  return clean.length > 200 ? `${clean.slice(0, 200)}…` : clean;
}

const maxErrorBytes = 8 * 1024;

/** Any text made storable: recording a failure must not itself be able to fail. */
export function cleanText(text: string, maxLength = maxErrorBytes): string {
  const clean = text.slice(0, maxLength).replaceAll("\u0000", "\uFFFD").toWellFormed();
  return text.length > maxLength ? `${clean}…` : clean;
}
