import type { Pawl } from "../pawl.ts";
import type { Verb } from "./named.ts";
import type { Arguments } from "./request.ts";

type Outbox = Pawl["outbox"];
type MessageFilter = NonNullable<Parameters<Outbox["messages"]>[0]>;
type DeadMessages = Parameters<Outbox["requeue"]>[0];

const dead = ["id", "type", "all"];

/** The verbs about what is to be sent. */
export const outboxVerbs: readonly (readonly [string, Verb])[] = [
  ["outbox", { takes: [], answer: outbox }],
  ["messages", { takes: ["status", "type", "limit"], answer: messages }],
  ["requeueMessages", { takes: dead, answer: requeueMessages }],
  ["discardMessages", { takes: dead, answer: discardMessages }],
];

async function outbox(pawl: Pawl): Promise<unknown> {
  return { lag: await pawl.outbox.lag(), types: await pawl.outbox.status() };
}

function messages(pawl: Pawl, args: Arguments): Promise<unknown> {
  const status = args.texts("status") as MessageFilter["status"];
  return pawl.outbox.messages({ status, type: args.optionalText("type"), limit: args.number("limit") });
}

async function requeueMessages(pawl: Pawl, args: Arguments): Promise<unknown> {
  return { messages: await pawl.outbox.requeue(deadMessagesOf(args)) };
}

async function discardMessages(pawl: Pawl, args: Arguments): Promise<unknown> {
  return { messages: await pawl.outbox.discard(deadMessagesOf(args)) };
}

function deadMessagesOf(args: Arguments): DeadMessages {
  return { id: args.texts("id"), type: args.optionalText("type"), all: args.flag("all") } as DeadMessages;
}
