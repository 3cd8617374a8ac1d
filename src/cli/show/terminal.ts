import picocolors from "picocolors";

const { createColors } = picocolors;

export type Paint = ReturnType<typeof createColors>;

/** Where a command writes: data to stdout, all else to stderr. */
export interface Terminal {
  /** stdout is a terminal: tables and colours; otherwise plain lines for programs. */
  readonly isTty: boolean;
  /** The same of stderr. */
  readonly isNotesTty: boolean;
  readonly json: boolean;
  readonly verbose: boolean;
  readonly columns: number;
  readonly paint: Paint;
  /** The same for stderr, which may be a terminal when stdout is not. */
  readonly paintNotes: Paint;
  print(text: string): void;
  note(text: string): void;
  /** Writes over the line of stderr that was written last in this way. */
  rewrite(text: string): void;
}

export interface TerminalFlags {
  readonly json?: boolean;
  readonly verbose?: boolean;
  readonly color?: boolean;
}

export function makeTerminal(flags: TerminalFlags, env: NodeJS.ProcessEnv): Terminal {
  const { stdout, stderr } = process;
  const wanted = (stream: NodeJS.WriteStream) => flags.color !== false && wantsColour(stream, env);
  return {
    isTty: stdout.isTTY,
    isNotesTty: stderr.isTTY,
    json: flags.json === true,
    verbose: flags.verbose === true,
    columns: stdout.columns ?? 100,
    paint: createColors(wanted(stdout)),
    paintNotes: createColors(wanted(stderr)),
    print: (text) => void stdout.write(`${text}\n`),
    note: (text) => void stderr.write(`${text}\n`),
    rewrite: (text) => void stderr.write(`\r${text}\u001b[K`),
  };
}

function wantsColour(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): boolean {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== "") return false;
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== "0") return true;
  return Boolean(stream.isTTY) && env.TERM !== "dumb";
}

/** Output for programs: one JSON document. */
export function printJson(terminal: Terminal, value: unknown): void {
  terminal.print(JSON.stringify(value, null, terminal.isTty ? 2 : undefined));
}

export interface Column<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
  /** Output for people, if it differs from that for programs. */
  readonly shown?: (row: Row, paint: Paint) => string;
  readonly alignRight?: boolean;
}

/** Rows for a person as a table, for a program as tab-separated lines with a heading. */
export function printTable<Row>(terminal: Terminal, rows: readonly Row[], columns: readonly Column<Row>[]): void {
  const print = terminal.isTty ? printAligned : printTsv;
  print(terminal, rows, columns);
}

/** A list: JSON, or a table; a person reads instead why it is empty. */
export function printList<Row>(
  terminal: Terminal,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  none?: string,
): undefined {
  if (terminal.json) printJson(terminal, rows);
  else if (rows.length === 0 && terminal.isTty && none !== undefined) terminal.note(none);
  else printTable(terminal, rows, columns);
}

/** The same of one page of a list. */
export function printPage<Row extends { readonly id: string }>(
  terminal: Terminal,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { limit, none }: { readonly limit: number; readonly none: string },
): undefined {
  printList(terminal, rows, columns, none);
  if (rows.length === limit && terminal.isTty) terminal.note(`  More may follow: --after ${rows.at(-1)!.id}`);
}

/** One item: JSON, or a table of one row. */
export function printOne<Row>(terminal: Terminal, row: Row, columns: readonly Column<Row>[]): undefined {
  if (terminal.json) printJson(terminal, row);
  else printTable(terminal, [row], columns);
}

function printTsv<Row>(terminal: Terminal, rows: readonly Row[], columns: readonly Column<Row>[]): void {
  terminal.print(columns.map((column) => column.title.replaceAll(" ", "_")).join("\t"));
  for (const row of rows) terminal.print(columns.map((column) => visible(column.text(row))).join("\t"));
}

function printAligned<Row>(terminal: Terminal, rows: readonly Row[], columns: readonly Column<Row>[]): void {
  const { paint } = terminal;
  const cells = rows.map((row) => columns.map((column) => column.shown?.(row, paint) ?? visible(column.text(row))));
  const widths = columns.map(({ title }, at) => Math.max(title.length, ...cells.map((line) => width(line[at]!))));
  const aligned = (line: readonly string[]) =>
    line
      .map((cell, at) => pad(cell, widths[at]!, columns[at]!.alignRight))
      .join("   ")
      .trimEnd();
  terminal.print(`  ${paint.dim(aligned(columns.map((column) => column.title)))}`);
  for (const line of cells) terminal.print(`  ${aligned(line)}`);
}

/** Text of unknown origin in one line, without what would steer a terminal or break a table. */
export function visible(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .replace(
      /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu,
      (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
}

const colours = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, "g");

/** How many places a text takes, without its colours. */
function width(text: string): number {
  return Array.from(text.replace(colours, "")).length;
}

/** Pads a text to a width, ignoring its colours. */
export function pad(text: string, to: number, alignRight = false): string {
  const gap = " ".repeat(Math.max(0, to - width(text)));
  return alignRight ? gap + text : text + gap;
}
