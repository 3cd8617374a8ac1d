import { setTimeout as sleep } from "node:timers/promises";
import { PawlError } from "../../../base/errors.ts";
import type { OperationResponse } from "../../../http/contract.ts";
import { exitCodes } from "../../show/failure.ts";
import { Progress } from "../../show/progress.ts";
import { type Column, printJson, printTable, type Terminal, visible } from "../../show/terminal.ts";
import type { Reached } from "../../transport/reach.ts";

const lookAgainMs = 200;
const shortestPatienceMs = 30_000;

/** Shows the progress of an operation until it has ended; returns the exit code. */
export async function followOperation(
  terminal: Terminal,
  pawl: Reached,
  begun: OperationResponse,
  { detach, rate, done }: { readonly detach: boolean; readonly rate: number | undefined; readonly done: string },
): Promise<number | undefined> {
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
  const isWhole = ended.status === "done" && (ended.outcomes[done] ?? 0) === ended.items;
  return isWhole ? undefined : exitCodes.partly;
}

/** Waits until it has ended, or until the rest can be done by no process that runs. */
async function follow(
  terminal: Terminal,
  pawl: Reached,
  begun: OperationResponse,
  rate: number | undefined,
): Promise<OperationResponse> {
  const progress = new Progress(terminal, begun.items);
  const patienceMs = Math.max(shortestPatienceMs, rate === undefined ? 0 : 3_000 / rate);
  let [operation, movedAt] = [begun, performance.now()];
  try {
    for (;;) {
      const { done, items, outcomes } = operation;
      progress.show(done, `${done} of ${items}${done === 0 ? "" : `: ${outcomesOf(outcomes)}`}`);
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

/** Asks for a confirmation; without a terminal, `--yes` is needed. */
export async function isConfirmed(terminal: Terminal, what: string, question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !terminal.isNotesTty) {
    throw new PawlError("option_invalid", `Nothing was changed. Use --yes to ${what}.`);
  }
  const { createInterface } = await import("node:readline/promises");
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test(await asking.question(`${question} [y/N] `));
  } finally {
    asking.close();
  }
}

export function printOperations(terminal: Terminal, operations: readonly OperationResponse[]): void {
  if (terminal.json) {
    printJson(terminal, operations);
    return;
  }
  printTable(terminal, operations, operationColumns);
  const [only] = operations;
  if (operations.length !== 1 || !terminal.isTty) return;
  for (const { id, outcome, note } of only!.refusals)
    terminal.print(`  ${terminal.paint.dim(id)}  ${terminal.paint.yellow(outcome)}: ${visible(note ?? "")}`);
}

const operationColumns: readonly Column<OperationResponse>[] = [
  { title: "id", text: (one) => one.id, shown: (one, paint) => paint.dim(one.id) },
  { title: "decision", text: (one) => (one.event === null ? one.decision : `${one.decision} ${one.event}`) },
  {
    title: "status",
    text: (one) => one.status,
    shown: ({ status }, paint) => (status === "done" ? paint.green(status) : paint.yellow(status)),
  },
  { title: "done", text: (one) => `${one.done}/${one.items}`, alignRight: true },
  { title: "outcomes", text: (one) => outcomesOf(one.outcomes) },
  { title: "actor", text: (one) => one.actor ?? "" },
  { title: "reason", text: (one) => one.reason ?? "" },
];

/** Counts of outcomes as a text. */
export function outcomesOf(outcomes: Readonly<Record<string, number>>): string {
  const some = Object.entries(outcomes).map(([outcome, count]) => `${count} ${outcome}`);
  return some.join(", ");
}
