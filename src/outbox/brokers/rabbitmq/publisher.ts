import type { ChannelModel, ConfirmChannel } from "amqplib";
import { type Duration, durationMs } from "../../../base/duration.ts";
import { messageOf, PawlError } from "../../../base/errors.ts";
import { compute } from "../../../base/guard.ts";
import { checkedOptions, optionNames } from "../../../base/options.ts";
import { PermanentError } from "../../../base/step-errors.ts";
import { matchesTopic } from "../../../policy/topic.ts";
import { type Broker, BrokerAway, type OutboxMessage } from "../../broker.ts";
import { requeuedTo } from "../../broker-dead-message.ts";
import { boundedHeaders, maxBodyBytes } from "./bounds.ts";
import { checkedUrl, connectTo, cut, Patience, setUp } from "./connect.ts";
import { declareTopology } from "./declare.ts";
import type { Parcel } from "./parcel.ts";
import { requeuedParcel } from "./requeued-parcel.ts";
import { checkTopology, type Topology } from "./topology.ts";

export interface RabbitmqOptions {
  /** `amqp://` or `amqps://`, with user, password and virtual host. */
  readonly url: string;
  /**
   * The name of the broker.
   * @default "rabbitmq"
   */
  readonly name?: string;
  /**
   * The exchange to publish to, a topic exchange by default.
   * @default "pawl.exchange"
   */
  readonly exchange?: string;
  /** Another exchange, or another routing key than the message's type. */
  readonly route?: (message: OutboxMessage) => { readonly exchange?: string; readonly key?: string };
  /**
   * The types of messages to publish, with patterns such as `grading.*` and `#`.
   * @default all
   */
  readonly types?: readonly string[];
  /** The topology to declare after each connect. */
  readonly topology?: Topology;
  /** Additional headers; long values are cut. */
  readonly headers?: (message: OutboxMessage) => Readonly<Record<string, unknown>>;
  /**
   * The timeout for the broker's confirmation of a message.
   * @default "5s"
   */
  readonly confirmTimeout?: Duration;
}

/**
 * Publishes to RabbitMQ: persistent, with a confirm for each, and mandatory, so that a message which no queue takes is not
 * taken for delivered.
 *
 * ```ts
 * import { createPawl } from "pawl";
 * import { rabbitmq } from "pawl/rabbitmq";
 * createPawl({ lifecycles: [essay], outbox: { brokers: [rabbitmq({ url: process.env.PAWL_AMQP_URL!, exchange: "essays" })] } });
 * ```
 */
export function rabbitmq(options: RabbitmqOptions): RabbitmqBroker {
  return new RabbitmqBroker(checkedOptions(options, known, "rabbitmq"));
}

const known = optionNames<RabbitmqOptions>({
  url: true,
  name: true,
  exchange: true,
  route: true,
  types: true,
  topology: true,
  headers: true,
  confirmTimeout: true,
});

const defaultExchange = "pawl.exchange";
const blockedPauseMs = 1_000;
const redeclareEveryMs = 1_000;
const longestKey = 255;

/** A connection with its channel, and its unconfirmed messages. */
interface Link {
  readonly connection: ChannelModel;
  readonly channel: ConfirmChannel;
  readonly sendings: Map<string, Sending>;
  /** The last time at which the broker confirmed or returned a message. */
  heardAt: number;
  blocked: string | undefined;
  /** The connection broke or was closed by an operator: that concerns none of its messages. */
  isLost: boolean;
}

interface Sending {
  readonly sentAt: number;
  /** Returned by the broker, since no queue accepts it. A confirmation follows all the same. */
  returned: string | undefined;
}

export class RabbitmqBroker implements Broker {
  readonly name: string;
  readonly timeoutMs: number;
  readonly #options: RabbitmqOptions;
  readonly #exchange: string;
  readonly #types: readonly string[];
  readonly #topology: Topology;
  readonly #patience = new Patience();
  #link: Link | undefined;
  #connecting: Promise<Link> | undefined;
  #declaredAt = 0;
  #closed = false;

  /** @internal Use `rabbitmq`. */
  constructor(options: RabbitmqOptions) {
    checkedUrl(options?.url);
    this.#options = options;
    this.name = options.name ?? "rabbitmq";
    this.timeoutMs = durationMs(options.confirmTimeout ?? "5s", "confirmTimeout");
    this.#exchange = options.exchange ?? defaultExchange;
    this.#types = options.types ?? ["#"];
    const bare = options.topology === undefined && options.exchange === undefined;
    this.#topology = checkTopology(bare ? { exchanges: { [defaultExchange]: {} } } : (options.topology ?? {}));
  }

  takes(type: string): boolean {
    return this.#types.some((pattern) => matchesTopic(pattern, type));
  }

  awayMs(): number {
    if (this.#link !== undefined) return this.#link.blocked === undefined ? 0 : blockedPauseMs;
    return this.#connecting === undefined ? this.#patience.leftMs : 0;
  }

  async publish(message: OutboxMessage): Promise<void> {
    const body = requeuedTo(message.type) === undefined ? bodyOf(message) : undefined;
    const link = this.#link ?? (await this.#connected());
    if (link.blocked !== undefined) {
      throw new BrokerAway(`RabbitMQ blocks publishers: ${link.blocked}.`, { retryAfterMs: blockedPauseMs });
    }
    await this.#send(link, body === undefined ? requeuedParcel(message) : this.#parcelOf(message, body));
  }

  async close(): Promise<void> {
    this.#closed = true;
    const link = this.#link ?? (await this.#connecting?.catch(() => undefined));
    if (link === undefined) return;
    await Promise.race([link.connection.close().catch(() => {}), new Promise((resolve) => setTimeout(resolve, 2_000))]);
    cut(link.connection);
  }

  /** The link, for all who wait for it at once. */
  #connected(): Promise<Link> {
    if (this.#connecting !== undefined) return this.#connecting;
    const retryAfterMs = this.#patience.leftMs;
    if (retryAfterMs > 0 || this.#closed) {
      return Promise.reject(new BrokerAway("Could not connect to RabbitMQ.", { retryAfterMs }));
    }
    this.#connecting = this.#connect()
      .catch((error: unknown) => {
        const text = `Could not connect to RabbitMQ: ${messageOf(error)}`;
        throw new BrokerAway(text, { retryAfterMs: this.#patience.failed(), cause: error });
      })
      .finally(() => {
        this.#connecting = undefined;
      });
    return this.#connecting;
  }

  async #connect(): Promise<Link> {
    const connection = await connectTo(this.#options.url, `pawl ${this.name}`);
    return setUp(connection, async () => {
      const channel = await connection.createConfirmChannel();
      const link: Link = {
        connection,
        channel,
        sendings: new Map(),
        heardAt: performance.now(),
        blocked: undefined,
        isLost: false,
      };
      channel.on("error", () => {}); // `close` follows.
      channel.on("return", ({ properties, fields }) => {
        const sending = link.sendings.get(String(properties.messageId));
        if (sending !== undefined) sending.returned = (fields as { replyText?: string }).replyText ?? "NO_ROUTE";
      });
      channel.on("close", () => this.#lose(link));
      connection.on("close", (error?: { code?: unknown }) => {
        link.isLost = !isProtocolError(error?.code);
        this.#lose(link);
      });
      connection.on("blocked", (reason) => {
        link.blocked = reason;
      });
      connection.on("unblocked", () => {
        link.blocked = undefined;
      });
      await this.#declare(connection);
      this.#patience.succeeded();
      this.#link = link;
      return link;
    });
  }

  /** On a channel of its own, which the broker closes when something exists with other settings. */
  async #declare(connection: ChannelModel): Promise<void> {
    this.#declaredAt = performance.now();
    const channel = await connection.createChannel();
    channel.on("error", () => {});
    await declareTopology(connection, channel, this.#topology);
    await channel.close();
  }

  #lose(link: Link): void {
    cut(link.connection);
    if (this.#link !== link) return;
    this.#link = undefined;
    this.#patience.failed();
  }

  #parcelOf(message: OutboxMessage, body: Buffer): Parcel {
    const { exchange = this.#exchange, key = message.type } = this.#record("route", message);
    if (typeof exchange !== "string" || typeof key !== "string") {
      throw new PawlError("hook_failed", `\`route\` of the broker \`${this.name}\` must return strings.`);
    }
    if (Buffer.byteLength(key) > longestKey) {
      throw new PermanentError(
        `The routing key of \`${message.type.slice(0, 100)}\` is longer than ${longestKey} bytes.`,
      );
    }
    return { id: message.id, exchange, key, body, properties: this.#propertiesOf(message) };
  }

  #send(link: Link, { id, exchange, key, body, properties }: Parcel): Promise<void> {
    return new Promise((resolve, reject) => {
      const sending: Sending = { sentAt: performance.now(), returned: undefined };
      const timer = setTimeout(() => reject(this.#unconfirmed(link, sending)), this.timeoutMs);
      const confirmed = (error: Error | null): void => {
        clearTimeout(timer);
        if (link.sendings.get(id) === sending) link.sendings.delete(id);
        if (this.#link === link) link.heardAt = performance.now();
        // Why its channel was closed is known only once the connection has been closed, too, or has not.
        if (error !== null) setImmediate(() => reject(this.#refused(link, error)));
        else if (sending.returned === undefined) resolve();
        else reject(this.#unroutable(link, sending.returned, exchange, key));
      };
      link.sendings.set(id, sending);
      try {
        link.channel.publish(exchange, key, body, properties, confirmed);
      } catch (error) {
        confirmed(error as Error); // The channel is closed, or the message cannot be written down.
      }
    });
  }

  #unconfirmed(link: Link, { sentAt }: Sending): Error {
    const text = `RabbitMQ did not confirm within ${this.timeoutMs} ms`;
    if (link.blocked !== undefined) {
      return new BrokerAway(`${text}: it blocks publishers (${link.blocked}).`, { retryAfterMs: blockedPauseMs });
    }
    if (link.heardAt > sentAt) return new Error(`${text}.`);
    // No confirmation of any message since this one was sent: the link is dead, whatever the state of the socket.
    this.#lose(link);
    return new BrokerAway(`${text}, and no other message either; reconnecting.`, {
      retryAfterMs: this.#patience.leftMs,
    });
  }

  /** A failed attempt, unless the connection was lost: that does not concern the message. */
  #refused(link: Link, error: Error): Error {
    if (!link.isLost) return new Error(`RabbitMQ refused the message: ${error.message}.`);
    const retryAfterMs = this.#patience.leftMs;
    return new BrokerAway(`The connection to RabbitMQ was lost: ${error.message}.`, { retryAfterMs, cause: error });
  }

  /** Parts of the topology may have been deleted: it is declared again for the next attempt. */
  #unroutable(link: Link, reason: string, exchange: string, key: string): Error {
    if (performance.now() - this.#declaredAt >= redeclareEveryMs) {
      this.#declare(link.connection).catch(() => this.#lose(link));
    }
    return new Error(
      `The message cannot be routed (${reason}): no queue is bound to exchange \`${exchange}\` for \`${key}\`.`,
    );
  }

  /** The result of a function of the options for a message; an empty object without it. */
  #record<Name extends "route" | "headers">(name: Name, message: OutboxMessage) {
    const what = `\`${name}\` of the broker \`${this.name}\``;
    const made: unknown = compute("hook_failed", what, () => this.#options[name]?.(message)) ?? {};
    if (typeof made !== "object") throw new PawlError("hook_failed", `${what} must return an object.`);
    return made as NonNullable<ReturnType<NonNullable<RabbitmqOptions[Name]>>>;
  }

  #propertiesOf(message: OutboxMessage): Record<string, unknown> {
    const { type, id } = message.aggregate;
    return {
      persistent: true,
      mandatory: true,
      messageId: message.id,
      type: message.type.slice(0, 60),
      appId: "pawl",
      contentType: "application/json",
      timestamp: Math.floor(message.createdAt.getTime() / 1_000),
      headers: boundedHeaders({
        "message-type": message.type,
        "aggregate-type": type,
        "aggregate-id": id,
        version: message.version ?? undefined,
        attempt: message.attempt,
        ...this.#record("headers", message),
      }),
    };
  }
}

/** AMQP's hard errors but "closed by an operator" (320): something that was sent over the connection caused it. */
function isProtocolError(code: unknown): boolean {
  return typeof code === "number" && code >= 500;
}

/**
 * The body, or `PermanentError`: a message that is too large stays too large. Spaces that only the database added are
 * removed first.
 */
function bodyOf({ body, type }: OutboxMessage): Buffer {
  const bytes = Buffer.from(body);
  if (bytes.length <= maxBodyBytes) return bytes;
  const compact = Buffer.from(JSON.stringify(JSON.parse(body)));
  if (compact.length <= maxBodyBytes) return compact;
  throw new PermanentError(`The message \`${type.slice(0, 100)}\` is larger than ${maxBodyBytes} bytes.`);
}
