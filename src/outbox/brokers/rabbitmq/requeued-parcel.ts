import type { OutboxMessage } from "../../broker.ts";
import { requeuesHeader, type StoredBody, type StoredDeadMessage } from "../../broker-dead-message.ts";
import type { Parcel } from "./parcel.ts";

/** Headers that the broker writes on dead messages: it would take an old death for a new one. */
const deathHeaders = /^x-(?:death|first-death-|last-death-|delivery-count)/;
const carried = ["contentType", "contentEncoding", "type", "correlationId", "replyTo", "appId", "priority"];

/** A dead message that is sent back: to the queue that it came from and no other, with its id, content and headers. */
export function requeuedParcel(message: OutboxMessage): Parcel {
  const { body, message: kept } = JSON.parse(message.body) as { body: StoredBody; message: StoredDeadMessage };
  const headers = Object.entries(kept.headers).filter(([name]) => !deathHeaders.test(name));
  const properties = Object.entries(kept.properties).filter(([name]) => carried.includes(name));
  const id = kept.id ?? message.id;
  return {
    id,
    exchange: "", // The exchange that knows every queue by its name.
    key: kept.queue!,
    body: Buffer.from(body.text, body.encoding),
    properties: {
      ...Object.fromEntries(properties),
      persistent: true,
      mandatory: true,
      messageId: id,
      headers: { ...Object.fromEntries(headers), [requeuesHeader]: kept.requeues + 1 },
    },
  };
}
