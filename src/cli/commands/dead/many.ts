import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { PawlError } from "../../../base/errors.ts";
import type { DeadLetterGroupResponse, OperationResponse, PreviewResponse } from "../../../http/contract.ts";
import { wholeNumber } from "../../arguments.ts";
import type { Act, Context } from "../../program.ts";
import { exitCodes } from "../../show/failure.ts";
import { ago } from "../../show/moments.ts";
import { Progress } from "../../show/progress.ts";
import { type Column, printJson, printList, printTable, type Terminal, visible } from "../../show/terminal.ts";
import type { Reached } from "../../transport/reach.ts";
import { reached } from "../reached.ts";
import { type Cause, withCause } from "../usual-options.ts";

/** The options of a bulk decision, in addition to the filter. */
export interface ManyOptions {
  readonly actor?: string;
  readonly reason?: string;
  readonly rate?: number;
  readonly restart?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly detach?: boolean;
}

const lookAgainMs = 200;
const shortestPatienceMs = 30_000;

/** Groups of letters that have their error in common. */
export async function printGroups(
  { terminal }: Context,
  pawl: Reached,
  args: Record<string, unknown>,
): Promise<undefined> {
  printList(terminal, await pawl.call("deadLetterGroups", args), groupColumns);
}

/** Shows a preview, asks for confirmation, starts the operation, and shows its progress until it has ended. */
export async function decideMany(
  { terminal }: Context,
  pawl: Reached,
  decision: "requeue" | "discard",
  which: Record<string, unknown>,
  { dryRun = false, yes = false, detach = false, rate, restart, actor, reason }: ManyOptions,
): Promise<number | undefined> {
  const preview = await pawl.call("previewDeadLetters", { ...which, decision, restart });
  if (dryRun && terminal.json) printJson(terminal, preview);
  else showPreview(terminal, decision, preview);
  if (dryRun || preview.letters === 0) return undefined;
  if (!yes && !(await agreed(terminal, decision, preview.letters))) return exitCodes.failed;
  const options = { rate, actor, reason, ...(decision === "requeue" && { restart }) };
  const verb = decision === "requeue" ? "requeueDeadLetters" : "discardDeadLetters";
  const begun = await pawl.call(verb, { ...which, ...options });
  if (detach) {
    printOperations(terminal, [begun]);
    return undefined;
  }
  if (terminal.isNotesTty && !terminal.json) {
    terminal.note(
      terminal.paintNotes.dim(`  Operation ${begun.id}. If this command ends first, workers complete the operation.`),
    );
  }
  const ended = await follow(terminal, pawl, begun, rate);
  printOperations(terminal, [ended]);
  if (ended.status === "running") terminal.note("The rest waits for a process that registers its lifecycles.");
  const isWhole =
    ended.status === "done" &&
    (ended.outcomes[`${decision}${decision === "requeue" ? "d" : "ed"}`] ?? 0) === ended.letters;
  return isWhole ? undefined : exitCodes.partly;
}

/** Waits until it has ended, or until the rest can be done by no process that runs. */
async function follow(
  terminal: Terminal,
  pawl: Reached,
  begun: OperationResponse,
  rate: number | undefined,
): Promise<OperationResponse> {
  const progress = new Progress(terminal, begun.letters);
  const patienceMs = Math.max(shortestPatienceMs, rate === undefined ? 0 : 3_000 / rate);
  let [operation, movedAt] = [begun, performance.now()];
  try {
    for (;;) {
      const { done, letters, outcomes } = operation;
      progress.show(done, `${done} of ${letters}${done === 0 ? "" : `: ${outcomesOf(outcomes)}`}`);
      if (operation.status !== "running" || performance.now() - movedAt > patienceMs) return operation;
      const next = await pawl.call("runOperationBatch", { id: begun.id });
      if (next.done > operation.done) movedAt = performance.now();
      else if (next.status === "running") await sleep(lookAgainMs);
      operation = next;
    }
  } finally {
    progress.end();
  }
}

function showPreview(terminal: Terminal, decision: string, { letters, outcomes, sample }: PreviewResponse): void {
  if (terminal.json) return;
  const { dim, yellow } = terminal.paintNotes;
  terminal.note(`To ${decision}: ${letters} dead letters${letters === 0 ? "" : `: ${outcomesOf(outcomes)}`}.`);
  for (const { letter, lifecycle, key, origin, outcome, note } of sample) {
    const why = note === null ? "" : `: ${visible(note)}`;
    const isFine = note === null;
    terminal.note(
      `  ${dim(letter)}  ${lifecycle} ${visible(key ?? "")} ${dim(visible(origin))} → ${isFine ? outcome : yellow(outcome)}${why}`,
    );
  }
}

async function agreed(terminal: Terminal, decision: string, letters: number): Promise<boolean> {
  if (!process.stdin.isTTY || !terminal.isNotesTty) {
    throw new PawlError(
      "option_invalid",
      `Nothing was changed. Use --yes to ${decision} these ${letters} dead letters.`,
    );
  }
  const { createInterface } = await import("node:readline/promises");
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test(
      await asking.question(`${decision === "requeue" ? "Requeue" : "Discard"} all ${letters}? [y/N] `),
    );
  } finally {
    asking.close();
  }
}

export function addOperations(dead: Command, act: Act): void {
  dead
    .command("operations")
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
  withCause(
    dead.command("abort").description("abort a bulk operation; completed changes are kept").argument("<id>"),
  ).action(
    act<Cause>((context, options, id) =>
      reached(context, async (pawl) => {
        printOperations(context.terminal, [await pawl.call("abortOperation", { id, ...options })]);
        return undefined;
      }),
    ),
  );
}

function printOperations(terminal: Terminal, operations: readonly OperationResponse[]): void {
  if (terminal.json) {
    printJson(terminal, operations);
    return;
  }
  printTable(terminal, operations, operationColumns);
  const [only] = operations;
  if (operations.length !== 1 || !terminal.isTty) return;
  for (const { letter, outcome, note } of only!.refusals)
    terminal.print(`  ${terminal.paint.dim(letter)}  ${terminal.paint.yellow(outcome)}: ${visible(note ?? "")}`);
}

const operationColumns: readonly Column<OperationResponse>[] = [
  { title: "id", text: (one) => one.id, shown: (one, paint) => paint.dim(one.id) },
  { title: "decision", text: (one) => one.decision },
  {
    title: "status",
    text: (one) => one.status,
    shown: ({ status }, paint) => (status === "done" ? paint.green(status) : paint.yellow(status)),
  },
  { title: "done", text: (one) => `${one.done}/${one.letters}`, alignRight: true },
  { title: "outcomes", text: (one) => outcomesOf(one.outcomes) },
  { title: "actor", text: (one) => one.actor ?? "" },
  { title: "reason", text: (one) => one.reason ?? "" },
];

const groupColumns: readonly Column<DeadLetterGroupResponse>[] = [
  { title: "letters", text: (one) => String(one.letters), alignRight: true },
  { title: "fingerprint", text: (one) => one.fingerprint, shown: (one, paint) => paint.dim(one.fingerprint) },
  { title: "lifecycle", text: (one) => one.lifecycle, shown: (one, paint) => paint.bold(one.lifecycle) },
  { title: "origin", text: (one) => one.origin },
  { title: "error", text: (one) => one.pattern, shown: (one, paint) => paint.red(visible(one.pattern)) },
  { title: "first", text: (one) => one.firstAt, shown: (one) => ago(one.firstAt) },
  { title: "last", text: (one) => one.lastAt, shown: (one) => ago(one.lastAt) },
];

function outcomesOf(outcomes: Readonly<Record<string, number>>): string {
  const some = Object.entries(outcomes).map(([outcome, letters]) => `${letters} ${outcome}`);
  return some.join(", ");
}
