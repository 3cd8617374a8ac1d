import { createHash } from "node:crypto";
import { PawlError } from "../base/errors.ts";
import { isId } from "../base/ids.ts";
import { cleanText } from "../base/json.ts";
import type { Bytes } from "../base/text.ts";
import { asSentence } from "../base/text.ts";
import { fingerprintOf } from "../kernel/callbacks/rejections.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { decidedError } from "../kernel/recovery/requeue.ts";
import { outboxTopic } from "../kernel/signals/signals.ts";
import {
  type BrokerDeadMessage,
  requeuePrefix,
  requeuesHeader,
  type StoredBody,
  type StoredDeadMessage,
} from "../outbox/broker-dead-message.ts";
import type { Executor } from "../store/port/db.ts";
import type { Decider } from "../store/recovery/dead-letters.ts";
import type { DeadLetterView } from "../views/dead-letters.ts";
import { type BrokerLetter, insertBrokerLetter, requeueBrokerLetter } from "./store/broker-dead-letters.ts";

const longestBody = 1024 * 1024;

/** Stores a dead letter for the message, once per death. The message may be deleted after it resolves. */
export async function storeBrokerDeadLetter(kernel: Kernel, died: BrokerDeadMessage): Promise<void> {
  const kept = storedMessageOf(died);
  const letter = letterOf(kernel, died, kept);
  if (!(await insertBrokerLetter(kernel.db, letter))) return;
  const { reason, queue, broker } = letter;
  const request = kept.requestId ?? kept.id ?? "without an id";
  kernel.telemetry.log.error(
    { deadLetter: letter.id, requestId: kept.requestId, messageId: kept.id, broker, queue, reason },
    asSentence(`The message ${request} died in ${queue}: ${reason}`),
  );
}

function letterOf(kernel: Kernel, died: BrokerDeadMessage, kept: StoredDeadMessage): BrokerLetter {
  const id = kernel.newId();
  const queue = kept.queue ?? died.graveyard;
  const { headers } = kept;
  const about = { type: headers["aggregate-type"], id: headers["aggregate-id"] };
  const place = `broker:${died.broker}:${queue}`;
  const deaths = timesOf(died.deaths) || 1;
  const print = kept.id === null ? `${place}:${printOf(died)}` : null;
  const error = [headers["x-error"], headers.error, headers["x-exception-message"]].find(isText);
  return {
    id,
    broker: died.broker,
    queue,
    reason: cleanText(died.reason, 500),
    errorText: error === undefined ? null : JSON.stringify({ name: "Error", message: cleanText(error) }),
    fingerprint: fingerprintOf(died),
    deaths,
    payloadText: JSON.stringify(bodyOf(died.body)),
    detailsText: JSON.stringify(kept),
    cause: print === null ? `${place}:${kept.id}:${kept.requeues}.${deaths}` : `${print}:${id}`,
    // Without an id, two messages with the same content cannot be distinguished: a first delivery counts as another
    // message.
    unlessThere: died.redelivered ? print : null,
    aggregate: isText(about.type) && isId(about.id) ? { type: about.type, id: about.id } : null,
  };
}

function storedMessageOf(died: BrokerDeadMessage): StoredDeadMessage {
  const headers = cleaned(died.headers);
  return {
    broker: died.broker,
    id: textOrNull(died.id),
    requestId: requestIdOf(died, headers),
    queue: textOrNull(died.queue),
    exchange: textOrNull(died.exchange),
    routingKey: textOrNull(died.routingKey),
    diedAt: died.diedAt?.toISOString() ?? null,
    requeues: timesOf(headers[requeuesHeader]),
    headers,
    properties: cleaned(died.properties),
  };
}

/** The id that its sender set in a header or in the body; otherwise the id of AMQP. */
function requestIdOf(died: BrokerDeadMessage, headers: StoredDeadMessage["headers"]): string | null {
  const said = [headers["request-id"], headers["x-request-id"], headers.requestId, inBody(died.body)];
  return textOrNull([...said, died.properties.correlationId, died.id].find(isText));
}

function inBody(body: Bytes): unknown {
  if (body.length > longestBody) return undefined;
  try {
    return (JSON.parse(body.toString("utf8")) as { requestId?: unknown } | null)?.requestId;
  } catch {
    return undefined;
  }
}

function bodyOf(body: Bytes): StoredBody {
  const bytes = body.length;
  const start = body.subarray(0, longestBody);
  const text = start.toString("utf8");
  const truncated = bytes > longestBody;
  const isPlain = !text.includes("\u0000") && (truncated || Buffer.from(text).equals(start));
  if (isPlain) return { text, encoding: "utf8", bytes, truncated };
  return { text: start.toString("base64"), encoding: "base64", bytes, truncated };
}

/** Texts, numbers and booleans as the database can hold them; all else is left out. */
function cleaned(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(given).flatMap(([name, value]): [string, unknown][] => {
    if (name === "headers" || name === "__proto__") return [];
    if (typeof value === "string") return [[cleanText(name, 128), cleanText(value)]];
    return typeof value === "boolean" || Number.isFinite(value) ? [[cleanText(name, 128), value]] : [];
  });
  return Object.fromEntries(entries);
}

function printOf({ body, headers, routingKey, diedAt }: BrokerDeadMessage): string {
  const hash = createHash("sha256").update(body);
  return hash
    .update(JSON.stringify([headers, routingKey, diedAt]))
    .digest("base64url")
    .slice(0, 27);
}

/** The number of deaths according to the headers, which any sender can write. */
function timesOf(given: unknown): number {
  return Number.isInteger(given) && (given as number) > 0 ? Math.min(given as number, 1_000_000_000) : 0;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function textOrNull(text: string | undefined): string | null {
  return text === undefined ? null : cleanText(text, 500);
}

/** The outbox sends it back to the queue that it came from; written with the letter's decision, in one statement. */
export async function requeueDied(
  kernel: Kernel,
  db: Executor,
  { letter, data, restart, ...by }: Decider & { letter: DeadLetterView; data: unknown; restart: boolean },
): Promise<void> {
  const { queue, broker } = letter.details as StoredDeadMessage;
  const { truncated, bytes } = letter.payload as StoredBody;
  const obstacle =
    data !== undefined || restart
      ? "is sent again as it was, without `data` or `restart`"
      : queue === null
        ? "has no header that names the queue in which it died: publish it by hand"
        : truncated
          ? `had ${bytes} bytes, of which only the beginning was kept: publish it by hand`
          : undefined;
  if (obstacle !== undefined) {
    const message = `Dead letter ${letter.id} is about a message that died in \`${letter.origin}\`, and ${obstacle}.`;
    throw new PawlError("option_invalid", message, { deadLetter: letter.id });
  }
  const message = { id: kernel.newId(), type: `${requeuePrefix}${broker}` };
  if (!(await requeueBrokerLetter(db, letter.id, message, by))) throw decidedError(letter.id);
  kernel.signals.hint(outboxTopic);
}
