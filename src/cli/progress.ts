import type { Terminal } from "./terminal.ts";

const barWidth = 24;
const everyMs = 100;
const plainEveryMs = 5_000;

/** How far a long work has come, on stderr: a bar for a person who looks on, now and then a line for a log. */
export class Progress {
  readonly #terminal: Terminal;
  /** How much there is in all, where that is known. */
  readonly #all: number | undefined;
  readonly #beganAt = performance.now();
  #shownAt = performance.now();
  #line = "";

  constructor(terminal: Terminal, all: number | undefined) {
    this.#terminal = terminal;
    this.#all = all;
  }

  show(done: number, text: string): void {
    const now = performance.now();
    const { isNotesTty, json } = this.#terminal;
    if (json || now - this.#shownAt < (isNotesTty ? everyMs : plainEveryMs)) return;
    this.#shownAt = now;
    const share = this.#all === undefined || this.#all === 0 ? undefined : Math.min(1, done / this.#all);
    if (isNotesTty) this.#draw(`  ${share === undefined ? "" : `${barOf(share)} `}${text}${this.#left(share, now)}`);
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
    if (this.#line !== "") process.stderr.write("\r\x1b[K");
    this.#line = "";
  }

  #left(share: number | undefined, now: number): string {
    if (share === undefined || share < 0.01) return "";
    const seconds = Math.ceil(((now - this.#beganAt) * (1 - share)) / share / 1_000);
    return this.#terminal.paintNotes.dim(
      seconds < 60 ? ` · ${seconds} s left` : ` · ${Math.ceil(seconds / 60)} min left`,
    );
  }

  #draw(line: string): void {
    process.stderr.write(`\r${line}\x1b[K`);
    this.#line = line;
  }
}

function barOf(share: number): string {
  const filled = Math.round(share * barWidth);
  return `${"█".repeat(filled)}${"░".repeat(barWidth - filled)} ${String(Math.floor(share * 100)).padStart(3)} %`;
}
