import type { Command } from "commander";
import type { TicketResponse } from "../../../http/contract.ts";
import type { Act, Context } from "../../program.ts";
import { ago } from "../../show/moments.ts";
import { type Column, printList, visible } from "../../show/terminal.ts";
import { reached } from "../reached.ts";
import { type Page, withPage } from "../usual-options.ts";

interface ListOptions extends Page {
  readonly status: string;
  readonly assignee?: string;
}

export function addTickets(dead: Command, act: Act): void {
  withPage(
    dead
      .command("tickets")
      .description("list tickets of dead letters that need a person, oldest first")
      .option("--status <status>", "open, assigned or resolved", "open")
      .option("--assignee <name>", "only tickets that are assigned to this person"),
  ).action(act<ListOptions>((context, options) => answer(context, "tickets", { ...options })));
  dead
    .command("assign")
    .description("assign a ticket")
    .argument("<id>")
    .requiredOption("--actor <name>", "the assignee")
    .action(act<{ actor: string }>((context, options, id) => answer(context, "assignTicket", { id, ...options })));
  dead
    .command("resolve")
    .description("close a ticket; its dead letter is left as it is")
    .argument("<id>")
    .requiredOption("--actor <name>", "name to record as the actor")
    .requiredOption("--reason <text>", "reason to record")
    .action(
      act<{ actor: string; reason: string }>((context, options, id) =>
        answer(context, "resolveTicket", { id, ...options }),
      ),
    );
}

function answer(
  context: Context,
  name: "tickets" | "assignTicket" | "resolveTicket",
  args: Record<string, unknown>,
): Promise<undefined> {
  return reached(context, async (pawl) => printList(context.terminal, [await pawl.call(name, args)].flat(), columns));
}

const columns: readonly Column<TicketResponse>[] = [
  { title: "id", text: (one) => one.id, shown: (one, paint) => paint.dim(one.id) },
  { title: "lifecycle", text: (one) => one.lifecycle, shown: (one, paint) => paint.bold(one.lifecycle) },
  { title: "origin", text: (one) => one.origin },
  { title: "reason", text: (one) => one.reason, shown: (one, paint) => paint.red(visible(one.reason)) },
  { title: "status", text: (one) => one.status },
  { title: "by", text: (one) => one.resolvedBy ?? one.assignee ?? "" },
  { title: "resolution", text: (one) => one.resolution ?? "" },
  { title: "opened", text: (one) => one.openedAt, shown: (one) => ago(one.openedAt) },
];
