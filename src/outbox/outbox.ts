import { PawlError } from "../base/errors.ts";
import { isId } from "../base/ids.ts";
import { dateOf } from "../base/moment.ts";
import { checkedLimit, checkedOptions } from "../base/options.ts";
import { checkedText } from "../base/text.ts";
import { type Kernel, refuseInside } from "../kernel/kernel.ts";
import type { Broker } from "./broker.ts";
import { decideDeadMessages } from "./dead-messages.ts";
import { type MessageView, readMessages, readOutboxByType, readOutboxLag } from "./views/outbox.ts";

/** The backlog of the relays, in total and by type of message. */
export interface OutboxStatus {
  /** The names of the brokers of this process. Without one it sends no messages; another process may. */
  readonly brokers: readonly string[];
  /** Messages to send; counted up to a hundred thousand. */
  readonly pending: number;
  /** Dead messages that wait for a decision. */
  readonly dead: number;
  /** Messages of types that no broker takes. They wait for one that does, hold up nothing, and count as no lag. */
  readonly unrouted: number;
  /** How long the oldest one to be sent has waited; null when there is none. */
  readonly oldestPendingMs: number | null;
  readonly types: readonly OutboxTypeStatus[];
}

/** The same for one type of message. */
export interface OutboxTypeStatus {
  readonly type: string;
  readonly pending: number;
  /** Of those pending: failed and resting, or waiting behind one that is. */
  readonly held: number;
  readonly dead: number;
  readonly oldestPendingAt: Date | null;
}

/** A message in the outbox. */
export interface StoredMessage {
  readonly id: string;
  readonly type: string;
  readonly aggregate: { readonly type: string; readonly id: string };
  readonly payload: unknown;
  readonly status: MessageView["status"];
  readonly createdAt: Date;
  /** When it was sent, or discarded. */
  readonly processedAt: Date | null;
  /** Attempts that failed. */
  readonly retryCount: number;
  readonly error: string | null;
  readonly nextAttemptAt: Date | null;
  /** It waits for an earlier one of its aggregate that is held up. */
  readonly behind: boolean;
}

export interface MessageFilter {
  readonly status?: MessageView["status"] | readonly MessageView["status"][];
  readonly type?: string;
  /**
   * The size of a page, at most 1,000.
   * @default 100
   */
  readonly limit?: number;
}

/** Selects dead messages. */
export type DeadMessages =
  | { readonly id: string | readonly string[] }
  | { readonly type: string }
  | { readonly all: true };

const statuses: readonly MessageView["status"][] = ["pending", "published", "dead", "discarded"];

/** The outbox: lists its messages, and decides about dead ones. `pawl.outbox`. */
export class Outbox {
  readonly #kernel: Kernel;
  readonly #brokers: readonly string[];

  /** @internal */
  constructor(kernel: Kernel, brokers: readonly Broker[]) {
    this.#kernel = kernel;
    this.#brokers = brokers.map(({ name }) => name);
  }

  /** Returns the backlog of the relays, in total and by type of message. */
  async status(): Promise<OutboxStatus> {
    refuseInside(this.#kernel, "outbox.status");
    const { pending, dead, unrouted, oldest_age_ms } = await readOutboxLag(this.#kernel.db);
    const types = (await readOutboxByType(this.#kernel.db)).map(({ message_type, pending, held, dead, oldest_ms }) => ({
      type: message_type,
      pending,
      held,
      dead,
      oldestPendingAt: dateOf(oldest_ms),
    }));
    return { brokers: this.#brokers, pending, dead, unrouted, oldestPendingMs: oldest_age_ms, types };
  }

  /** Lists messages, oldest first; by default pending and dead ones. */
  async messages(filter: MessageFilter = {}): Promise<StoredMessage[]> {
    refuseInside(this.#kernel, "outbox.messages");
    const given = checkedOptions(filter, ["status", "type", "limit"], "outbox.messages");
    const wanted = [given.status ?? (["pending", "dead"] as const)].flat();
    const stray = wanted.find((status) => !statuses.includes(status));
    if (stray !== undefined) {
      throw new PawlError(
        "option_invalid",
        `\`status\` must be one of ${statuses.join(", ")}, not \`${String(stray)}\`.`,
      );
    }
    const limit = checkedLimit(given.limit ?? 100);
    const type = given.type === undefined ? null : checkedText(given.type, "`type`");
    return (await readMessages(this.#kernel.db, { statuses: wanted, type, limit })).map(storedMessageOf);
  }

  /** Requeues dead messages with all their attempts, in their old position; returns how many. */
  requeue(which: DeadMessages): Promise<number> {
    refuseInside(this.#kernel, "outbox.requeue");
    return decideDeadMessages(this.#kernel, deadFilterOf(which, "outbox.requeue"), "requeue");
  }

  /** Discards dead messages, so that those behind them continue; returns how many. */
  discard(which: DeadMessages): Promise<number> {
    refuseInside(this.#kernel, "outbox.discard");
    return decideDeadMessages(this.#kernel, deadFilterOf(which, "outbox.discard"), "discard");
  }
}

function deadFilterOf(which: DeadMessages, call: string): { ids: readonly string[] | null; type: string | null } {
  const given: { id?: unknown; type?: unknown; all?: unknown } = checkedOptions(which, ["id", "type", "all"], call);
  if (given.id !== undefined) {
    const ids = [given.id].flat();
    if (ids.every(isId)) return { ids, type: null };
    throw new PawlError("option_invalid", "`id` must be the id of a message, or a list of them.");
  }
  if (given.type !== undefined) return { ids: null, type: checkedText(given.type, "`type`") };
  if (given.all === true) return { ids: null, type: null };
  throw new PawlError("option_invalid", "Select the dead messages: { id }, { type } or { all: true }.");
}

function storedMessageOf(row: MessageView): StoredMessage {
  return {
    id: row.id,
    type: row.message_type,
    aggregate: { type: row.aggregate_type, id: row.aggregate_id },
    payload: row.payload,
    status: row.status,
    createdAt: new Date(row.created_ms),
    processedAt: dateOf(row.processed_ms),
    retryCount: row.retry_count,
    error: row.error_message,
    nextAttemptAt: dateOf(row.next_attempt_ms),
    behind: row.behind,
  };
}
