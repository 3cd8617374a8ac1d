import picocolors from "picocolors";
import { expect, test } from "vitest";
import { progressBar } from "./progress-bar.ts";
import type { Terminal } from "./terminal.ts";

function terminalOf(given: Partial<Terminal>): { terminal: Terminal; written: string[] } {
  const written: string[] = [];
  const paint = picocolors.createColors(false);
  const note = (text: string) => void written.push(text);
  const plain = { isTty: true, isNotesTty: true, json: false, verbose: false, columns: 80, paint, paintNotes: paint };
  return { terminal: { ...plain, print: note, note, rewrite: note, ...given }, written };
}

test("a bar fills as things get done, in one line that ends when they are", () => {
  const { terminal, written } = terminalOf({});
  const bar = progressBar(terminal);
  bar.show(0, 8, "");
  bar.show(4, 8, "4 requeued");
  bar.show(8, 8, "7 requeued, 1 gone");
  bar.end();
  expect(written).toEqual([
    `  ${"░".repeat(24)}  0/8  `,
    `  ${"█".repeat(12)}${"░".repeat(12)}  4/8  4 requeued`,
    `  ${"█".repeat(24)}  8/8  7 requeued, 1 gone`,
    "",
  ]);
});

test("programs are shown none", () => {
  for (const given of [{ isNotesTty: false }, { json: true }]) {
    const { terminal, written } = terminalOf(given);
    const bar = progressBar(terminal);
    bar.show(1, 2, "");
    bar.end();
    expect(written).toEqual([]);
  }
});
