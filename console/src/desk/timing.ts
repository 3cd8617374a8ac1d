/** Whoever touched the page within this time is there. */
const presentMs = 60_000;

/** What is known of a labeler's time: by the clock that counts, and by whether somebody is there. */
export class Timing {
  readonly #now: () => number;
  /** How far the clock that counts is ahead of this machine's. */
  #aheadMs = 0;
  #touchedAt: number;
  #extendedAt: number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#touchedAt = now();
    this.#extendedAt = now();
  }

  /** What the clock that counts says at this moment. */
  hear(moment: string): void {
    this.#aheadMs = Date.parse(moment) - this.#now();
  }

  /** A key was pressed, or the page touched. */
  touch(): void {
    this.#touchedAt = this.#now();
  }

  /** The time of what is in hand has begun, or begins again. */
  extended(): void {
    this.#extendedAt = this.#now();
  }

  get isPresent(): boolean {
    return this.#now() - this.#touchedAt < presentMs;
  }

  left(deadline: string): number {
    return Date.parse(deadline) - this.#now() - this.#aheadMs;
  }

  /**
   * What is to be done about the time that is left: look whether it is over, or let it begin again, when half of it is
   * gone and somebody has worked since it began. Whoever went away loses it, as the queue wants.
   */
  due(
    leftMs: number,
    queue: { readonly finishWithinMs: number; readonly graceMs: number },
  ): "look" | "extend" | undefined {
    if (leftMs + queue.graceMs <= 0) return "look";
    return leftMs < queue.finishWithinMs / 2 && this.#touchedAt > this.#extendedAt ? "extend" : undefined;
  }
}
