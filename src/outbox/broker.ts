import type { Aggregate } from "../kernel/move/publish.ts";
import type { Log } from "../telemetry/log.ts";
import type { BrokerDeadMessage } from "./broker-dead-message.ts";

/** A message on its way out. */
export interface OutboxMessage {
  /** The same over all attempts: whoever has seen it before may drop it. */
  readonly id: string;
  readonly type: string;
  /** What it is about: an instance (its lifecycle's name and its id), or what `pawl.publish` was told. */
  readonly aggregate: Aggregate;
  /** The payload, as JSON. */
  readonly body: string;
  readonly createdAt: Date;
  /** The version of the instance that published it; null when none did. */
  readonly version: number | null;
  /** From 1. */
  readonly attempt: number;
}

/**
 * Whatever carries messages away. Relays hand it one message after the other of each aggregate, and messages of different
 * aggregates at the same time.
 */
export interface Broker {
  readonly name: string;
  /** How long a message may take to be confirmed. */
  readonly timeoutMs: number;
  /** Whether messages of this type are for it. */
  takes(type: string): boolean;
  /**
   * Comes back when the message is safe with whoever it was sent to. What it throws is an attempt that failed: a
   * `PermanentError` is the last one, a `TransientError` may say when to come again. `BrokerAway` was no attempt.
   */
  publish(message: OutboxMessage): Promise<void>;
  /** For how long, as far as it knows, nothing can be sent at all; 0 when it can be tried. */
  awayMs(): number;
  close(): Promise<void>;
}

/** The message was not tried, since the broker cannot be reached or does not take anything now. */
export class BrokerAway extends Error {
  override readonly name = "BrokerAway";
  readonly retryAfterMs: number;

  constructor(message: string, options: { retryAfterMs: number; cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Where messages lie that a broker gave up on. */
export interface DeadLetterSource {
  readonly name: string;
  /** Hands them over, one by one, until it is stopped. A message is taken away only when `keep` has come back. */
  open(given: {
    readonly keep: (died: BrokerDeadMessage) => Promise<void>;
    /** Rejects while the database that `keep` writes to cannot be reached. */
    readonly available: () => Promise<unknown>;
    readonly log: Log;
  }): { stop(): Promise<void> };
}
