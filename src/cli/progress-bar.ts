import type { Terminal } from "./terminal.ts";

const width = 24;

/** How far something is, in one line that is written over and over while a person looks on. */
export function progressBar(terminal: Terminal): { show(done: number, of: number, note: string): void; end(): void } {
  const isShown = terminal.isNotesTty && !terminal.json;
  const { green, dim } = terminal.paintNotes;
  let isBegun = false;
  return {
    show(done, of, note) {
      if (!isShown) return;
      isBegun = true;
      const filled = of === 0 ? width : Math.floor((done / of) * width);
      const bar = green("█".repeat(filled)) + dim("░".repeat(width - filled));
      terminal.rewrite(`  ${bar}  ${done}/${of}  ${dim(note)}`);
    },
    end() {
      if (isBegun) terminal.note("");
    },
  };
}
