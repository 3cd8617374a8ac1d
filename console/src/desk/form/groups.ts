import type { Field, Option } from "./fields.ts";
import { at, type FormValue, type Path, pointerOf, put } from "./form-values.ts";

/** A question that is answered by a digit. */
export interface Group {
  readonly path: Path;
  readonly options: readonly Option[];
  /** Several can hold. */
  readonly many: boolean;
  /** It can be left open, so that the same digit again takes the answer back. */
  readonly optional: boolean;
}

/** The questions of a form in order, as far as they are visible. */
export function groupsIn(field: Field, entered: FormValue, path: Path = [], optional = false): Group[] {
  switch (field.kind) {
    case "choice":
      return field.look === "list"
        ? []
        : [{ path, options: field.options, many: false, optional: optional || field.nullable }];
    case "many":
      return [{ path, options: field.options, many: true, optional: true }];
    case "group":
      return field.entries.flatMap((one) =>
        groupsIn(one.field, (entered as never)?.[one.name], [...path, one.name], !one.required),
      );
    case "list":
      return Array.isArray(entered)
        ? entered.flatMap((item, index) => groupsIn(field.item, item, [...path, index]))
        : [];
    default:
      return [];
  }
}

/** The digit of an option: its number where the options are small numbers, else its place. */
export function digitOf(options: readonly Option[], index: number): number | undefined {
  const isNumbers = options.every(
    ({ value }) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 9,
  );
  const digit = isNumbers ? (options[index]!.value as number) : index + 1;
  return digit <= 9 ? digit : undefined;
}

/** The input after a digit was pressed for a question; undefined if no option has that digit. */
export function pressed(group: Group, digit: number, entered: FormValue): FormValue {
  const index = group.options.findIndex((_, each) => digitOf(group.options, each) === digit);
  return index === -1 ? undefined : chosen(group, group.options[index]!, entered);
}

/** The form after an option was chosen, or taken back where that can be. */
export function chosen(group: Group, option: Option, entered: FormValue): FormValue {
  const before = at(entered, group.path);
  if (!group.many) {
    return put(entered, group.path, group.optional && before === option.value ? undefined : option.value);
  }
  const all: unknown[] = Array.isArray(before) ? before : [];
  const after = group.options
    .map(({ value }) => value)
    .filter((value) => (value === option.value ? !all.includes(value) : all.includes(value)));
  return put(entered, group.path, after);
}

/**
 * The question to which the next digit goes: the one after this one, if it must be answered and is not. Otherwise it
 * stays here, so that another digit corrects the answer and does not land in a question that was not meant.
 */
export function nextFor(groups: readonly Group[], group: Group, entered: FormValue): Group {
  const place = pointerOf(group.path);
  const next = groups[groups.findIndex(({ path }) => pointerOf(path) === place) + 1];
  const isOpen = next !== undefined && !next.optional && at(entered, next.path) === undefined;
  return !group.many && isOpen ? next : group;
}
