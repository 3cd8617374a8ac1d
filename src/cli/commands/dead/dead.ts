import type { Command } from "commander";
import { PawlError } from "../../../base/errors.ts";
import type { DeadLetterAnswer } from "../../../http/contract.ts";
import { jsonValue, rateOf, wholeNumber } from "../../arguments.ts";
import type { Act, Context } from "../../program.ts";
import { ago } from "../../show/moments.ts";
import {
  type Column,
  type Paint,
  printJson,
  printOne,
  printPage,
  type Terminal,
  visible,
} from "../../show/terminal.ts";
import type { Reached } from "../../transport/reach.ts";
import { reached } from "../reached.ts";
import { addArchive } from "./archive.ts";
import { addFilter, type FilterOptions, filterArgs } from "./filter.ts";
import { addOperations, decideMany, type ManyOptions, printGroups } from "./many.ts";
import { addTickets } from "./tickets.ts";

type Deciding = FilterOptions & ManyOptions & { readonly data?: unknown };

interface Listing {
  readonly status: string;
  readonly limit: number;
  readonly after?: string;
  readonly groups?: boolean;
}

export function addDead(program: Command, act: Act): void {
  const dead = program.command("dead").description("list, group, requeue, discard and archive dead letters");
  dead
    .command("list", { isDefault: true })
    .description("list open dead letters, newest first")
    .argument("[lifecycle]")
    .option("--status <status>", "open, requeued, discarded or archived", "open")
    .option("--limit <count>", "maximum number of results", wholeNumber, 50)
    .option("--after <id>", "continue after this id, the last one of the previous page")
    .option("--groups", "group open dead letters by cause, with counts")
    .action(
      act<Listing>((context, { groups, ...options }, lifecycle) =>
        reached(context, (pawl) =>
          groups === true
            ? printGroups(context, pawl, { lifecycle, limit: options.limit })
            : list(context, pawl, { lifecycle, ...options }),
        ),
      ),
    );
  dead
    .command("show")
    .description("show a dead letter in full")
    .argument("<id>")
    .action(
      act((context, _, id) =>
        reached(context, async (pawl) => show(context.terminal, await pawl.call("deadLetter", { id }))),
      ),
    );
  addDecision(dead, "requeue", act)
    .description("retry dead letters: where they failed, or from the start")
    .option(
      "--data <json>",
      "data to change before the retry, for one dead letter: JSON, @file, or - for stdin",
      jsonValue,
    )
    .option("--restart", "start over instead of resuming where it failed");
  addDecision(dead, "discard", act).description(
    "discard dead letters without retrying; their instances stay where they are",
  );
  addOperations(dead, act);
  addTickets(dead, act);
  addArchive(dead, act);
}

/** About one letter, or about many: those are shown first, and then decided about one by one. */
function addDecision(dead: Command, decision: "requeue" | "discard", act: Act): Command {
  const command = dead.command(decision).argument("[id...]", "the dead letters; or select them with the options below");
  return addFilter(command)
    .option("--all", "all open dead letters")
    .option("--actor <name>", "name to record as the actor")
    .option("--reason <text>", "reason to record")
    .option("--rate <number>", "for many, maximum number per second", rateOf)
    .option("--dry-run", "show what would happen, and change nothing")
    .option("--yes", "skip the confirmation")
    .option("--detach", "leave a bulk operation to the workers, and do not wait for its end")
    .action(
      act<Deciding>((context, options, ids) => decideAny(context, decision, ids as unknown as string[], options)),
    );
}

function decideAny(
  context: Context,
  decision: "requeue" | "discard",
  ids: readonly string[],
  { data, actor, reason, restart, ...options }: Deciding,
): Promise<number | undefined> {
  const which = filterArgs(options, ids, Date.now());
  const [id] = ids;
  const isOne = ids.length === 1 && Object.keys(which).length === 1 && options.dryRun !== true;
  if (data !== undefined && !isOne)
    throw new PawlError("option_invalid", "--data applies to one dead letter. Name it by its id.");
  return reached(context, async (pawl) => {
    if (!isOne) return decideMany(context, pawl, decision, which, { ...options, actor, reason, restart });
    const letter =
      decision === "requeue"
        ? await pawl.call("requeue", { id, actor, reason, data, restart })
        : await pawl.call("discardDeadLetter", { id, actor, reason });
    return printOne(context.terminal, letter, columns);
  });
}

async function list(
  { terminal }: Context,
  pawl: Reached,
  args: Omit<Listing, "groups"> & { readonly lifecycle: string | undefined },
): Promise<undefined> {
  const found = await pawl.call("deadLetters", args);
  printPage(terminal, found, columns, { limit: args.limit, none: "No dead letters." });
}

const columns: readonly Column<DeadLetterAnswer>[] = [
  { title: "id", text: (one) => one.id, shown: (one, paint) => paint.dim(one.id) },
  { title: "lifecycle", text: (one) => one.lifecycle, shown: (one, paint) => paint.bold(one.lifecycle) },
  { title: "key", text: (one) => one.key ?? "", shown: (one, paint) => visible(one.key ?? "") || paint.dim("–") },
  { title: "kind", text: (one) => one.kind },
  { title: "origin", text: (one) => one.origin },
  { title: "reason", text: (one) => one.reason, shown: (one, paint) => paint.red(visible(one.reason)) },
  { title: "status", text: (one) => one.status, shown: (one, paint) => coloured(one.status, paint) },
  { title: "created", text: (one) => one.createdAt, shown: (one) => ago(one.createdAt) },
];

function coloured(status: string, paint: Paint): string {
  return status === "open" ? paint.yellow(status) : status === "requeued" ? paint.green(status) : paint.dim(status);
}

const givenUp = {
  instance: "failed in",
  effect: "`after` of",
  message: "the message",
  broker: "the message in",
};

function show(terminal: Terminal, letter: DeadLetterAnswer): undefined {
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
    ["group", letter.fingerprint],
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
