import type { Query } from "./api.ts";

/** The value of a cell, for sorting and for files. */
export type Cell = string | number | boolean | null | undefined;

/** Rows as a file that spreadsheets read. A text that one of them would take for a formula stays a text. */
export function csv(heads: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [heads, ...rows].map((row) => row.map(field).join(",")).join("\r\n");
}

function field(cell: Cell): string {
  if (cell === null || cell === undefined) return "";
  const text = typeof cell === "string" && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Numbers by size, texts in natural order, missing values at the end in both directions. */
export function compare(one: Cell, other: Cell, descending: boolean): number {
  if (isMissing(one) || isMissing(other)) return Number(isMissing(one)) - Number(isMissing(other));
  const order =
    typeof one === "number" && typeof other === "number"
      ? one - other
      : String(one).localeCompare(String(other), "en", { numeric: true });
  return descending ? -order : order;
}

function isMissing(cell: Cell): boolean {
  return cell === null || cell === undefined || cell === "";
}

/** The same request for a terminal. The token is a variable, never shown. */
export function curlOf(url: string): string {
  return `curl -H "Authorization: Bearer $PAWL_TOKEN" ${quoted(url)}`;
}

/** An argument for a shell: quoted unless that is safe. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A command of the CLI with those of its options that have a value: `pawl instance list essay --state failed`. */
export function commandOf(words: readonly string[], options: Query = {}): string {
  const said = Object.entries(options).flatMap(([name, value]) => {
    if (value === undefined || value === null || value === "" || value === false) return [];
    if (value === true) return [`--${name}`];
    return [value].flat().map((one) => {
      const word = quoted(String(one));
      // Else it would be taken for an option.
      return word.startsWith("-") ? `--${name}=${word}` : `--${name} ${word}`;
    });
  });
  return ["pawl", ...words.map(quoted), ...said].join(" ");
}
