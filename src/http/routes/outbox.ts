import type { Pawl } from "../../api/pawl.ts";
import { routesOf } from "../api/route.ts";
import {
  about,
  anything,
  flag,
  id,
  listOf,
  moment,
  named,
  number,
  oneOf,
  orNull,
  shape,
  text,
  whole,
} from "../api/schema.ts";
import type { DecidedMessagesResponse, MessageResponse, OutboxResponse } from "../contract.ts";

const dead = { id: listOf(id), type: text, all: flag };

const status = oneOf("pending", "published", "dead", "discarded");

const outbox = shape<OutboxResponse>({
  brokers: about(
    listOf(text),
    "The names of the brokers of the process that answers; without one it sends no messages.",
  ),
  pending: about(whole, "Messages to send; at most 100,000 are counted."),
  dead: about(whole, "Dead messages that await a decision."),
  unrouted: about(whole, "Messages of types that no broker accepts; they are not part of the backlog."),
  oldestPendingMs: about(orNull(number), "How long the oldest message to send has waited."),
  types: listOf(
    shape<OutboxResponse["types"][number]>({
      type: text,
      pending: whole,
      held: about(whole, "Pending messages that failed and back off, or wait behind one that does."),
      dead: whole,
      oldestPendingAt: orNull(moment),
    }),
  ),
});

const message = named(
  "Message",
  shape<MessageResponse>({
    id,
    type: text,
    aggregate: shape<MessageResponse["aggregate"]>({ type: text, id: text }),
    payload: anything,
    status,
    createdAt: moment,
    processedAt: about(orNull(moment), "When it was sent, or discarded."),
    retryCount: about(whole, "Attempts that failed."),
    error: orNull(text),
    nextAttemptAt: orNull(moment),
    behind: about(flag, "It waits for an earlier message of its aggregate."),
  }),
);

const decided = shape<DecidedMessagesResponse>({ messages: about(whole, "The number of messages.") });

type DeadMessages = Parameters<Pawl["outbox"]["requeue"]>[0];

const { get, post } = routesOf("Outbox");

export const outboxRoutes = [
  get("outbox", "/outbox", "read", {
    summary: "Get the backlog of the outbox, in total and by type of message.",
    answer: outbox,
    call: ({ outbox: all }) => all.status(),
  }),
  get("messages", "/messages", "read", {
    summary: "List messages, oldest first. Defaults to pending and dead ones.",
    takes: { status: listOf(status), type: text, limit: whole },
    answer: listOf(message),
    call: ({ outbox: all }, filter) => all.messages(filter),
  }),
  post("requeueMessages", "/messages/requeue", "operate", {
    summary: "Retry dead messages, in their original order.",
    takes: dead,
    answer: decided,
    call: async ({ outbox: all }, which) => ({ messages: await all.requeue(which as DeadMessages) }),
  }),
  post("discardMessages", "/messages/discard", "operate", {
    summary: "Discard dead messages, so that the messages behind them are sent.",
    takes: dead,
    answer: decided,
    call: async ({ outbox: all }, which) => ({ messages: await all.discard(which as DeadMessages) }),
  }),
];
