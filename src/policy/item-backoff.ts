const firstMs = 60_000;
const longestMs = 3_600_000;
/** More than these are not remembered; the oldest are tried again early. */
const mostItems = 10_000;

interface Failing {
  readonly failures: number;
  readonly untilMs: number;
}

/** Items of a round that failed, each with a pause of its own that grows. */
export class ItemBackoff {
  readonly #items = new Map<string, Failing>();

  failed(id: string, nowMs: number): void {
    const failures = (this.#items.get(id)?.failures ?? 0) + 1;
    this.#items.delete(id);
    this.#items.set(id, { failures, untilMs: nowMs + Math.min(longestMs, firstMs * 2 ** (failures - 1)) });
    if (this.#items.size > mostItems) this.#items.delete(this.#items.keys().next().value!);
  }

  succeeded(id: string): void {
    this.#items.delete(id);
  }

  /** Those that are not to be tried now. One that did not fail again for long is forgotten. */
  resting(nowMs: number): string[] {
    const ids: string[] = [];
    for (const [id, { untilMs }] of this.#items) {
      if (untilMs > nowMs) ids.push(id);
      else if (untilMs + 2 * longestMs < nowMs) this.#items.delete(id);
    }
    return ids;
  }
}
