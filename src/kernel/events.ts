import { type Channel, channel } from "node:diagnostics_channel";
import { guardListener } from "../base/guard.ts";

/** A move that this process has committed. */
export interface MovedEvent {
  readonly lifecycle: string;
  readonly id: string;
  readonly key: string | null;
  readonly event: string;
  /** Null for a start. */
  readonly from: string | null;
  readonly to: string;
  readonly version: number;
  readonly outcome: "success" | "failure" | "discarded" | null;
  readonly actor: string | null;
  /** When it was committed, by the database's clock. */
  readonly at: Date;
}

/** A dead letter that this process has written. */
export interface DeadLetteredEvent {
  readonly id: string;
  readonly lifecycle: string;
  readonly instance: string;
  readonly key: string | null;
  /** The state in which the work failed. */
  readonly state: string;
  readonly reason: string;
  readonly at: Date;
}

/** An alert about an instance that this process has raised; its sinks get it, too. */
export interface AlertRaisedEvent {
  readonly kind: string;
  readonly lifecycle: string;
  readonly instance: string | null;
  readonly key: string | null;
  readonly message: string;
  readonly at: Date;
}

/** The events that a process announces about its commits, by name; see `pawl.on`. */
export interface PawlEvents {
  readonly moved: MovedEvent;
  /** A move into `failed`, or one by which a failure ends the instance: also announced as `moved`. */
  readonly failed: MovedEvent;
  readonly deadLettered: DeadLetteredEvent;
  readonly alert: AlertRaisedEvent;
}

export const eventNames = ["moved", "failed", "deadLettered", "alert"] as const satisfies readonly (keyof PawlEvents)[];

type Listener = (event: never) => void;

/**
 * Announces what this process has committed, to its own listeners and to the diagnostics channels `pawl:moved`, `pawl:failed` and so
 * on. Listeners run after the engine's own work, in turns of the event loop of their own, and nothing waits for them.
 */
export class Events {
  readonly #listeners = new Map<keyof PawlEvents, Set<Listener>>(eventNames.map((name) => [name, new Set()]));
  readonly #channels = new Map<keyof PawlEvents, Channel>(eventNames.map((name) => [name, channel(`pawl:${name}`)]));
  readonly #report: (error: unknown) => void;
  #queue: (() => void)[] = [];

  constructor(report: (error: unknown) => void) {
    this.#report = report;
  }

  /** Calls `listener` at each event of that name from now on; returns a function that ends that. */
  on<Name extends keyof PawlEvents>(name: Name, listener: (event: PawlEvents[Name]) => unknown): () => void {
    const guarded = guardListener(listener, this.#report);
    const listeners = this.#listeners.get(name)!;
    listeners.add(guarded);
    return () => void listeners.delete(guarded);
  }

  /** Whether there are listeners: without any, events are not even created. */
  get isHeard(): boolean {
    return eventNames.some((name) => this.#hasListener(name));
  }

  emit<Name extends keyof PawlEvents>(name: Name, event: PawlEvents[Name]): void {
    if (!this.#hasListener(name)) return;
    if (this.#queue.length === 0) setImmediate(() => this.#flush());
    this.#queue.push(() => {
      for (const listener of this.#listeners.get(name)!) listener(event as never);
      this.#channels.get(name)!.publish(event);
    });
  }

  #hasListener(name: keyof PawlEvents): boolean {
    return this.#listeners.get(name)!.size > 0 || this.#channels.get(name)!.hasSubscribers;
  }

  #flush(): void {
    const queue = this.#queue;
    this.#queue = [];
    for (const announce of queue) announce();
  }
}
