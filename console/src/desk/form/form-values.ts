import { isSchema } from "../../parts/sample/words.ts";
import type { Field } from "./fields.ts";

/**
 * The input of a field: the value of a choice, the text of a text or JSON field, a list, or an object of these;
 * undefined if empty. Stored as the draft.
 */
export type FormValue = unknown;

/** The way from the whole form to a field. */
export type Path = readonly (string | number)[];

export interface Fault {
  /** A JSON Pointer. */
  readonly path: string;
  readonly message: string;
  /** The code of the fault, from the server. */
  readonly code?: string;
}

/** The value of a field before any input. */
export function blank(field: Field): FormValue {
  if (field.initial !== undefined) return fromLabel(field, field.initial);
  if (field.kind === "group") return Object.fromEntries(field.entries.map((one) => [one.name, blank(one.field)]));
  if (field.kind === "list") return Array.from({ length: Math.min(field.least, 50) }, () => blank(field.item));
  return undefined;
}

/** The input that would produce a label: to correct an earlier one. */
export function fromLabel(field: Field, label: unknown): FormValue {
  return fitted(field, label, (value) => (value === undefined ? undefined : JSON.stringify(value, undefined, 2)));
}

/** A draft, as far as it fits: the schema of its queue may have changed since. */
export function fromDraft(field: Field, draft: unknown): FormValue {
  return fitted(field, draft, (value) => (typeof value === "string" ? value : undefined));
}

/** The initial input: the draft, the label to correct, or nothing. */
export function beginning(
  field: Field,
  draft: { readonly value: unknown } | null,
  revised: { readonly value: unknown } | null,
): FormValue {
  if (draft !== null) return fromDraft(field, draft.value);
  return revised === null ? blank(field) : fromLabel(field, revised.value);
}

function fitted(field: Field, value: unknown, asJson: (value: unknown) => string | undefined): FormValue {
  switch (field.kind) {
    case "choice":
      return field.options.find((option) => option.value === value)?.value;
    case "many": {
      const all = Array.isArray(value) ? value : [];
      return field.options.map((option) => option.value).filter((one) => all.includes(one));
    }
    case "number":
      return typeof value === "number" ? value : undefined;
    case "text":
      return typeof value === "string" ? value : undefined;
    case "list":
      return Array.isArray(value) ? value.map((item) => fitted(field.item, item, asJson)) : blank(field);
    case "group": {
      const parts = isSchema(value) ? value : {};
      return Object.fromEntries(field.entries.map((one) => [one.name, fitted(one.field, parts[one.name], asJson)]));
    }
    default:
      return asJson(value);
  }
}

/** The label of an input, and the faults that can be found here; the server finds the others. */
export function labelOf(
  field: Field,
  entered: FormValue,
): { readonly label: unknown; readonly faults: readonly Fault[] } {
  const faults: Fault[] = [];
  const label = labelAt(field, entered, true, [], faults);
  // An empty answer to the only question cannot be sent; all others the server misses at their places.
  if (label === undefined && faults.length === 0) faults.push({ path: "", message: "is missing" });
  return { label, faults };
}

/** Undefined is left out of the object around it. */
function labelAt(field: Field, entered: FormValue, required: boolean, path: Path, faults: Fault[]): unknown {
  const made = madeOf(field, entered, required, path, faults);
  return made === undefined && required && field.nullable ? null : made;
}

function madeOf(field: Field, entered: FormValue, required: boolean, path: Path, faults: Fault[]): unknown {
  switch (field.kind) {
    case "choice":
    case "number":
      return entered;
    case "text":
      return entered === undefined || entered === "" ? (required && !field.nullable ? "" : undefined) : entered;
    case "many":
      return Array.isArray(entered) && entered.length > 0 ? entered : required ? [] : undefined;
    case "list": {
      const items = Array.isArray(entered) ? entered : [];
      if (items.length === 0) return required ? [] : undefined;
      return items.map((item, index) => labelAt(field.item, item, true, [...path, index], faults));
    }
    case "group":
      return groupOf(field.entries, entered, required, path, faults);
    default:
      return parsed(entered, path, faults);
  }
}

type Entries = Extract<Field, { kind: "group" }>["entries"];

function groupOf(entries: Entries, entered: FormValue, required: boolean, path: Path, faults: Fault[]): unknown {
  const parts = isSchema(entered) ? entered : {};
  // An optional part without input requires nothing, whatever is required within it.
  if (!required && !Object.values(parts).some(hasSomething)) return undefined;
  const made = entries.flatMap(({ name, field, required: needed }) => {
    const value = labelAt(field, parts[name], needed, [...path, name], faults);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(made);
}

function parsed(entered: FormValue, path: Path, faults: Fault[]): unknown {
  if (typeof entered !== "string" || entered.trim() === "") return undefined;
  try {
    return JSON.parse(entered) as unknown;
  } catch (error) {
    const message = `is not JSON: ${error instanceof Error ? error.message : String(error)}`;
    faults.push({ path: pointerOf(path), message });
    return undefined;
  }
}

/** Whether there is any input. */
export function hasSomething(entered: FormValue): boolean {
  if (entered === undefined || entered === null || entered === "") return false;
  if (typeof entered === "object") return Object.values(entered).some(hasSomething);
  return true;
}

export function at(entered: FormValue, path: Path): FormValue {
  let found = entered;
  for (const step of path) found = typeof found === "object" && found !== null ? (found as never)[step] : undefined;
  return found;
}

/** The same input with another value at this path. */
export function put(entered: FormValue, path: Path, value: FormValue): FormValue {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (typeof step === "number") {
    const items: unknown[] = Array.isArray(entered) ? [...entered] : [];
    items[step] = put(items[step], rest, value);
    return items;
  }
  const parts = isSchema(entered) ? entered : {};
  return { ...parts, [step]: put(parts[step], rest, value) };
}

/** A path in the form of the server. */
export function pointerOf(path: Path): string {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
