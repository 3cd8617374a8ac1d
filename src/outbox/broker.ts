import type { Aggregate } from "../kernel/move/publish.ts";
import type { Log } from "../telemetry/log.ts";
import type { BrokerDeadMessage } from "./broker-dead-message.ts";

/** A message to send. */
export interface OutboxMessage {
  /** The same over all attempts: receivers may drop duplicates. */
  readonly id: string;
  readonly type: string;
  /** The subject: an instance (lifecycle name and id), or the one given to `pawl.publish`. */
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
 * Sends messages. Relays pass it the messages of each aggregate one after the other, and those of different aggregates
 * at the same time.
 */
export interface Broker {
  readonly name: string;
  /** How long a message may take to be confirmed. */
  readonly timeoutMs: number;
  /** Whether messages of this type are for it. */
  takes(type: string): boolean;
  /**
   * Resolves when the receiver has the message. A throw is a failed attempt: a `PermanentError` is the last one, a
   * `TransientError` may say when to retry. `BrokerAway` is no attempt.
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

/** A queue with the messages that a broker dead-lettered. */
export interface DeadLetterSource {
  readonly name: string;
  /**
   * Passes the messages to `keep`, one by one, until it is stopped. A message is deleted only after `keep` has
   * resolved.
   */
  open(given: {
    readonly keep: (died: BrokerDeadMessage) => Promise<void>;
    /** Rejects while the database that `keep` writes to cannot be reached. */
    readonly available: () => Promise<unknown>;
    readonly log: Log;
  }): { stop(): Promise<void> };
}
