import type { Route } from "./route.ts";
import { anything, flag, id, listOf, oneOf, text, whole } from "./schema.ts";

const tag = "Outbox";
const dead = { id: listOf(id), type: text, all: flag };

export const outboxRoutes: readonly Route[] = [
  {
    method: "get",
    path: "/outbox",
    verb: "outbox",
    may: "look",
    tag,
    summary: "How far behind the relays are, in all and by type of message.",
    answers: anything,
  },
  {
    method: "get",
    path: "/messages",
    verb: "messages",
    may: "look",
    tag,
    summary: "Messages, the oldest first: those that are to be sent and the dead ones unless told otherwise.",
    takes: { status: listOf(oneOf("pending", "published", "dead", "discarded")), type: text, limit: whole },
    answers: listOf(anything),
  },
  {
    method: "post",
    path: "/messages/requeue",
    verb: "requeueMessages",
    may: "operate",
    tag,
    summary: "Let dead messages be tried anew, in their old place.",
    takes: dead,
    answers: anything,
  },
  {
    method: "post",
    path: "/messages/discard",
    verb: "discardMessages",
    may: "operate",
    tag,
    summary: "Give dead messages up for good, so that those behind them go on.",
    takes: dead,
    answers: anything,
  },
];
