import type {
  AllowedEventResponse,
  AttemptResponse,
  CallbackResponse,
  ChildrenResponse,
  InstanceResponse,
  MoveResponse,
} from "../../http/contract.ts";
import { ago, roughly } from "./moments.ts";
import { type Column, type Paint, pad, printTable, type Terminal, visible } from "./terminal.ts";

type Entry = MoveResponse | AttemptResponse;

/** One instance in one line: for a person its name and state, for a program also its version and id. */
export function instanceLine(terminal: Terminal, one: InstanceResponse): string {
  if (!terminal.isTty) return [visible(one.key ?? ""), one.state, one.version, one.id].join("\t");
  const { bold, dim } = terminal.paint;
  return `  ${bold(visible(one.key ?? one.id))}  ${shownState(one, terminal.paint)}  ${dim(`move ${one.version}`)}`;
}

/** A state in the colour of its category: success, failure, or open. */
export function shownState(one: Pick<InstanceResponse, "state" | "outcome">, paint: Paint): string {
  if (one.outcome === "success") return paint.green(one.state);
  if (one.outcome === "failure" || one.state === "failed") return paint.red(one.state);
  return one.outcome === "discarded" ? paint.dim(one.state) : paint.cyan(one.state);
}

/** The history for a program: one line an entry. */
export function printHistory(terminal: Terminal, history: readonly Entry[]): void {
  printTable(terminal, history, historyColumns);
}

const historyColumns: readonly Column<Entry>[] = [
  { title: "version", text: (one) => (one.kind === "move" ? String(one.version) : "") },
  { title: "at", text: (one) => one.at },
  { title: "what", text: (one) => (one.kind === "move" ? one.event : one.what) },
  { title: "from", text: (one) => (one.kind === "move" ? (one.from ?? "") : (one.lane ?? "")) },
  { title: "to", text: (one) => (one.kind === "move" ? one.to : "") },
  { title: "by", text: (one) => byWhom(one) },
  { title: "reason", text: (one) => (one.kind === "move" ? (one.reason ?? "") : detailOf(one)) },
];

/** The instance for people: its state, its data, its history, and the events it accepts. */
export function printInstance(
  terminal: Terminal,
  one: InstanceResponse,
  about: {
    readonly history: readonly Entry[];
    readonly children?: ChildrenResponse;
    readonly permitted?: readonly AllowedEventResponse[];
    readonly late?: readonly CallbackResponse[];
  },
): void {
  const { children, history, permitted = [], late = [] } = about;
  const { bold, dim } = terminal.paint;
  const name = `${one.lifecycle} ${bold(visible(one.key ?? one.id))}`;
  const ended = one.outcome === null ? "" : dim(`  ${endedAs[one.outcome]}`);
  terminal.print(`\n  ${name}   ${shownState(one, terminal.paint)}${ended}`);
  terminal.print(dim(`  ${one.id}, version ${one.definition} of its lifecycle`));
  if (one.parent !== null) terminal.print(dim(`  a child of ${one.parent.lifecycle} ${one.parent.id}`));
  if (one.deadlineAt !== null) terminal.print(dim(`  ${deadlineLine(one)}`));
  if (one.failure !== null) terminal.print(`  ${failureLine(terminal, one.failure)}`);
  for (const callback of late) printLate(terminal, callback);
  if (one.progress !== undefined) terminal.print(`  ${progressLine(terminal, one.progress)}`);
  printData(terminal, one.data);
  if (children !== undefined && children.total > 0) printChildren(terminal, children);
  printTimeline(terminal, history);
  if (one.outcome === null) printPermitted(terminal, permitted);
  terminal.print("");
}

/** Why it failed, where and when. */
function failureLine(
  terminal: Terminal,
  { reason, error, at, state }: NonNullable<InstanceResponse["failure"]>,
): string {
  const { dim, red } = terminal.paint;
  const why = error === null ? "" : `  ${clipped(terminal, `${error.name}: ${error.message}`, 40)}`;
  return `${red(visible(reason))} in ${state}${why}  ${dim(ago(at))}`;
}

function deadlineLine({ deadlineAt, timedOutAt }: InstanceResponse): string {
  const at = new Date(deadlineAt!).toLocaleString();
  return timedOutAt === null ? `deadline ${at}` : `deadline ${at}, timed out`;
}

/** A result that came after the deadline: shown, but without effect unless it was accepted. */
function printLate(terminal: Terminal, { id, event, receivedAt, status, error, payload }: CallbackResponse): void {
  const { dim, yellow } = terminal.paint;
  const what = error === null ? "late result" : "late error";
  const said = clipped(terminal, error === null ? payload : error.message, 40);
  terminal.print(`\n  ${yellow(`▲ ${what}`)}  ${event} ${said}  ${dim(ago(receivedAt))}`);
  if (status === "kept" && error === null)
    terminal.print(dim(`    not applied; to accept it: pawl callbacks accept ${id}`));
  else terminal.print(dim(`    ${status}`));
}

const endedAs = { success: "succeeded", failure: "failed", discarded: "discarded" };

function printData(terminal: Terminal, data: unknown): void {
  const fields = Object.entries(data ?? {});
  if (fields.length === 0) return;
  const widest = Math.max(...fields.map(([name]) => name.length));
  terminal.print("");
  for (const [name, value] of fields) {
    terminal.print(`  ${terminal.paint.dim(pad(visible(name), widest))}  ${clipped(terminal, value, widest + 4)}`);
  }
}

const barWidth = 20;

/** The progress of the running step: a bar, a figure, its note and the note's age. */
function progressLine(terminal: Terminal, { fraction, note, at }: NonNullable<InstanceResponse["progress"]>): string {
  const { cyan, dim } = terminal.paint;
  const done = Math.round(fraction * barWidth);
  const bar = `${cyan("█".repeat(done))}${dim("░".repeat(barWidth - done))}`;
  const shown = note === null ? "" : `  ${clip(visible(note), terminal.columns - barWidth - 24)}`;
  return `${bar} ${Math.floor(fraction * 100)} %${shown}  ${dim(ago(at))}`;
}

/** The children of its run: counts by state, and the first ones. */
function printChildren(terminal: Terminal, children: ChildrenResponse): void {
  const { total, first } = children;
  const { dim, red } = terminal.paint;
  const counts = (["open", "succeeded", "failed", "discarded"] as const)
    .filter((how) => children[how] > 0)
    .map((how) => (how === "failed" ? red(`${children[how]} failed`) : `${children[how]} ${how}`));
  terminal.print(`\n  ${dim("children")}   ${total}: ${counts.join(", ")}`);
  const names = first.map((child) => `${child.lifecycle} ${visible(child.key ?? child.id)}`);
  const widest = Math.max(...names.map((name) => name.length));
  for (const [place, child] of first.entries()) {
    terminal.print(`    ${pad(names[place]!, widest)}  ${shownState(child, terminal.paint)}`);
  }
  if (total > first.length) terminal.print(dim(`    and ${total - first.length} more`));
}

/** One line per move, with the time since the one before and its changes; attempts are in between. */
function printTimeline(terminal: Terminal, history: readonly Entry[]): void {
  const { bold, dim, cyan, red } = terminal.paint;
  const events = Math.max(...history.map((entry) => nameOf(entry).length));
  const ways = Math.max(...history.map((entry) => wayOf(entry).length));
  let day = "";
  let before: number | undefined;
  for (const entry of history) {
    const at = new Date(entry.at);
    if (at.toDateString() !== day) terminal.print(`\n  ${dim(at.toDateString())}`);
    day = at.toDateString();
    const since = before === undefined || at.getTime() - before < 1_000 ? "" : `+${roughly(at.getTime() - before)}`;
    before = at.getTime();
    const isMove = entry.kind === "move";
    const dot = isMove ? cyan("●") : entry.what === "failed" || entry.what === "lapsed" ? red("·") : dim("·");
    const time = dim(`${at.toTimeString().slice(0, 8)} ${pad(since, 5, true)}`);
    const what = pad(isMove ? bold(nameOf(entry)) : dim(nameOf(entry)), events);
    const by = visible(byWhom(entry));
    const way = by === "" ? wayOf(entry) : `${pad(wayOf(entry), ways)}  ${dim(by)}`;
    terminal.print(`  ${time}  ${dot} ${what}  ${way}`);
    for (const line of changesOf(terminal, entry)) terminal.print(`${" ".repeat(18)}${dim("│")} ${line}`);
  }
}

function nameOf(entry: Entry): string {
  return entry.kind === "move" ? entry.event : entry.what;
}

function wayOf(entry: Entry): string {
  if (entry.kind === "attempt") return entry.attempt === null ? "" : `attempt ${entry.attempt}`;
  return entry.from === entry.to ? `stays in ${entry.to}` : `→ ${entry.to}`;
}

function byWhom(entry: Entry): string {
  if (entry.kind === "attempt") return entry.worker ?? "";
  if (entry.actor !== null) return entry.actor;
  return entry.source === "call" ? "" : entry.source;
}

function* changesOf(terminal: Terminal, entry: Entry): Generator<string> {
  if (entry.kind === "attempt") {
    const detail = detailOf(entry);
    if (detail !== "") yield terminal.paint.dim(clip(visible(detail), terminal.columns - 22));
    return;
  }
  // A timer's reason is its nature.
  const reason = entry.source === "timer" ? null : entry.reason;
  if (reason !== null) yield `“${clip(visible(reason), terminal.columns - 24)}”`;
  if (entry.from === null) return; // The data of the start is the data shown above, as far as it still holds.
  for (const [name, value] of Object.entries(entry.patch ?? {})) {
    yield `${terminal.paint.dim(visible(name))} ${clipped(terminal, value, 22 + name.length)}`;
  }
  for (const name of entry.cleared ?? []) yield terminal.paint.dim(`${visible(name)} removed`);
}

function detailOf(entry: AttemptResponse): string {
  const { detail, endedAt, outcome } = entry;
  if (outcome !== null && endedAt !== null)
    return `${outcome} after ${roughly(Date.parse(endedAt) - Date.parse(entry.at))}`;
  if (detail === null || detail === undefined) return "";
  const { error, reason } = detail as { error?: { message?: string } | null; reason?: string };
  return error?.message ?? reason ?? JSON.stringify(detail);
}

function printPermitted(terminal: Terminal, permitted: readonly AllowedEventResponse[]): void {
  const { dim, green } = terminal.paint;
  const yes = permitted.filter((one) => one.permitted !== "no").map((one) => one.event);
  terminal.print(`\n  ${dim("allowed")}     ${yes.map((event) => green(event)).join(dim(", ")) || dim("nothing")}`);
  for (const one of permitted) {
    if (one.permitted !== "no") continue;
    const reasons = visible(one.blockers.map(({ reason }) => reason).join("; "));
    terminal.print(dim(`  not allowed ${one.event}: ${reasons}`));
  }
}

function clipped(terminal: Terminal, value: unknown, before: number): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return clip(visible(text), terminal.columns - before);
}

function clip(text: string, to: number): string {
  const most = Math.max(20, to);
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
