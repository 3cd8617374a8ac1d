import type { DeadLetterGroupResponse, PreviewResponse } from "../../../http/contract.ts";
import type { Context } from "../../program.ts";
import { exitCodes } from "../../show/failure.ts";
import { ago } from "../../show/moments.ts";
import { type Column, printJson, printList, type Terminal, visible } from "../../show/terminal.ts";
import type { Reached } from "../../transport/reach.ts";
import { followOperation, isConfirmed, outcomesOf } from "../operations/follow.ts";

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
  const what = `${decision} these ${preview.letters} dead letters`;
  const question = `${decision === "requeue" ? "Requeue" : "Discard"} all ${preview.letters}?`;
  if (!yes && !(await isConfirmed(terminal, what, question))) return exitCodes.failed;
  const options = { rate, actor, reason, ...(decision === "requeue" && { restart }) };
  const verb = decision === "requeue" ? "requeueDeadLetters" : "discardDeadLetters";
  const begun = await pawl.call(verb, { ...which, ...options });
  const done = decision === "requeue" ? "requeued" : "discarded";
  return followOperation(terminal, pawl, begun, { detach, rate, done });
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

const groupColumns: readonly Column<DeadLetterGroupResponse>[] = [
  { title: "letters", text: (one) => String(one.letters), alignRight: true },
  { title: "fingerprint", text: (one) => one.fingerprint, shown: (one, paint) => paint.dim(one.fingerprint) },
  { title: "lifecycle", text: (one) => one.lifecycle, shown: (one, paint) => paint.bold(one.lifecycle) },
  { title: "origin", text: (one) => one.origin },
  { title: "error", text: (one) => one.pattern, shown: (one, paint) => paint.red(visible(one.pattern)) },
  { title: "first", text: (one) => one.firstAt, shown: (one) => ago(one.firstAt) },
  { title: "last", text: (one) => one.lastAt, shown: (one) => ago(one.lastAt) },
];
