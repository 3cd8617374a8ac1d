import type { Command } from "commander";
import { PawlError } from "../../../base/errors.ts";
import { jsonValue, rateOf } from "../../arguments.ts";
import type { Act, Context } from "../../program.ts";
import { deadLetterColumns, printDeadLetter } from "../../show/dead-letter.ts";
import { printOne, printPage } from "../../show/terminal.ts";
import type { Reached } from "../../transport/reach.ts";
import { addAbort, addListing } from "../operations/operations.ts";
import { reached } from "../reached.ts";
import { type Page, withCause, withPage } from "../usual-options.ts";
import { addArchive } from "./archive.ts";
import { addFilter, type FilterOptions, filterArgs } from "./filter.ts";
import { decideMany, type ManyOptions, printGroups } from "./many.ts";
import { addTickets } from "./tickets.ts";

type Deciding = FilterOptions & ManyOptions & { readonly data?: unknown };

interface Listing extends Page {
  readonly status: string;
  readonly groups?: boolean;
}

export function addDead(program: Command, act: Act): void {
  const dead = program.command("dead").description("list, group, requeue, discard and archive dead letters");
  withPage(
    dead
      .command("list", { isDefault: true })
      .description("list open dead letters, newest first")
      .argument("[lifecycle]")
      .option("--status <status>", "open, requeued, discarded or archived", "open"),
  )
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
        reached(context, async (pawl) => printDeadLetter(context.terminal, await pawl.call("deadLetter", { id }))),
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
  addListing(dead, act, { name: "operations" });
  addAbort(dead, act);
  addTickets(dead, act);
  addArchive(dead, act);
}

/** About one letter, or about many: those are shown first, and then decided about one by one. */
function addDecision(dead: Command, decision: "requeue" | "discard", act: Act): Command {
  const command = dead.command(decision).argument("[id...]", "the dead letters; or select them with the options below");
  return withCause(addFilter(command).option("--all", "all open dead letters"))
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
    return printOne(context.terminal, letter, deadLetterColumns);
  });
}

async function list(
  { terminal }: Context,
  pawl: Reached,
  args: Omit<Listing, "groups"> & { readonly lifecycle: string | undefined },
): Promise<undefined> {
  const found = await pawl.call("deadLetters", args);
  printPage(terminal, found, deadLetterColumns, { limit: args.limit, none: "No dead letters." });
}
