import { effect, type Signal, signal } from "@preact/signals";

/** A choice that the browser stores, such as dark or light. A stored value that is no longer offered is ignored. */
export function storedChoice<Choice extends string>(name: string, choices: readonly Choice[]): Signal<Choice> {
  const found = choices.find((choice) => choice === read(name));
  const chosen = signal(found ?? choices[0]!);
  effect(() => write(name, chosen.value));
  return chosen;
}

/** Undefined also if the browser blocks storage. */
export function read(name: string): string | undefined {
  try {
    return localStorage.getItem(`pawl.${name}`) ?? undefined;
  } catch {
    return undefined;
  }
}

export function write(name: string, value: string): void {
  try {
    localStorage.setItem(`pawl.${name}`, value);
  } catch {
    // The choice then lasts as long as the page.
  }
}

/** The one after this, and after the last the first. */
export function nextChoice<Choice>(choices: readonly Choice[], chosen: Choice): Choice {
  return choices[(choices.indexOf(chosen) + 1) % choices.length]!;
}
