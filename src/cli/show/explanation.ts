import type { ExplanationResponse } from "../../http/contract.ts";
import { shownState } from "./instance.ts";
import { precisely } from "./moments.ts";
import { type Paint, pad, type Terminal, visible } from "./terminal.ts";

const titleWidth = 18;

/** For people: state, whether it is stuck, what it waits for, what happens next, and its recovery. */
export function printExplanation(terminal: Terminal, one: ExplanationResponse): void {
  const { bold, dim, red, yellow } = terminal.paint;
  const name = `${one.lifecycle} ${bold(visible(one.key ?? one.id))}`;
  const since = one.outcome === null ? `for ${apart(one.since, one.at)}` : `${apart(one.since, one.at)} ago`;
  terminal.print(`\n  ${name}   ${shownState(one, terminal.paint)} ${dim(since)}`);
  if (one.key !== null) terminal.print(dim(`  ${one.id}`));
  terminal.print("");
  if (one.stuck !== null) {
    printText(terminal, red("▲ stuck"), red, `For ${apart(one.stuck.since, one.at)}: ${inside(one.stuck.sentence)}`);
    printText(terminal, "", yellow, one.stuck.remedy);
    terminal.print("");
  }
  if (one.waitingFor.length === 0) printText(terminal, bold("waits for"), dim, "Nothing.");
  else terminal.print(`  ${bold("waits for")}`);
  for (const wait of one.waitingFor) {
    printText(terminal, dim(nameOf(wait)), plain, wait.sentence);
    printText(terminal, "", dim, timesOf(wait, one.at));
  }
  if (one.outcome === null) {
    terminal.print("");
    printText(terminal, bold("next"), one.next === null ? dim : plain, nextOf(one));
  }
  const recovery = one.recovery?.sentences ?? [];
  if (recovery.length > 0) terminal.print("");
  for (const [at, sentence] of recovery.entries()) {
    printText(terminal, at === 0 ? bold("recovery") : "", plain, sentence);
  }
  terminal.print("");
}

type Wait = ExplanationResponse["waitingFor"][number];

function nameOf(wait: Wait): string {
  if (wait.kind === "timer") return wait.timer;
  if (wait.kind === "person") return wait.deadLetter === null ? "person" : "dead letter";
  return wait.kind === "effect" ? "after-effect" : wait.kind.replaceAll("_", " ");
}

function timesOf(wait: Wait, at: string): string {
  const since = `for ${apart(wait.since, at)}`;
  // When a lease ends is no time at which something happens.
  if (wait.until === null || ("status" in wait && wait.status === "running")) return since;
  const isOver = Date.parse(wait.until) <= Date.parse(at);
  return isOver ? `${since}, due ${apart(wait.until, at)} ago` : `${since}, due in ${apart(at, wait.until)}`;
}

function nextOf({ next, idle, at }: ExplanationResponse): string {
  if (next === null) return idle ?? "Nothing.";
  if (next.at === null) return next.sentence;
  const when = Date.parse(next.at) <= Date.parse(at) ? "Now" : `In ${apart(at, next.at)}`;
  return `${when}: ${inside(next.sentence)}`;
}

/** A sentence, to be put behind a colon. */
function inside(sentence: string): string {
  return `${sentence[0]!.toLowerCase()}${sentence.slice(1)}`;
}

function apart(from: string, to: string): string {
  return precisely(Math.max(0, Date.parse(to) - Date.parse(from)));
}

function plain(text: string): string {
  return text;
}

/** A title and a text that is broken at the edge of the terminal; names in backticks are bold. */
function printText(terminal: Terminal, title: string, paint: Paint["dim"] | typeof plain, text: string): void {
  const lines = wrapped(visible(text), Math.max(40, terminal.columns - titleWidth - 4));
  const bolded = lines.join("\n").replace(/`([^`]*)`/g, (_, name: string) => terminal.paint.bold(name));
  for (const [at, line] of bolded.split("\n").entries()) {
    terminal.print(`  ${pad(at === 0 ? title : "", titleWidth)}${paint(line)}`);
  }
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
