import { AsyncLocalStorage } from "node:async_hooks";

/** The topic of those who look at parents: a check waits. */
export const checksTopic = "checks";

/** What whoever tells alerts waits for. */
export const alertsTopic = "alerts";

/** What whoever waits for messages to send waits for. */
export const outboxTopic = "outbox";

/** Hints of a transaction that has not ended. */
interface PendingHints {
  readonly topics: Set<string>;
  /** What is done once it is committed. */
  readonly actions: (() => void)[];
  isOpen: boolean;
}

/**
 * Hints: an instance moved, a lane has work. Whoever waits looks at the database again; a hint that is lost costs time,
 * never truth. They reach this process at once, and others by way of `tellOthers`.
 */
export class Signals {
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #followers = new Set<(topic: string | undefined) => void>();
  readonly #pending = new AsyncLocalStorage<PendingHints>();
  #forward: (topic: string) => void = () => {};

  /** Passes hints on to other processes, too. */
  forwardTo(tell: (topic: string) => void): void {
    this.#forward = tell;
  }

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

  /**
   * Calls `hear` at every hint, for who can tell at once whether it is meant, and with undefined when anything may have
   * happened; gives back how to stop that.
   */
  follow(hear: (topic: string | undefined) => void): () => void {
    this.#followers.add(hear);
    return () => this.#followers.delete(hear);
  }

  hint(topic: string): void {
    const held = this.#pending.getStore();
    if (held?.isOpen) {
      held.topics.add(topic);
      return;
    }
    const isHeard = this.receive(topic);
    // One look at parents is enough: where somebody here looks, others would only look for the same.
    if (topic !== checksTopic || !isHeard) this.#forward(topic);
  }

  /** Keeps hints back until `work`, a transaction, has come true: before that there is nothing to be seen. */
  async afterCommit<T>(work: () => Promise<T>): Promise<T> {
    const held: PendingHints = { topics: new Set(), actions: [], isOpen: true };
    try {
      const result = await this.#pending.run(held, work);
      held.isOpen = false;
      for (const topic of held.topics) this.hint(topic);
      for (const action of held.actions) action();
      return result;
    } finally {
      held.isOpen = false;
    }
  }

  /**
   * Does something once the transaction around it is committed: at once where there is none (`isCommitted`), and never where
   * somebody else commits it, since Pawl does not hear of that.
   */
  onceCommitted(isCommitted: boolean, action: () => void): void {
    const held = this.#pending.getStore();
    if (held?.isOpen) held.actions.push(action);
    else if (isCommitted) action();
  }

  /** A hint from another process; tells whether anybody here waited for it. */
  receive(topic: string): boolean {
    for (const hear of this.#followers) hear(topic);
    return this.#wake(topic);
  }

  /** Anything may have happened. */
  receiveAll(): void {
    for (const hear of this.#followers) hear(undefined);
    for (const topic of [...this.#waiting.keys()]) this.#wake(topic);
  }

  #wake(topic: string): boolean {
    const wakers = this.#waiting.get(topic);
    if (wakers === undefined) return false;
    for (const wake of [...wakers]) wake();
    return true;
  }
}
