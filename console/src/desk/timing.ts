/** After an action on the page, the labeler counts as present for this time. */
const presentMs = 60_000;

/** The times of an assignment: by the clock of the server, and by the presence of the labeler. */
export class Timing {
  readonly #now: () => number;
  /** How far the clock of the server is ahead of this machine's. */
  #aheadMs = 0;
  #touchedAt: number;
  #extendedAt: number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#touchedAt = now();
    this.#extendedAt = now();
  }

  /** The current time of the server. */
  setServerTime(moment: string): void {
    this.#aheadMs = Date.parse(moment) - this.#now();
  }

  /** A key was pressed, or the page touched. */
  touch(): void {
    this.#touchedAt = this.#now();
  }

  /** The assignment has started, or was extended. */
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
   * What to do about the remaining time: check whether it has ended, or extend it, when half of it has passed and the
   * labeler has worked since it began. An absent labeler loses the assignment, as the queue defines.
   */
  due(
    leftMs: number,
    queue: { readonly finishWithinMs: number; readonly graceMs: number },
  ): "look" | "extend" | undefined {
    if (leftMs + queue.graceMs <= 0) return "look";
    return leftMs < queue.finishWithinMs / 2 && this.#touchedAt > this.#extendedAt ? "extend" : undefined;
  }
}
