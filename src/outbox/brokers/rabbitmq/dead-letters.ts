import { boundedHeaders } from "./bounds.ts";
import { type ConsumeOptions, Consumer, type IncomingMessage, type Verdict } from "./consumer.ts";

/** A message that a broker dead-lettered, with the data of its headers. */
export interface DeadMessage {
  readonly id: string | undefined;
  /** `rejected`, `expired`, `maxlen`, `delivery_limit`, or `unknown` if the headers do not say. */
  readonly reason: string;
  /** The queue in which it died first. */
  readonly queue: string | undefined;
  readonly exchange: string | undefined;
  readonly routingKey: string | undefined;
  /** How often it died there. */
  readonly deaths: number;
  readonly diedAt: Date | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Its content, as text, cut if it is long. */
  readonly body: string;
  readonly truncated: boolean;
}

export interface ConsumeDeadLettersOptions extends Omit<ConsumeOptions, "handler" | "maxBytes"> {
  /** Stores the message and returns `"ack"`. */
  readonly handler: (message: DeadMessage) => Promise<Verdict>;
}

const longestBody = 64 * 1024;

/** Consumes messages of any size from a dead-letter queue, with the reason of their death. */
export function consumeDeadLetters({ handler, ...options }: ConsumeDeadLettersOptions): Consumer {
  const prefetch = options.prefetch ?? 5; // Each may be large.
  return new Consumer({
    ...options,
    prefetch,
    maxBytes: Number.POSITIVE_INFINITY,
    handler: (message) => handler(deadMessageOf(message)),
  });
}

/** Reads the broker's headers about a death; any sender can write such headers, so nothing is trusted. */
export function deadMessageOf({ id, headers, body }: Pick<IncomingMessage, "id" | "headers" | "body">): DeadMessage {
  const queue = textOf(headers["x-first-death-queue"]);
  const deaths = (Array.isArray(headers["x-death"]) ? headers["x-death"] : []).filter(isRecord);
  const death = deaths.find((one) => queue === undefined || one.queue === queue) ?? {};
  return {
    id,
    reason: reasonOf(headers, death),
    queue: queue ?? textOf(death.queue),
    exchange: textOf(headers["x-first-death-exchange"]) ?? textOf(death.exchange),
    routingKey: textOf(Array.isArray(death["routing-keys"]) ? death["routing-keys"][0] : undefined),
    deaths: typeof death.count === "number" ? death.count : 1,
    diedAt: momentOf(death.time),
    headers: boundedHeaders(headers),
    body: body.subarray(0, longestBody).toString("utf8"),
    truncated: body.length > longestBody,
  };
}

/** As the broker says, otherwise as the consumer that rejected it says. */
function reasonOf(headers: Readonly<Record<string, unknown>>, death: Readonly<Record<string, unknown>>): string {
  const said = [headers["x-first-death-reason"], death.reason, headers["x-last-death-reason"], headers.reason];
  return said.map(textOf).find((text) => text !== undefined) ?? "unknown";
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value.slice(0, 500) : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** AMQP's timestamps are seconds, and the driver wraps them. */
function momentOf(time: unknown): Date | undefined {
  const seconds = isRecord(time) ? time.value : time;
  if (typeof seconds !== "number" || !(seconds > 0 && seconds < 1e11)) return undefined;
  return new Date(seconds * 1_000);
}
