import { type Signal, signal } from "@preact/signals";
import { read, write } from "../../preferences/stored-choice.ts";
import { pointerOf } from "../form/form-values.ts";
import { type Group, groupsIn, nextFor, pressed } from "../form/groups.ts";
import type { Labeling } from "../labeling.ts";
import { type Bound, boundTo, digitIn, type Keys, readKeys, rebound, usualKeys } from "./keys.ts";

/** The id in the page of an element of a field. */
export function idAt(pointer: string, what = "field"): string {
  return `${what}${pointer.replaceAll(/[^\w/-]/g, (one) => `.${one.codePointAt(0)!.toString(16)}.`)}`;
}

/** What keys do at the bench, and to which question a digit goes. */
export class KeyHandler {
  readonly keys = signal<Keys>(readKeys(read("desk.keys")));
  /** The question that digits answer at present, as a JSON Pointer. */
  readonly active = signal<string | undefined>(undefined);
  /** Whether the instructions are open: until the labeler has closed those of this queue. */
  readonly instructions: Signal<boolean>;
  readonly #labeling: Labeling;

  constructor(labeling: Labeling, queue: string) {
    this.#labeling = labeling;
    const kept = `desk.instructions.${queue}`;
    this.instructions = signal(read(kept) !== "closed");
    this.instructions.subscribe((isOpen) => write(kept, isOpen ? "open" : "closed"));
  }

  rebind(name: Bound, key: string): void {
    this.#keep(rebound(this.keys.value, name, key));
  }

  reset(): void {
    this.#keep(usualKeys);
  }

  /** Performs the action of a key; returns the dialog to open. */
  key(event: KeyboardEvent): "help" | "skip" | undefined {
    if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]") !== null)
      return undefined;
    const target = event.target instanceof HTMLElement ? event.target : document.body;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return this.#submit(event);
    if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
    if (event.key === "Escape") target.blur();
    const bound = boundTo(this.keys.value, event.key);
    if (bound === undefined || !reaches(target, event.key)) return undefined;
    if (bound === "submit") return this.#submit(event);
    event.preventDefault();
    if (bound === "help") return "help";
    if (bound === "skip") return this.#labeling.phase.value === "working" ? "skip" : undefined;
    if (bound === "instructions") this.instructions.value = !this.instructions.value;
    else this.#choose(digitIn(bound)!);
    return undefined;
  }

  groups(): Group[] {
    return groupsIn(this.#labeling.form.value, this.#labeling.entered.value);
  }

  /** Where a new form begins: with its first question. */
  focusFirst(): void {
    const [first] = this.groups();
    this.active.value = first === undefined ? undefined : pointerOf(first.path);
    const place = first === undefined ? document.querySelector(".bench-form form") : fieldsetOf(first);
    focusIn(place);
  }

  #submit(event: KeyboardEvent): undefined {
    const { phase } = this.#labeling;
    event.preventDefault();
    if (phase.value === "empty") void this.#labeling.begin();
    // A lost assignment is submitted late by a button only, not by a key that was pressed a moment before.
    else if (phase.value === "working" && !event.repeat) void this.#labeling.submit();
  }

  #choose(digit: number): void {
    const groups = this.groups();
    const group = groups.find(({ path }) => pointerOf(path) === this.active.value) ?? groups[0];
    if (group === undefined) return;
    const entered = pressed(group, digit, this.#labeling.entered.value);
    if (entered === undefined) return;
    this.#labeling.setAll(entered);
    const next = nextFor(groups, group, entered);
    this.active.value = pointerOf(next.path);
    focusIn(fieldsetOf(next));
  }

  #keep(keys: Keys): void {
    this.keys.value = keys;
    write("desk.keys", JSON.stringify(keys));
  }
}

/** A key that a field, a button or a list handles is not for the page. */
function reaches(target: HTMLElement, key: string): boolean {
  if (target instanceof HTMLTextAreaElement || target.isContentEditable) return false;
  if (target instanceof HTMLInputElement && target.type !== "radio" && target.type !== "checkbox")
    return key === "Enter";
  if (target instanceof HTMLSelectElement) return key === "Enter";
  return key !== "Enter" || target.closest("button, a, summary") === null;
}

function fieldsetOf({ path }: Group): Element | null {
  return document.getElementById(idAt(pointerOf(path)));
}

/** Keeps the page from scrolling away from the sample. */
function focusIn(place: Element | null): void {
  const inputs = place?.querySelectorAll<HTMLElement>("input, textarea, select");
  const checked = [...(inputs ?? [])].find((input) => input instanceof HTMLInputElement && input.checked);
  (checked ?? inputs?.[0])?.focus({ preventScroll: true });
}
