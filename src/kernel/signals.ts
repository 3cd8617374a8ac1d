/** The topic of those who look at parents: a check waits. */
export const checksTopic = "checks";

/** What whoever waits for messages to send waits for. */
export const outboxTopic = "outbox";

/**
 * Hints inside this process: an instance moved, a lane has work. Whoever waits looks at the database again; a hint that
 * is lost costs time, never truth.
 */
export class Signals {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Calls `wake` at the next hint about `topic`, an instance's id or a lane; gives back how to stop waiting. */
  wait(topic: string, wake: () => void): () => void {
    const wakers = this.#waiting.get(topic) ?? new Set();
    wakers.add(wake);
    this.#waiting.set(topic, wakers);
    return () => {
      wakers.delete(wake);
      if (wakers.size === 0) this.#waiting.delete(topic);
    };
  }

  hint(topic: string): void {
    const wakers = this.#waiting.get(topic);
    if (wakers === undefined) return;
    for (const wake of [...wakers]) wake();
  }
}
