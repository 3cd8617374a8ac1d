import { formatDuration } from "../../base/duration.ts";
import type { NamedInstance } from "../instances.ts";

/** The known data of an instance, which may not have been seen so far. */
interface Unnamed {
  readonly id: string;
  readonly lifecycle: string;
  readonly key: string | null;
  readonly parent: { readonly lifecycle: string; readonly id: string } | null;
}

/** What happened in a run, a sentence each, with the time that passed before it. Instances go by their names. */
export class Story {
  readonly #lines: string[] = [];
  readonly #names = new Map<string, string>();
  readonly #nowMs: () => number;
  #toldMs: number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#toldMs = nowMs();
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  add(line: string): void {
    const passedMs = this.#nowMs() - this.#toldMs;
    this.#toldMs += passedMs;
    this.#lines.push(`${passedMs > 0 ? `${roundedText(passedMs)} later: ` : ""}${this.withNames(line)}`);
  }

  know(instances: readonly NamedInstance[]): void {
    for (const { id, name } of instances) this.#names.set(id, name);
  }

  /** How an instance is called; one that was not seen so far by its key and its parent. */
  nameOf({ id, lifecycle, key, parent }: Unnamed): string {
    const known = this.#names.get(id);
    if (known !== undefined) return known;
    const own = key === null ? lifecycle : `${lifecycle} ${JSON.stringify(key)}`;
    const name = parent === null ? own : `${own} of ${this.#names.get(parent.id) ?? parent.lifecycle}`;
    this.#names.set(id, name);
    return name;
  }

  /** A text with names in the place of ids. */
  withNames(text: string): string {
    let named = text;
    for (const [id, name] of this.#names) named = named.replaceAll(id, name);
    return named;
  }
}

/** To the second, since backoffs make odd numbers. */
function roundedText(ms: number): string {
  return formatDuration(ms < 1_000 ? ms : Math.round(ms / 1_000) * 1_000);
}

/** Of a longer story the middle is left out. */
const maxLines = 60;

/** A story as it is printed. */
export function storyText(lines: readonly string[]): string[] {
  const width = String(lines.length).length;
  const numbered = lines.map((line, index) => `${String(index + 1).padStart(width)}. ${line}`);
  if (numbered.length <= maxLines) return numbered;
  const head = Math.floor(maxLines / 2);
  const left = numbered.length - maxLines;
  return [...numbered.slice(0, head), `… ${left} more lines …`, ...numbered.slice(head + left)];
}
