import { type ByteStream, type Line, linesOf, maxLineBytes, textOf } from "./lines.ts";

/** A record of a CSV file, which may span several lines, or its fault. */
export type CsvRecord = { readonly line: number; readonly end: number } & (
  | { readonly fields: readonly string[] }
  | { readonly fields?: undefined; readonly problem: string; readonly remedy: string }
);

/**
 * Reads the records of a CSV file according to RFC 4180: quoted fields may contain separators, line ends and doubled
 * quotes. Lines may end with LF only. An invalid record ends with its first line, and the lines after it are read
 * again, so that a stray quote costs one record and not the rest of the file.
 */
export async function* csvRecords(input: ByteStream, delimiter = ","): AsyncGenerator<CsvRecord> {
  const source = linesOf(input);
  const again: Line[] = []; // The next line is the last.
  const nextLine = async () => again.pop() ?? ((await source.next()).value as Line | undefined);
  for (let first = await nextLine(); first !== undefined; first = await nextLine()) {
    const record = new RecordReader(delimiter);
    const further: Line[] = [];
    let fault = record.read(first);
    let bytes = 0;
    while (fault === undefined && !record.isComplete) {
      const line = await nextLine();
      bytes += line?.bytes?.length ?? 0;
      if (line !== undefined) further.push(line);
      fault = line === undefined || bytes > maxLineBytes ? unclosed : record.read(line);
    }
    if (fault !== undefined) {
      for (const line of further.reverse()) again.push(line);
      yield { line: first.number, end: first.end, ...fault };
    } else if (!record.isBlank) {
      yield { line: first.number, end: (further.at(-1) ?? first).end, fields: record.fields };
    }
  }
}

interface Fault {
  readonly problem: string;
  readonly remedy: string;
}

const unclosed: Fault = {
  problem: "A quote is not closed.",
  remedy: 'Close it; a quote within a field is written twice, "".',
};
const afterQuote: Fault = {
  problem: "Something follows a closing quote.",
  remedy: 'Put a separator there; a quote within a field is written twice, "".',
};
const strayQuote: Fault = {
  problem: "A quote appears in a field that is not quoted.",
  remedy: 'Put the field in quotes and write the quote twice, "".',
};

/** Reads one record line by line, and no character twice. */
class RecordReader {
  readonly fields: string[] = [];
  isComplete = false;
  readonly #delimiter: string;
  #quoted: string | undefined;

  constructor(delimiter: string) {
    this.#delimiter = delimiter;
  }

  /** An empty line. */
  get isBlank(): boolean {
    return this.fields.length === 1 && this.fields[0] === "";
  }

  read(line: Line): Fault | undefined {
    const decoded = textOf(line);
    if (!("text" in decoded)) return decoded;
    const isCrlf = decoded.text.endsWith("\r");
    const text = isCrlf ? decoded.text.slice(0, -1) : decoded.text;
    let at = 0;
    while (!this.isComplete) {
      if (this.#quoted === undefined && text[at] === '"') {
        this.#quoted = "";
        at++;
      }
      if (this.#quoted === undefined) {
        const end = text.indexOf(this.#delimiter, at);
        const field = text.slice(at, end < 0 ? undefined : end);
        if (field.includes('"')) return strayQuote;
        this.fields.push(field);
        if (end < 0) this.isComplete = true;
        at = end + 1;
        continue;
      }
      const quote = text.indexOf('"', at);
      if (quote < 0) {
        this.#quoted += text.slice(at) + (isCrlf ? "\r\n" : "\n");
        return undefined;
      }
      this.#quoted += text.slice(at, quote);
      at = quote + 2;
      if (text[quote + 1] === '"') {
        this.#quoted += '"';
        continue;
      }
      if (quote + 1 < text.length && text[quote + 1] !== this.#delimiter) return afterQuote;
      this.fields.push(this.#quoted);
      this.#quoted = undefined;
      if (quote + 1 === text.length) this.isComplete = true;
    }
    return undefined;
  }
}
