import type { Command } from "commander";
import type { DeadLetterAnswer } from "../answers.ts";
import { jsonValue, wholeNumber } from "../arguments.ts";
import type { Act, Context } from "../program.ts";
import type { Reached } from "../reach.ts";
import { type Column, type Paint, printJson, printTable, type Terminal, visible } from "../terminal.ts";

interface Deciding {
  readonly actor?: string;
  readonly reason?: string;
}

export function addDead(program: Command, act: Act): void {
  const dead = program.command("dead").description("list, show, requeue and discard work that was given up");
  dead
    .command("list", { isDefault: true })
    .description("list the dead letters that wait for a decision, newest first")
    .argument("[lifecycle]")
    .option("--status <status>", "open, requeued, discarded or archived", "open")
    .option("--limit <count>", "at most so many", wholeNumber, 50)
    .option("--after <id>", "go on after the last one of the page before")
    .action(
      act<{ status: string; limit: number; after?: string }>((context, options, lifecycle) =>
        reached(context, (pawl) => list(context, pawl, { lifecycle, ...options })),
      ),
    );
  dead
    .command("show")
    .description("show one dead letter with all that is known of it")
    .argument("<id>")
    .action(
      act((context, _, id) =>
        reached(context, async (pawl) =>
          show(context.terminal, (await pawl.call("deadLetter", { id })) as DeadLetterAnswer),
        ),
      ),
    );
  dead
    .command("requeue")
    .description("take up again what was given up: where it failed, or from the beginning")
    .argument("<id>")
    .option("--data <json>", "keys of the data to change first: JSON, @file, or - for stdin", jsonValue)
    .option("--restart", "begin anew instead of where it failed")
    .option("--actor <name>", "who decides it")
    .option("--reason <text>", "why")
    .action(
      act<Deciding & { data?: unknown; restart?: boolean }>((context, options, id) =>
        reached(context, (pawl) => decide(context, pawl, "requeue", { id, ...options })),
      ),
    );
  dead
    .command("discard")
    .description("do nothing more about it; an instance that it is about stays where it is")
    .argument("<id>")
    .option("--actor <name>", "who decides it")
    .option("--reason <text>", "why")
    .action(
      act<Deciding>((context, options, id) =>
        reached(context, (pawl) => decide(context, pawl, "discardDeadLetter", { id, ...options })),
      ),
    );
}

async function reached(context: Context, work: (pawl: Reached) => Promise<void>): Promise<undefined> {
  const { withPawl } = await import("../with-pawl.ts");
  await withPawl(context, {}, work);
}

async function list({ terminal }: Context, pawl: Reached, args: Record<string, unknown>): Promise<void> {
  const found = (await pawl.call("deadLetters", args)) as DeadLetterAnswer[];
  if (terminal.json) printJson(terminal, found);
  else if (found.length === 0 && terminal.isTty) terminal.note("There are none.");
  else printTable(terminal, found, await makeColumns());
  if (found.length === args.limit && terminal.isTty) terminal.note(`  More may follow: --after ${found.at(-1)?.id}`);
}

async function decide(
  { terminal }: Context,
  pawl: Reached,
  verb: string,
  args: Record<string, unknown>,
): Promise<void> {
  const letter = (await pawl.call(verb, args)) as DeadLetterAnswer;
  if (terminal.json) printJson(terminal, letter);
  else printTable(terminal, [letter], await makeColumns());
}

async function makeColumns(): Promise<Column<DeadLetterAnswer>[]> {
  const { ago } = await import("../show-instance.ts");
  return [
    { title: "id", text: (one) => one.id, shown: (one, paint) => paint.dim(one.id) },
    { title: "lifecycle", text: (one) => one.lifecycle, shown: (one, paint) => paint.bold(one.lifecycle) },
    { title: "key", text: (one) => one.key ?? "", shown: (one, paint) => visible(one.key ?? "") || paint.dim("–") },
    { title: "kind", text: (one) => one.kind },
    { title: "origin", text: (one) => one.origin },
    { title: "reason", text: (one) => one.reason, shown: (one, paint) => paint.red(visible(one.reason)) },
    { title: "status", text: (one) => one.status, shown: (one, paint) => coloured(one.status, paint) },
    { title: "created", text: (one) => one.createdAt, shown: (one) => ago(one.createdAt) },
  ];
}

function coloured(status: string, paint: Paint): string {
  return status === "open" ? paint.yellow(status) : status === "requeued" ? paint.green(status) : paint.dim(status);
}

const givenUp = { instance: "given up in", effect: "the after-effect of", message: "the message" };

function show(terminal: Terminal, letter: DeadLetterAnswer): void {
  if (terminal.json) {
    printJson(terminal, letter);
    return;
  }
  const name = `${letter.lifecycle} ${letter.key ?? letter.instance ?? ""}`.trimEnd();
  const lines: [title: string, text: string | null][] = [
    ["about", `${name}, ${givenUp[letter.kind]} ${letter.origin}`],
    ["instance", letter.instance],
    ["reason", letter.reason],
    ["error", letter.error === null ? null : `${letter.error.name}: ${letter.error.message}`],
    ["attempts", String(letter.attempts)],
    ["status", letter.status],
    ["created", letter.createdAt],
    [
      "decided",
      letter.decidedAt === null
        ? null
        : [letter.decidedAt, letter.decidedBy, letter.decision].filter(Boolean).join(", "),
    ],
    ["payload", letter.payload === null ? null : JSON.stringify(letter.payload)],
    ["details", letter.details === null ? null : JSON.stringify(letter.details)],
  ];
  for (const [title, text] of lines) {
    if (text !== null) terminal.print(`${terminal.paint.dim(title.padEnd(9))} ${visible(text)}`);
  }
  if (letter.error?.stack !== undefined) terminal.print(terminal.paint.dim(visible(letter.error.stack)));
}
