import { idAt, type KeyHandler } from "../keys/key-handler.ts";
import type { Labeling } from "../labeling.ts";
import type { Option } from "./fields.ts";
import { at, type Fault, hasSomething, type Path, pointerOf } from "./form-values.ts";
import { chosen } from "./groups.ts";

/** The part of the form that a field needs. */
export interface FormAround {
  readonly labeling: Labeling;
  readonly press: KeyHandler;
}

/** The errors of one field; empty without any, so that screen readers know the element. */
export function FieldErrors({ labeling, path }: { readonly labeling: Labeling; readonly path: Path }) {
  const pointer = pointerOf(path);
  const own = pointer === "" ? [] : labeling.faults.value.filter((fault) => fault.path === pointer);
  return (
    <p id={idAt(pointer, "fault")} class="fault">
      {own.map((fault) => wordsFor(fault, hasSomething(valueAt(labeling, path)))).join(" ")}
    </p>
  );
}

export function isWrong({ faults }: Labeling, path: Path): boolean {
  const pointer = pointerOf(path);
  return pointer !== "" && faults.value.some((fault) => fault.path === pointer);
}

/** The message for an empty field; the library's own message is for programmers. */
const missing = ["required", "type", "enum", "minLength", "minItems", "invalid_type", "invalid_value", "too_small"];

function wordsFor({ message, code }: Fault, isFilled: boolean): string {
  if (!isFilled && missing.includes(code ?? "")) return "Please answer this.";
  const words = message[0]!.toUpperCase() + message.slice(1);
  return /[.!?]$/.test(words) ? words : `${words}.`;
}

/** Chooses by a press or a click, as a digit does. */
export function choose(
  labeling: Labeling,
  path: Path,
  options: readonly Option[],
  option: Option,
  many: boolean,
): void {
  labeling.setAll(chosen({ path, options, many, optional: false }, option, labeling.entered.value));
}

export function valueAt({ entered }: Labeling, path: Path): unknown {
  return at(entered.value, path);
}
