/** What examples draw on a terminal. */

/** Lines that are redrawn in place on a terminal. */
export class LiveLines {
  readonly #stdout: NodeJS.WriteStream;
  #drawn = 0;

  constructor(stdout: NodeJS.WriteStream) {
    this.#stdout = stdout;
    stdout.write("\x1b[?25l"); // A cursor that jumps about is no help.
  }

  draw(lines: readonly string[]): void {
    const back = this.#drawn === 0 ? "" : `\x1b[${this.#drawn}A`;
    this.#stdout.write(`${back}${lines.map((line) => `${line}\x1b[K\n`).join("")}\x1b[J`);
    this.#drawn = lines.length;
  }

  /** Keeps the last output on the screen. */
  end(): void {
    this.#stdout.write("\x1b[?25h");
  }
}

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** A bar with a resolution of an eighth of a character; any value above zero is visible. */
export function bar(length: number): string {
  const whole = Math.max(1, Math.round(length * 8));
  return "█".repeat(Math.floor(whole / 8)) + eighths[whole % 8]!;
}

/** The first column to the left, figures to the right. */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  const padded = (cell: string, at: number) => (at === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[at]!));
  return rows.map((row) => `  ${row.map(padded).join("  ")}`.trimEnd());
}

/** A numeric option, or an error with the allowed values. */
export function numberIn(text: string, name: string, least: number, most: number): number {
  const number = Number(text);
  if (text.trim() !== "" && number >= least && number <= most) return number;
  throw new Error(`${name} must be a number from ${least} to ${most}, not "${text}".`);
}
