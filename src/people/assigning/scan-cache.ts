import type { NoWorkReason } from "./no-work-reason.ts";
import type { ScanPosition } from "./queue-scan.ts";

const maxKept = 100_000;

/** The scan position of each labeler in each queue. */
export class ScanPositions {
  readonly #marks = new Map<string, ScanPosition>();

  get(name: string): ScanPosition | undefined {
    return this.#marks.get(name);
  }

  set(name: string, mark: ScanPosition | undefined): void {
    this.#marks.delete(name);
    if (mark !== undefined) this.#marks.set(name, mark);
    forgetOldest(this.#marks);
  }
}

const fewPassed = 2_000;
const heldMsEach = 0.05;

/**
 * Caches "no sample for you" results that took long to compute, for about twenty times as long as that. Labelers who
 * poll a queue that they have finished therefore keep no connection busy. Results of short scans are not cached.
 */
export class NoWorkCache {
  readonly #empties = new Map<string, { readonly untilMs: number; readonly why: NoWorkReason }>();

  get(name: string): NoWorkReason | undefined {
    const known = this.#empties.get(name);
    return known !== undefined && known.untilMs > performance.now() ? known.why : undefined;
  }

  set(name: string, why: NoWorkReason, passed: number): void {
    this.#empties.delete(name);
    if (passed > fewPassed) this.#empties.set(name, { untilMs: performance.now() + passed * heldMsEach, why });
    forgetOldest(this.#empties);
  }
}

function forgetOldest(kept: Map<string, unknown>): void {
  if (kept.size > maxKept) kept.delete(kept.keys().next().value!);
}
