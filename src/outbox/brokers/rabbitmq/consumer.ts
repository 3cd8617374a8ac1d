import type { Channel, ChannelModel, ConsumeMessage } from "amqplib";
import { type Duration, durationMs } from "../../../base/duration.ts";
import { messageOf, PawlError } from "../../../base/errors.ts";
import { guardListener } from "../../../base/guard.ts";
import { checkedOptions, optionNames } from "../../../base/options.ts";
import type { Bytes } from "../../../base/text.ts";
import { settleWithin } from "../../../kernel/time-limit.ts";
import { exponential } from "../../../policy/retry.ts";
import { warnOfListener } from "../../../telemetry/listener-warning.ts";
import { WakeableSleep } from "../../../worker/wakeable-sleep.ts";
import { maxBodyBytes } from "./bounds.ts";
import { checkedUrl, connectTo, cut, Patience, setUp } from "./connect.ts";
import { declareTopology } from "./declare.ts";
import { isOutage } from "./outage.ts";
import { checkTopology, type Topology } from "./topology.ts";

/** A received message. */
export interface IncomingMessage {
  /** The id that its sender set; undefined without one. */
  readonly id: string | undefined;
  readonly queue: string;
  readonly exchange: string;
  readonly routingKey: string;
  readonly correlationId: string | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  /** The properties of AMQP, such as `contentType` and `replyTo`. */
  readonly properties: Readonly<Record<string, unknown>>;
  readonly body: Bytes;
  /** How often a handler was given it before, as far as is known. */
  readonly deliveries: number;
}

/** The result of a message: acknowledged, delivered again, or dead-lettered. */
export type Verdict = "ack" | "requeue" | "reject";

export interface ConsumeOptions {
  readonly url: string;
  readonly queue: string;
  /**
   * Stores the message and returns `"ack"`. After a throw the message is delivered again, after a growing pause, and a
   * delivery is counted. A `TransientError`, or a `PawlError` about an unreachable database, counts none: the message
   * is held and the handler is called with it again until it returns, so an outage costs no message a delivery.
   */
  readonly handler: (message: IncomingMessage) => Promise<Verdict>;
  /**
   * Checks that the store of the handler is reachable. Called before messages are requested; while it rejects, messages
   * stay in the queue. Without it messages are requested at once.
   */
  readonly available?: (() => Promise<unknown>) | undefined;
  /**
   * The timeout of the handler for one message. After it the message is delivered again, as after a throw, and its slot
   * is freed.
   * @default "5m"
   */
  readonly handlerTimeout?: Duration;
  /**
   * How many messages the handler gets at the same time.
   * @default 20
   */
  readonly prefetch?: number;
  /** The topology to declare after each connect. */
  readonly topology?: Topology;
  /**
   * Larger messages are rejected unread.
   * @default 1 MiB
   */
  readonly maxBytes?: number;
  /** Called with errors of the handler, and with lost connections. A throw becomes a warning of the process. */
  readonly onFailure?: (error: unknown) => void;
}

/**
 * Consumes the messages of a queue until it is stopped; reconnects when the connection is lost.
 *
 * ```ts
 * const consumer = consume({ url, queue: "grading.callback", handler: async (message) => { await store(message); return "ack"; } });
 * ```
 */
export function consume(options: ConsumeOptions): Consumer {
  checkedOptions(options, consumeOptions, "consume");
  return new Consumer(options);
}

export const consumeOptions = optionNames<ConsumeOptions>({
  url: true,
  queue: true,
  handler: true,
  available: true,
  handlerTimeout: true,
  prefetch: true,
  topology: true,
  maxBytes: true,
  onFailure: true,
});

const redelivery = exponential({ first: "100ms", cap: "5s" });

/** The channel of one connection, and whether it is closed: the broker then delivers its messages again. */
interface Session {
  readonly channel: Channel;
  isOver: boolean;
}

export class Consumer {
  readonly #options: ConsumeOptions;
  readonly #topology: Topology;
  readonly #handlerMs: number;
  readonly #onFailure: (error: unknown) => void;
  readonly #patience = new Patience();
  readonly #rest = new WakeableSleep();
  readonly #settling = new Set<Promise<void>>();
  /** Aborted by `stop`: the current session, and pauses before messages are delivered again. */
  readonly #waits = new Set<() => void>();
  readonly #ended: Promise<void>;
  #setStopped: () => void = () => {};
  readonly #stopped = new Promise<void>((resolve) => {
    this.#setStopped = resolve;
  });
  #stopping = false;
  /** The first failure of the outage under way was reported; the others are the same. */
  #isAway = false;
  #setReady: () => void = () => {};
  /** Resolves when it consumes messages for the first time. */
  readonly ready = new Promise<void>((resolve) => {
    this.#setReady = resolve;
  });

  /** @internal Use `consume`. */
  constructor(options: ConsumeOptions) {
    checkedUrl(options?.url);
    if (typeof options.handler !== "function" || typeof options.queue !== "string" || options.queue === "") {
      throw new PawlError("option_invalid", "`consume` needs `queue`, a name, and `handler`, a function.");
    }
    const { prefetch = standardPrefetch } = options;
    if (!Number.isInteger(prefetch) || prefetch < 1 || prefetch > 10_000) {
      throw new PawlError("option_invalid", "`prefetch` must be a whole number from 1 to 10,000.");
    }
    this.#options = options;
    this.#topology = checkTopology(options.topology ?? {});
    this.#handlerMs = durationMs(options.handlerTimeout ?? "5m", "handlerTimeout");
    if (this.#handlerMs < 1) throw new PawlError("option_invalid", "`handlerTimeout` must be more than 0.");
    this.#onFailure = guardListener(options.onFailure, warnOfListener("onFailure"));
    this.#ended = this.#run();
  }

  /** Stops consuming, waits up to 25 seconds for the handler, and ends. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#setStopped();
    this.#rest.wake();
    for (const end of this.#waits) end();
    await this.#ended;
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      try {
        await this.#session();
      } catch (error) {
        const text = `Could not consume from queue \`${this.#options.queue}\`: ${messageOf(error)}`;
        this.#onFailure(new Error(text, { cause: error }));
      }
      if (!this.#stopping) await this.#rest.sleep(this.#patience.failed());
    }
  }

  /** One connection, until it is lost or the consumer is stopped. */
  async #session(): Promise<void> {
    const { url, queue } = this.#options;
    await this.#whenAvailable();
    if (this.#stopping) return;
    const connection = await connectTo(url, `pawl consumer of ${queue}`);
    let end: (lost?: unknown) => void = () => {};
    const over = new Promise<unknown>((resolve) => {
      end = resolve;
    });
    const stop = () => end();
    try {
      const { session, consumerTag } = await setUp(connection, () => this.#begin(connection, end));
      const { channel } = session;
      this.#patience.succeeded();
      this.#setReady();
      this.#waits.add(stop);
      if (this.#stopping) stop();
      const lost = await over;
      if (lost !== undefined) throw lost;
      await channel.cancel(consumerTag);
      await settleWithin(stopLimitMs, "The handler", () => this.#finished());
      await channel.close();
    } finally {
      this.#waits.delete(stop);
      cut(connection);
    }
  }

  async #begin(
    connection: ChannelModel,
    end: (lost: unknown) => void,
  ): Promise<{ session: Session; consumerTag: string }> {
    const { queue, prefetch = standardPrefetch } = this.#options;
    connection.on("close", (error) => end(error ?? new Error("the connection was closed")));
    const channel = await connection.createChannel();
    const session: Session = { channel, isOver: false };
    channel.on("error", end);
    channel.on("close", () => {
      session.isOver = true;
      end(new Error("the channel was closed"));
    });
    connection.on("close", () => {
      session.isOver = true;
    });
    await declareTopology(connection, channel, this.#topology);
    await channel.prefetch(prefetch);
    const { consumerTag } = await channel.consume(queue, (delivery) => {
      if (delivery === null) end(new Error("it was deleted"));
      else this.#take(session, delivery);
    });
    return { session, consumerTag };
  }

  /** Messages in progress have been settled. The broker delivers the others again after the connection is cut. */
  async #finished(): Promise<void> {
    while (this.#settling.size > 0) await Promise.all(this.#settling);
  }

  #take(session: Session, delivery: ConsumeMessage): void {
    const work = this.#settle(session, delivery).finally(() => this.#settling.delete(work));
    this.#settling.add(work);
  }

  async #settle(session: Session, delivery: ConsumeMessage): Promise<void> {
    const verdict = await this.#verdictOn(session, delivery);
    const { channel } = session;
    try {
      if (verdict === "ack") channel.ack(delivery);
      else channel.nack(delivery, false, verdict === "requeue");
    } catch {
      // The channel is closed, and the broker delivers the message again.
    }
  }

  async #verdictOn(session: Session, delivery: ConsumeMessage): Promise<Verdict> {
    const { maxBytes = maxBodyBytes, queue } = this.#options;
    const message = incomingOf(queue, delivery);
    if (message.body.length > maxBytes) {
      this.#onFailure(
        new Error(
          `A message in \`${queue}\` of ${message.body.length} bytes was rejected; the maximum is ${maxBytes}.`,
        ),
      );
      return "reject";
    }
    for (let failures = 1; ; failures++) {
      try {
        return await this.#handled({ ...message, deliveries: message.deliveries + failures - 1 });
      } catch (error) {
        const isAway = isOutage(error);
        if (!isAway || !this.#isAway) this.#onFailure(error);
        this.#isAway = isAway;
        await this.#pause(redelivery(isAway ? failures : message.deliveries + 1, Math.random()));
        // Requeuing would count a delivery, and a queue dead-letters a message after some: during an outage of the
        // store it is held.
        if (!isAway || this.#stopping || session.isOver) return "requeue";
      }
    }
  }

  async #handled(message: IncomingMessage): Promise<Verdict> {
    const { queue, handler } = this.#options;
    const verdict = await settleWithin(this.#handlerMs, `The handler of \`${queue}\``, () => handler(message));
    this.#isAway = false;
    if (verdicts.includes(verdict)) return verdict;
    throw new Error(`The handler of \`${queue}\` must return ack, requeue or reject.`);
  }

  /** Messages that are requested while the store is away would only be held, or returned when this process ends. */
  async #whenAvailable(): Promise<void> {
    const { available, queue } = this.#options;
    if (available === undefined) return;
    for (let failures = 1; !this.#stopping; failures++) {
      try {
        const what = `\`available\` of the consumer of \`${queue}\``;
        await Promise.race([settleWithin(availableLimitMs, what, available), this.#stopped]);
        this.#isAway = false;
        return;
      } catch (error) {
        if (!this.#isAway) this.#onFailure(error);
        this.#isAway = true;
        await this.#pause(redelivery(failures, Math.random()));
      }
    }
  }

  /** Delays the next delivery of a message that fails at once. */
  async #pause(ms: number): Promise<void> {
    if (this.#stopping) return;
    let end: () => void = () => {};
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      end = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#waits.add(end);
    });
    this.#waits.delete(end);
  }
}

const standardPrefetch = 20;
const availableLimitMs = 30_000;
/** As long as a worker gives its steps. */
const stopLimitMs = 25_000;
const verdicts: readonly unknown[] = ["ack", "requeue", "reject"];

function incomingOf(queue: string, { content, fields, properties }: ConsumeMessage): IncomingMessage {
  const headers = (properties.headers ?? {}) as Record<string, unknown>;
  const counted = Number(headers["x-delivery-count"]);
  return {
    id: textOf(properties.messageId),
    queue,
    exchange: fields.exchange,
    routingKey: fields.routingKey,
    correlationId: textOf(properties.correlationId),
    headers,
    properties: { ...properties },
    body: content,
    deliveries: counted > 0 ? counted : fields.redelivered ? 1 : 0,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
