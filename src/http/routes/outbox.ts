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
import type { DecidedMessagesAnswer, MessageAnswer, OutboxAnswer } from "../contract.ts";

const dead = { id: listOf(id), type: text, all: flag };

const status = oneOf("pending", "published", "dead", "discarded");

const outbox = shape<OutboxAnswer>({
  lag: shape<OutboxAnswer["lag"]>({
    pending: about(whole, "Messages that are to be sent; a hundred thousand at most are counted."),
    dead: about(whole, "Messages that were given up and wait for a decision."),
    unrouted: about(whole, "Messages of types that no broker takes; they count as no lag."),
    oldestPendingMs: orNull(number),
  }),
  types: listOf(
    shape<OutboxAnswer["types"][number]>({
      type: text,
      pending: whole,
      held: about(whole, "Of those pending: failed and resting, or waiting behind one that is."),
      dead: whole,
      oldestPendingAt: orNull(moment),
    }),
  ),
});

const message = named(
  "Message",
  shape<MessageAnswer>({
    id,
    type: text,
    aggregate: shape<MessageAnswer["aggregate"]>({ type: text, id: text }),
    payload: anything,
    status,
    createdAt: moment,
    processedAt: about(orNull(moment), "When it was sent, or discarded."),
    retryCount: about(whole, "Attempts that failed."),
    error: orNull(text),
    nextAttemptAt: orNull(moment),
    behind: about(flag, "It waits for an earlier one of its aggregate that is held up."),
  }),
);

const decided = shape<DecidedMessagesAnswer>({ messages: about(whole, "How many.") });

type DeadMessages = Parameters<Pawl["outbox"]["requeue"]>[0];

const { get, post } = routesOf("Outbox");

export const outboxRoutes = [
  get("outbox", "/outbox", "look", {
    summary: "How far behind the relays are, in all and by type of message.",
    answer: outbox,
    call: async ({ outbox: all }) => ({ lag: await all.lag(), types: await all.status() }),
  }),
  get("messages", "/messages", "look", {
    summary: "Messages, the oldest first: those that are to be sent and the dead ones unless told otherwise.",
    takes: { status: listOf(status), type: text, limit: whole },
    answer: listOf(message),
    call: ({ outbox: all }, filter) => all.messages(filter),
  }),
  post("requeueMessages", "/messages/requeue", "operate", {
    summary: "Let dead messages be tried anew, in their old place.",
    takes: dead,
    answer: decided,
    call: async ({ outbox: all }, which) => ({ messages: await all.requeue(which as DeadMessages) }),
  }),
  post("discardMessages", "/messages/discard", "operate", {
    summary: "Give dead messages up for good, so that those behind them go on.",
    takes: dead,
    answer: decided,
    call: async ({ outbox: all }, which) => ({ messages: await all.discard(which as DeadMessages) }),
  }),
];
