import type { Command } from "commander";
import { PawlError } from "../../base/errors.ts";
import type { MessageResponse, OutboxResponse } from "../../http/contract.ts";
import { several, wholeNumber } from "../arguments.ts";
import type { Act, Context } from "../program.ts";
import { ago } from "../show/moments.ts";
import { type Column, type Paint, printJson, printTable, visible } from "../show/terminal.ts";
import type { Reached } from "../transport/reach.ts";
import { reached } from "./reached.ts";

type OutboxTypeResponse = OutboxResponse["types"][number];

interface ListOptions {
  readonly status?: readonly string[];
  readonly type?: string;
  readonly limit?: number;
}

interface DecideOptions {
  readonly type?: string;
  readonly all?: boolean;
}

export function addOutbox(program: Command, act: Act): void {
  const outbox = program
    .command("outbox")
    .description("show the backlog of the outbox; requeue or discard dead messages");
  outbox
    .command("status", { isDefault: true })
    .description("show counts of pending, held and dead messages by type")
    .action(act((context) => reached(context, (pawl) => status(context, pawl))));
  outbox
    .command("list")
    .description("list messages (default: pending and dead ones)")
    .option("--status <status>", "pending, published, dead or discarded; repeatable", several)
    .option("--type <type>", "only messages of this type")
    .option("--limit <number>", "maximum number of results (default: 100)", wholeNumber)
    .action(act<ListOptions>((context, options) => reached(context, (pawl) => list(context, pawl, options))));
  for (const [verb, description] of [
    ["requeue", "retry dead messages, in their original order"],
    ["discard", "discard dead messages, so that the messages behind them are sent"],
  ] as const) {
    outbox
      .command(verb)
      .description(description)
      .argument("[id...]", "the messages")
      .option("--type <type>", "all dead messages of this type")
      .option("--all", "all dead messages")
      .action(
        act<DecideOptions>((context, options, ids) =>
          reached(context, (pawl) => decide(context, pawl, verb, deadArgs(ids as unknown as string[], options))),
        ),
      );
  }
}

async function status({ terminal }: Context, pawl: Reached): Promise<void> {
  const answer = await pawl.call("outbox", {});
  if (terminal.json) {
    printJson(terminal, answer);
    return;
  }
  printTable(terminal, answer.types, typeColumns);
  const { pending, dead, unrouted, oldestPendingMs } = answer;
  const waited = oldestPendingMs === null ? "" : `, the oldest since ${Math.round(oldestPendingMs / 1_000)} s`;
  const stray = unrouted === 0 ? "" : ` ${unrouted} have a type that no broker accepts.`;
  const alone = answer.brokers.length > 0 ? "" : " No broker is configured in the process that answers.";
  if (terminal.isTty)
    terminal.note(terminal.paintNotes.dim(`\n  ${pending} pending${waited}; ${dead} dead.${stray}${alone}`));
}

async function list({ terminal }: Context, pawl: Reached, options: ListOptions): Promise<void> {
  const messages = await pawl.call("messages", { ...options });
  if (terminal.json) printJson(terminal, messages);
  else printTable(terminal, messages, messageColumns);
}

async function decide(
  { terminal }: Context,
  pawl: Reached,
  verb: "requeue" | "discard",
  args: Record<string, unknown>,
): Promise<void> {
  const { messages } = await pawl.call(`${verb}Messages`, args);
  if (terminal.json) printJson(terminal, { messages });
  else
    terminal.print(`${messages} ${messages === 1 ? "message" : "messages"} ${verb}${verb.endsWith("e") ? "d" : "ed"}.`);
}

function deadArgs(ids: readonly string[], { type, all }: DecideOptions): Record<string, unknown> {
  if (Number(ids.length > 0) + Number(type !== undefined) + Number(all === true) === 1) {
    return ids.length > 0 ? { id: ids } : { type, all };
  }
  throw new PawlError("option_invalid", "Name the dead messages: by their ids, with --type TYPE, or with --all.");
}

const typeColumns: readonly Column<OutboxTypeResponse>[] = [
  { title: "type", text: (one) => one.type, shown: (one, paint) => paint.bold(visible(one.type)) },
  { title: "pending", text: (one) => String(one.pending), alignRight: true },
  {
    title: "held",
    text: (one) => String(one.held),
    shown: (one, paint) => counted(one.held, paint.yellow, paint),
    alignRight: true,
  },
  {
    title: "dead",
    text: (one) => String(one.dead),
    shown: (one, paint) => counted(one.dead, paint.red, paint),
    alignRight: true,
  },
  {
    title: "oldest",
    text: (one) => one.oldestPendingAt ?? "",
    shown: (one, paint) => (one.oldestPendingAt === null ? paint.dim("–") : ago(one.oldestPendingAt)),
  },
];

function counted(count: number, colour: (text: string) => string, paint: Paint): string {
  return count === 0 ? paint.dim("0") : colour(String(count));
}

const messageColumns: readonly Column<MessageResponse>[] = [
  { title: "id", text: (one) => one.id },
  { title: "type", text: (one) => one.type },
  { title: "about", text: (one) => `${one.aggregate.type} ${one.aggregate.id}` },
  { title: "status", text: (one) => (one.behind ? "behind" : one.status), shown: shownStatus },
  { title: "failed", text: (one) => String(one.retryCount), alignRight: true },
  { title: "created", text: (one) => one.createdAt, shown: (one) => ago(one.createdAt) },
  { title: "error", text: (one) => one.error ?? "" },
];

function shownStatus(one: MessageResponse, paint: Paint): string {
  if (one.status === "dead") return paint.red("dead");
  if (one.behind) return paint.yellow("behind");
  return one.status === "published" ? paint.green("published") : one.status;
}
