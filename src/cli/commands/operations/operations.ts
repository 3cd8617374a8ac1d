import type { Command } from "commander";
import type { InstanceResponse, OperationPreviewResponse } from "../../../http/contract.ts";
import { jsonValue, rateOf, several, wholeNumber } from "../../arguments.ts";
import type { Act, Context } from "../../program.ts";
import { exitCodes } from "../../show/failure.ts";
import { printJson, type Terminal, visible } from "../../show/terminal.ts";
import type { Reached } from "../../transport/reach.ts";
import { reached } from "../reached.ts";
import { type Cause, withCause } from "../usual-options.ts";
import { followOperation, isConfirmed, outcomesOf, printOperations } from "./follow.ts";

interface FilterOptions {
  readonly id?: readonly string[];
  readonly state?: readonly string[];
  readonly key?: string;
  readonly parent?: string;
  readonly failure?: string;
  readonly olderThan?: string;
  readonly idleFor?: string;
  readonly all?: boolean;
}

interface Deciding extends FilterOptions, Cause {
  readonly payload?: unknown;
  readonly data?: unknown;
  readonly rate?: number;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly detach?: boolean;
}

const verbs = {
  send: { route: "sendToInstances", done: "sent", does: "send an event to many instances" },
  recover: { route: "recoverInstances", done: "recovered", does: "recover many failed instances" },
  restart: { route: "restartInstances", done: "restarted", does: "start many instances over" },
  discard: { route: "discardInstances", done: "discarded", does: "discard many instances" },
} as const;
type Verb = keyof typeof verbs;

export function addOperations(program: Command, act: Act): void {
  const operations = program
    .command("operations")
    .description("run, list and abort bulk operations, and export instances");
  addListing(operations, act, { isDefault: true, name: "list" });
  addAbort(operations, act);
  for (const verb of Object.keys(verbs) as Verb[]) addVerb(operations, act, verb);
  addFilter(
    operations
      .command("export")
      .description("write instances to stdout, oldest first, one JSON object a line")
      .argument("<lifecycle>"),
  ).action(
    act<FilterOptions>((context, options, lifecycle) =>
      reached(context, async (pawl) => {
        for await (const one of instancesOf(pawl, { lifecycle, ...filterArgs(options) }))
          process.stdout.write(`${JSON.stringify(one)}\n`);
        return undefined;
      }),
    ),
  );
}

/** Lists operations, or shows one. */
export function addListing(
  parent: Command,
  act: Act,
  { name, isDefault = false }: { readonly name: string; readonly isDefault?: boolean },
): void {
  parent
    .command(name, { isDefault })
    .description("list bulk operations with their progress")
    .argument("[id]", "only this operation, with its failures")
    .option("--limit <count>", "maximum number of results", wholeNumber, 20)
    .action(
      act<{ limit: number }>((context, { limit }, id) =>
        reached(context, async (pawl) => {
          const answer =
            id === undefined ? await pawl.call("operations", { limit }) : [await pawl.call("operation", { id })];
          printOperations(context.terminal, answer);
          return undefined;
        }),
      ),
    );
}

/** Aborts an operation. */
export function addAbort(parent: Command, act: Act): void {
  withCause(
    parent.command("abort").description("abort a bulk operation; completed changes are kept").argument("<id>"),
  ).action(
    act<Cause>((context, options, id) =>
      reached(context, async (pawl) => {
        printOperations(context.terminal, [await pawl.call("abortOperation", { id, ...options })]);
        return undefined;
      }),
    ),
  );
}

function addVerb(parent: Command, act: Act, verb: Verb): void {
  const command = parent.command(verb).description(verbs[verb].does).argument("<lifecycle>");
  if (verb === "send") {
    command
      .argument("<event>")
      .option("--payload <json>", "the event's payload: JSON, @file, or - for stdin", jsonValue);
  }
  if (verb === "recover" || verb === "restart")
    command.option("--data <json>", "data to change first: JSON, @file, or - for stdin", jsonValue);
  withCause(addFilter(command))
    .option("--rate <number>", "maximum number per second", rateOf)
    .option("--dry-run", "show what would happen, and change nothing")
    .option("--yes", "skip the confirmation")
    .option("--detach", "leave the operation to the workers, and do not wait for its end")
    .action(
      act<Deciding>((context, options, lifecycle, event) =>
        reached(context, (pawl) => decide(context, pawl, verb, { ...options, lifecycle: lifecycle!, event })),
      ),
    );
}

/** Shows a preview, asks for confirmation, starts the operation, and shows its progress until it has ended. */
async function decide(
  { terminal }: Context,
  pawl: Reached,
  verb: Verb,
  options: Deciding & { readonly lifecycle: string; readonly event: string | undefined },
): Promise<number | undefined> {
  const { lifecycle, event, payload, data, rate, actor, reason, dryRun = false, yes = false, detach = false } = options;
  const settings = verb === "send" ? { event, payload } : verb === "discard" ? {} : { data };
  const wanted = { lifecycle, ...settings, ...filterArgs(options) };
  const preview = await pawl.call("previewOperation", { ...wanted, decision: verb });
  if (dryRun && terminal.json) printJson(terminal, preview);
  else showPreview(terminal, verb, preview);
  if (dryRun || preview.instances === 0) return undefined;
  const what = `${verb} ${verb === "send" ? "to " : ""}these ${preview.instances} instances`;
  if (!yes && !(await isConfirmed(terminal, what, `${verb} all ${preview.instances}?`))) return exitCodes.failed;
  const { route, done } = verbs[verb];
  const begun = await pawl.call(route, { ...wanted, rate, actor, reason });
  return followOperation(terminal, pawl, begun, { detach, rate, done });
}

function showPreview(terminal: Terminal, verb: Verb, { instances, outcomes, sample }: OperationPreviewResponse): void {
  if (terminal.json) return;
  const { dim, yellow } = terminal.paintNotes;
  terminal.note(`To ${verb}: ${instances} instances${instances === 0 ? "" : `: ${outcomesOf(outcomes)}`}.`);
  for (const { id, key, state, outcome, note } of sample) {
    const result = note === null ? outcome : `${yellow(outcome)}: ${visible(note)}`;
    terminal.note(`  ${dim(id)}  ${visible(key ?? "")} ${dim(visible(state))} → ${result}`);
  }
}

async function* instancesOf(pawl: Reached, wanted: Record<string, unknown>): AsyncGenerator<InstanceResponse> {
  for (let after: string | undefined; ; ) {
    const page = await pawl.call("exportInstances", { ...wanted, limit: pageSize, after });
    yield* page;
    if (page.length < pageSize) return;
    after = page.at(-1)!.id;
  }
}

const pageSize = 200;

function addFilter(command: Command): Command {
  return command
    .option("--id <id>", "only this instance; repeatable", several)
    .option("--state <state>", "only instances in this state; repeatable", several)
    .option("--key <text>", "only instances whose key starts with this text")
    .option("--parent <id>", "only children of this instance")
    .option("--failure <reason>", "only instances that failed for this reason")
    .option("--older-than <duration>", "only instances that started at least this long ago: 10m, 2h, 7d")
    .option("--idle-for <duration>", "only instances that have not moved for at least this long")
    .option("--all", "all instances of the lifecycle");
}

function filterArgs({ id, state, key, parent, failure, olderThan, idleFor, all }: FilterOptions) {
  const args = { id, state, key, parent, failure, olderThan, idleFor, all };
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
}
