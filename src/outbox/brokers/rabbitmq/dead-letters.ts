import { boundedHeaders } from "./bounds.ts";
import { type ConsumeOptions, Consumer, type IncomingMessage, type Verdict } from "./consumer.ts";

/** A message that a broker gave up on, as far as it tells. */
export interface DeadMessage {
  readonly id: string | undefined;
  /** `rejected`, `expired`, `maxlen`, `delivery_limit`, or `unknown` when nobody says. */
  readonly reason: string;
  /** The queue in which it died first. */
  readonly queue: string | undefined;
  readonly exchange: string | undefined;
  readonly routingKey: string | undefined;
  /** How often it died there. */
  readonly deaths: number;
  readonly diedAt: Date | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  /** What was in it, as text, and cut when it is long. */
  readonly body: string;
  readonly truncated: boolean;
}

export interface DeadLetterOptions extends Omit<ConsumeOptions, "handler" | "maxBytes"> {
  /** Stores what died and then says `"ack"`. */
  readonly handler: (message: DeadMessage) => Promise<Verdict>;
}

const longestBody = 64 * 1024;

/** Takes messages from a dead-letter queue, however large they are, with the reason why they are there. */
export function consumeDeadLetters({ handler, ...options }: DeadLetterOptions): Consumer {
  const prefetch = options.prefetch ?? 5; // Each may be large.
  return new Consumer({
    ...options,
    prefetch,
    maxBytes: Number.POSITIVE_INFINITY,
    handler: (message) => handler(deadMessageOf(message)),
  });
}

/** What the broker says of a death: anybody can write such headers, so nothing is taken for granted. */
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

/** As the broker says, else as whoever gave it up does. */
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
