import picocolors from "picocolors";
import { expect, test } from "vitest";
import { Progress } from "./progress.ts";
import type { Terminal } from "./terminal.ts";

function terminalOf(given: Partial<Terminal>): { terminal: Terminal; written: string[] } {
  const written: string[] = [];
  const paint = picocolors.createColors(false);
  const note = (text: string) => void written.push(text);
  const rewrite = (text: string) => void written.push(`\r${text}`);
  const plain = { isTty: true, isNotesTty: true, json: false, verbose: false, columns: 80, paint, paintNotes: paint };
  return { terminal: { ...plain, print: note, note, rewrite, ...given }, written };
}

test("a bar fills as things get done, says how long it takes, and is gone at the end", () => {
  const { terminal, written } = terminalOf({});
  let now = 0;
  const progress = new Progress(terminal, 8, () => now);
  progress.show(0, "0 done");
  now += 99;
  progress.show(1, "too soon to be read");
  now = 30_000;
  progress.show(2, "2 done");
  progress.note("One of them was odd.");
  now = 120_000;
  progress.show(8, "8 done");
  progress.end();
  expect(written).toEqual([
    `\r  ${"░".repeat(24)}   0 % 0 done`,
    `\r  ${"█".repeat(6)}${"░".repeat(18)}  25 % 2 done · 2 min left`,
    "\r",
    "One of them was odd.",
    `\r  ${"█".repeat(6)}${"░".repeat(18)}  25 % 2 done · 2 min left`,
    `\r  ${"█".repeat(24)} 100 % 8 done`,
    "\r",
  ]);
});

test("where it is not known how much there is, it tells what was done", () => {
  const { terminal, written } = terminalOf({});
  new Progress(terminal, undefined).show(5, "5 done");
  expect(written).toEqual(["\r  5 done"]);
});

test("a log gets a line every five seconds, and a program that reads JSON nothing", () => {
  for (const [given, expected] of [
    [{ isNotesTty: false }, ["50 %: half of it"]],
    [{ json: true }, []],
  ] as const) {
    const { terminal, written } = terminalOf(given);
    let now = 0;
    const progress = new Progress(terminal, 2, () => now);
    progress.show(0, "nothing yet");
    now = 5_000;
    progress.show(1, "half of it");
    now = 9_999;
    progress.show(2, "all of it");
    progress.end();
    expect(written).toEqual(expected);
  }
});
