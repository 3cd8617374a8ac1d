import type { Terminal } from "./terminal.ts";

const barWidth = 24;
const everyMs = 100;
const plainEveryMs = 5_000;

/**
 * Shows the progress of long work on stderr: one line with a bar that is redrawn on a terminal, an occasional line in a
 * log, and nothing with JSON output.
 */
export class Progress {
  readonly #terminal: Terminal;
  /** How much there is in all, where that is known. */
  readonly #all: number | undefined;
  readonly #now: () => number;
  readonly #beganAt: number;
  #shownAt: number;
  #line = "";

  constructor(terminal: Terminal, all: number | undefined, now: () => number = () => performance.now()) {
    this.#terminal = terminal;
    this.#all = all;
    this.#now = now;
    this.#beganAt = now();
    this.#shownAt = terminal.isNotesTty ? Number.NEGATIVE_INFINITY : this.#beganAt;
  }

  show(done: number, text: string): void {
    const now = this.#now();
    const { isNotesTty, json } = this.#terminal;
    if (json || now - this.#shownAt < (isNotesTty ? everyMs : plainEveryMs)) return;
    this.#shownAt = now;
    const share = this.#all === undefined || this.#all === 0 ? undefined : Math.min(1, done / this.#all);
    if (isNotesTty)
      this.#draw(`  ${share === undefined ? "" : `${this.#bar(share)} `}${text}${this.#left(share, now)}`);
    else this.#terminal.note(share === undefined ? text : `${Math.floor(share * 100)} %: ${text}`);
  }

  /** Something that is to stay. */
  note(text: string): void {
    const line = this.#line;
    this.end();
    this.#terminal.note(text);
    if (line !== "") this.#draw(line);
  }

  end(): void {
    if (this.#line !== "") this.#terminal.rewrite("");
    this.#line = "";
  }

  #bar(share: number): string {
    const { green, dim } = this.#terminal.paintNotes;
    const filled = Math.floor(share * barWidth);
    const percent = String(Math.floor(share * 100)).padStart(3);
    return `${green("█".repeat(filled))}${dim("░".repeat(barWidth - filled))} ${percent} %`;
  }

  #left(share: number | undefined, now: number): string {
    if (share === undefined || share < 0.01 || share === 1) return "";
    const seconds = Math.ceil(((now - this.#beganAt) * (1 - share)) / share / 1_000);
    return this.#terminal.paintNotes.dim(
      seconds < 60 ? ` · ${seconds} s left` : ` · ${Math.ceil(seconds / 60)} min left`,
    );
  }

  #draw(line: string): void {
    this.#terminal.rewrite(line);
    this.#line = line;
  }
}
