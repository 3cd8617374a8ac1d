import { AsyncLocalStorage } from "node:async_hooks";

/** The topic of checks of parents. */
export const checksTopic = "checks";

/** The topic of alerts to deliver. */
export const alertsTopic = "alerts";

/** The topic of messages to send. */
export const outboxTopic = "outbox";

/** Hints of a transaction that has not ended. */
interface PendingHints {
  readonly topics: Set<string>;
  /** Runs after the commit. */
  readonly actions: (() => void)[];
  isOpen: boolean;
}

/**
 * Hints: an instance moved, a lane has work. Waiters read the database again; a lost hint costs time, never
 * correctness. They reach this process at once, and others through `tellOthers`.
 */
export class Signals {
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #followers = new Set<(topic: string | undefined) => void>();
  readonly #pending = new AsyncLocalStorage<PendingHints>();
  #forward: (topic: string) => void = () => {};

  /** Passes hints on to other processes, too. */
  forwardTo(forward: (topic: string) => void): void {
    this.#forward = forward;
  }

  /** Calls `wake` at the next hint about `topic`, an instance's id or a lane; returns a function that stops waiting. */
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
   * Calls `follower` at every hint, and with undefined when anything may have happened; returns a function that ends that.
   */
  follow(follower: (topic: string | undefined) => void): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  hint(topic: string): void {
    const held = this.#pending.getStore();
    if (held?.isOpen) {
      held.topics.add(topic);
      return;
    }
    const isHeard = this.receive(topic);
    // One check of a parent is enough: if this process makes it, others need not be notified.
    if (topic !== checksTopic || !isHeard) this.#forward(topic);
  }

  /** Keeps hints back until `work`, a transaction, has committed: before that there is nothing to see. */
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
   * Runs something after the current transaction has committed: at once without one (`isCommitted`), and never in a
   * transaction that the caller commits, since Pawl is not notified of that commit.
   */
  onceCommitted(isCommitted: boolean, action: () => void): void {
    const held = this.#pending.getStore();
    if (held?.isOpen) held.actions.push(action);
    else if (isCommitted) action();
  }

  /** Receives a hint from another process; returns whether this process had a waiter for it. */
  receive(topic: string): boolean {
    for (const follower of this.#followers) follower(topic);
    return this.#wake(topic);
  }

  /** Anything may have happened. */
  receiveAll(): void {
    for (const follower of this.#followers) follower(undefined);
    for (const topic of [...this.#waiting.keys()]) this.#wake(topic);
  }

  #wake(topic: string): boolean {
    const wakers = this.#waiting.get(topic);
    if (wakers === undefined) return false;
    for (const wake of [...wakers]) wake();
    return true;
  }
}
