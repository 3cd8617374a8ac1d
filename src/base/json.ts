import { PawlError } from "./errors.ts";

/** What JSON can carry. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

const maxBytes = 1024 * 1024;
const maxDepth = 64;
export const tooDeep = `is nested deeper than ${maxDepth} levels, or contains itself`;
const tooLarge = "is over 1 MiB of JSON, which is the limit; store the large part elsewhere";

/**
 * The JSON text of a value, or `value_not_serializable` with the path of the fault. Values that the database would
 * refuse, that would change silently (dates, NaN, undefined in a list) and that could poison a reader (`__proto__`) are
 * refused here, before anything is written, so that one bad row cannot fail others.
 */
export function storableText(value: unknown, what: string): string {
  const fault = findFault(value, "", 0, { left: maxBytes });
  if (fault !== undefined) throw unstorable(`${what}${clip(fault.path)}`, fault.reason);
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) > maxBytes) throw unstorable(what, tooLarge);
  return text;
}

function unstorable(place: string, reason: string): PawlError {
  return new PawlError("value_not_serializable", `${place} ${reason}.`, { place, reason });
}

interface Fault {
  readonly path: string;
  readonly reason: string;
}

/** The minimum size of the JSON: objects that share parts can be far larger than they seem. */
interface Budget {
  left: number;
}

function findFault(value: unknown, path: string, depth: number, budget: Budget): Fault | undefined {
  if (--budget.left < 0) return { path: "", reason: tooLarge };
  switch (typeof value) {
    case "string":
      return textFault(value, path, budget);
    case "boolean":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : { path, reason: `is ${value}, which JSON cannot carry` };
    case "object":
      return value === null ? undefined : objectFault(value, path, depth, budget);
    default:
      return { path, reason: `is a ${typeof value}, which JSON cannot carry` };
  }
}

function objectFault(value: object, path: string, depth: number, budget: Budget): Fault | undefined {
  if (depth >= maxDepth) return { path, reason: tooDeep };
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const fault = findFault(value[index], `${path}[${index}]`, depth + 1, budget);
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
    const fault = textFault(key, place, budget) ?? findFault(child, place, depth + 1, budget);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Whether a value is nested deeper than can be stored, or contains itself. Level by level, so that it ends in any case. */
export function isTooDeep(value: unknown): boolean {
  let level = objectsIn([value]);
  for (let depth = 0; depth < maxDepth && level.size > 0; depth++) {
    level = objectsIn([...level].flatMap((each) => Object.values(each)));
  }
  return level.size > 0;
}

function objectsIn(values: readonly unknown[]): Set<object> {
  return new Set(values.filter((value): value is object => typeof value === "object" && value !== null));
}

function textFault(text: string, path: string, budget: Budget): Fault | undefined {
  budget.left -= text.length;
  if (budget.left < 0) return { path: "", reason: tooLarge };
  if (text.includes("\u0000")) return { path, reason: "holds a NUL character, which Postgres cannot store" };
  if (!text.isWellFormed()) return { path, reason: "holds half of a surrogate pair, which is not text" };
  return undefined;
}

/** A place is shown to people and logged: bounded, and without what made it faulty. */
function clip(path: string): string {
  const start = path.length > 200 ? `${path.slice(0, 200)}…` : path;
  return start.replaceAll("\u0000", "\\0").toWellFormed();
}

const maxErrorBytes = 8 * 1024;

/** Any text made storable: recording a failure must not itself be able to fail. */
export function cleanText(text: string, maxLength = maxErrorBytes): string {
  const clean = text.slice(0, maxLength).replaceAll("\u0000", "\uFFFD").toWellFormed();
  return text.length > maxLength ? `${clean}…` : clean;
}
