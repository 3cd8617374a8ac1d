import { messageOf } from "../base/errors.ts";
import { compute } from "../base/guard.ts";
import { cleanText } from "../base/json.ts";
import { PermanentError, TransientError } from "../base/step-errors.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { nextAttemptMs, pauseOf } from "../policy/retry.ts";
import { type Broker, BrokerAway, type OutboxMessage } from "./broker.ts";
import { requeuedTo } from "./broker-dead-message.ts";
import type { RelaySettings } from "./settings.ts";
import type { MessageOutcome, ReadyMessage } from "./store/outbox.ts";

/** The time after which a broker that does not settle is no longer waited for. */
const patienceMs = 500;
const errorLength = 2_000;
/** The pause for a broker that is unreachable and names none. */
const awayPauseMs = 1_000;
/** How often a message is tried again that no broker takes. */
const unroutedPauseMs = 60_000;

/** Sends messages with their brokers and returns the outcomes. */
export class Delivery {
  readonly #kernel: Kernel;
  readonly #settings: RelaySettings;
  #stopping = false;
  #unsettled = 0;

  constructor(kernel: Kernel, settings: RelaySettings) {
    this.#kernel = kernel;
    this.#settings = settings;
  }

  /** Begins nothing more. */
  stop(): void {
    this.#stopping = true;
  }

  get isStopping(): boolean {
    return this.#stopping;
  }

  /** Outcomes of earlier messages are not stored yet: no message is leased until then, or it would be sent again. */
  get isUnsettled(): boolean {
    return this.#unsettled > 0;
  }

  /** Runs what writes it down, while nothing else is leased. */
  async settling<T>(work: () => Promise<T>): Promise<T> {
    this.#unsettled += 1;
    try {
      return await work();
    } finally {
      this.#unsettled -= 1;
    }
  }

  /** Whether nothing can be sent at all. */
  isAway(): boolean {
    return this.#settings.brokers.every((broker) => {
      try {
        return awayMsOf(broker) > 0;
      } catch {
        return false; // Each message fails on its own, and is counted.
      }
    });
  }

  /**
   * Sends a batch: the messages of one aggregate one after the other, each after the confirmation of the one before,
   * those of different aggregates at the same time. Messages not sent by `sendUntil` have no outcome.
   */
  async send(messages: readonly ReadyMessage[], sendUntil: number): Promise<MessageOutcome[]> {
    const outcomes: MessageOutcome[] = [];
    await Promise.all(streamsOf(messages).map((stream) => this.#sendStream(stream, sendUntil, outcomes)));
    return outcomes;
  }

  async #sendStream(stream: readonly ReadyMessage[], sendUntil: number, outcomes: MessageOutcome[]): Promise<void> {
    let isHeld = false;
    for (const message of stream) {
      isHeld ||= message.behind;
      if (isHeld) {
        outcomes.push({ id: message.id, what: "behind", error: null, pauseMs: null, letter: null });
        continue;
      }
      if (this.#stopping || performance.now() >= sendUntil) return;
      const outcome = await this.#sendOne(message);
      outcomes.push(outcome);
      isHeld = outcome.what !== "published" && outcome.what !== "unrouted";
    }
  }

  async #sendOne(row: ReadyMessage): Promise<MessageOutcome> {
    const { faults } = this.#kernel;
    try {
      const broker = this.#brokerOf(row.message_type);
      if (broker === undefined) return unroutedOutcome(row);
      const awayMs = awayMsOf(broker);
      if (awayMs > 0) throw new BrokerAway(`Broker \`${broker.name}\` is not available.`, { retryAfterMs: awayMs });
      const confirmed = confirmedInTime(broker, messageFor(row));
      if (faults !== undefined) {
        confirmed.catch(() => {}); // Awaited below; the handler prevents an unhandled rejection until then.
        await faults.at("relay.afterPublish");
      }
      await confirmed;
      if (faults !== undefined) await faults.at("relay.afterConfirm");
      return { id: row.id, what: "published", error: null, pauseMs: null, letter: null };
    } catch (error) {
      return this.#failureOf(row, error);
    }
  }

  /** Undefined when no broker takes this type: another process may have one that does, or a later release. */
  #brokerOf(type: string): Broker | undefined {
    const name = requeuedTo(type);
    const broker = this.#settings.brokers.find((one) => (name === undefined ? takes(one, type) : one.name === name));
    if (broker === undefined && name !== undefined) throw new Error(`No broker has the name \`${name}\`.`);
    return broker;
  }

  #failureOf(row: ReadyMessage, thrown: unknown): MessageOutcome {
    const error = cleanText(messageOf(thrown), errorLength);
    if (thrown instanceof BrokerAway) {
      return {
        id: row.id,
        what: "deferred",
        error,
        pauseMs: Math.max(10, pauseOf(thrown.retryAfterMs) ?? awayPauseMs),
        letter: null,
      };
    }
    const isPermanent = thrown instanceof PermanentError;
    const pauseMs = isPermanent ? undefined : this.#pauseAfter(row.retry_count + 1, thrown);
    if (pauseMs !== undefined) return { id: row.id, what: "failed", error, pauseMs, letter: null };
    const reason = isPermanent ? "undeliverable" : "attempts_used_up";
    return { id: row.id, what: "dead", error, pauseMs: null, letter: { id: this.#kernel.newId(), reason } };
  }

  #pauseAfter(failures: number, thrown: unknown): number | undefined {
    const pauseMs = nextAttemptMs(this.#settings.retry, failures, Math.random());
    if (pauseMs === undefined || !(thrown instanceof TransientError)) return pauseMs;
    return Math.max(pauseMs, pauseOf(thrown.retryAfterMs) ?? 0);
  }
}

function awayMsOf(broker: Broker): number {
  return compute("hook_failed", `\`awayMs\` of the broker \`${broker.name}\``, () => broker.awayMs());
}

/** A promise would count as a yes, and its rejection would end the process. */
function takes(broker: Broker, type: string): boolean {
  return compute("hook_failed", `\`takes\` of the broker \`${broker.name}\``, () => broker.takes(type));
}

/** Its error is reported once. */
function unroutedOutcome({ id, message_type, unrouted }: ReadyMessage): MessageOutcome {
  const error = unrouted ? null : cleanText(`No broker accepts messages of type \`${message_type}\`.`, errorLength);
  return { id, what: "unrouted", error, pauseMs: unroutedPauseMs, letter: null };
}

/** Messages of one aggregate each, in their order. */
function streamsOf(messages: readonly ReadyMessage[]): ReadyMessage[][] {
  const streams = new Map<string, ReadyMessage[]>();
  for (const message of messages) {
    const key = `${message.aggregate_type}/${message.aggregate_id}`;
    const stream = streams.get(key);
    if (stream === undefined) streams.set(key, [message]);
    else stream.push(message);
  }
  return [...streams.values()];
}

function messageFor(row: ReadyMessage): OutboxMessage {
  return {
    id: row.id,
    type: row.message_type,
    aggregate: { type: row.aggregate_type, id: row.aggregate_id },
    body: row.payload,
    createdAt: new Date(row.created_ms),
    version: row.version,
    attempt: row.retry_count + 1,
  };
}

/** The broker's result, or a timeout: a link can die silently. */
async function confirmedInTime(broker: Broker, message: OutboxMessage): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`The broker \`${broker.name}\` did not confirm within ${broker.timeoutMs} ms.`)),
      broker.timeoutMs + patienceMs,
    );
  });
  try {
    await Promise.race([broker.publish(message), silence]);
  } finally {
    clearTimeout(timer);
  }
}
