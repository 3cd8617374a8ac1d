import type { Bytes } from "../base/text.ts";

/** A message that a broker dead-lettered, with the data of its headers. */
export interface BrokerDeadMessage {
  /** The broker by which it goes back, as the outbox calls it. */
  readonly broker: string;
  /** Where it lay. */
  readonly graveyard: string;
  readonly id: string | undefined;
  readonly reason: string;
  /** The queue in which it died first. */
  readonly queue: string | undefined;
  readonly exchange: string | undefined;
  readonly routingKey: string | undefined;
  /** How often it died there. */
  readonly deaths: number;
  readonly diedAt: Date | undefined;
  /** Short enough to be kept. */
  readonly headers: Readonly<Record<string, unknown>>;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly body: Bytes;
  /** It may have been delivered before, and stored then. */
  readonly redelivered: boolean;
}

/** How a body is kept: as text where it is text. */
export interface StoredBody {
  readonly text: string;
  readonly encoding: "utf8" | "base64";
  readonly bytes: number;
  /** Only the beginning was kept, so it cannot be sent again. */
  readonly truncated: boolean;
}

/** What else is kept of it. */
export interface StoredDeadMessage {
  readonly broker: string;
  readonly id: string | null;
  readonly requestId: string | null;
  readonly queue: string | null;
  readonly exchange: string | null;
  readonly routingKey: string | null;
  readonly diedAt: string | null;
  /** How often an operator has sent it back. */
  readonly requeues: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** Counts in the message itself how often it was sent back: its next death is another one. */
export const requeuesHeader = "pawl-requeues";
/** Followed by the name of the broker. */
export const requeuePrefix = "pawl.requeue/";

/** The broker that a requeued dead message goes to; undefined for any other message. */
export function requeuedTo(type: string): string | undefined {
  return type.startsWith(requeuePrefix) ? type.slice(requeuePrefix.length) : undefined;
}
