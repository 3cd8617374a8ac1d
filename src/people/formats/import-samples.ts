import { isPawlError, messageOf, PawlError } from "../../base/errors.ts";
import { type Json, storableText } from "../../base/json.ts";
import { checkedOptions } from "../../base/options.ts";
import { checkedText } from "../../base/text.ts";
import { csvRecords } from "./csv-records.ts";
import { type ByteStream, type ImportCursor, linesOf, textOf } from "./lines.ts";

/** A sample of a file. */
export interface SampleRow {
  readonly key: string | null;
  readonly data: Readonly<Record<string, Json>>;
  /** The known correct label; never shown to labelers. */
  readonly gold?: Json;
}

/** The result of one line or record. `cursor` continues after it. */
export type ImportedLine =
  | { readonly ok: true; readonly line: number; readonly cursor: ImportCursor; readonly sample: SampleRow }
  | {
      readonly ok: false;
      readonly line: number;
      readonly cursor: ImportCursor;
      /** The fault, and how to fix it. */
      readonly problem: string;
      readonly remedy: string;
    };

export interface ImportOptions {
  /** The field or column with the key of a sample: an equal key is the same sample. */
  readonly key?: string;
  /** The field or column with the gold label. It is removed from the data. */
  readonly gold?: string;
  /** Continue an earlier import of the same input. */
  readonly after?: ImportCursor;
}

export type ColumnKind = "text" | "number" | "boolean" | "json";

export interface CsvImportOptions extends ImportOptions {
  /** Columns that are not text. */
  readonly columns?: Readonly<Record<string, ColumnKind>>;
  /** The field separator. Defaults to a comma; some spreadsheets write ";". */
  readonly delimiter?: string;
}

/**
 * Reads samples from JSON Lines, one object per line. An invalid line is reported with its number and does not stop the
 * import.
 *
 * ```ts
 * for await (const line of samplesFromJsonl(createReadStream("texts.jsonl"), { key: "id", gold: "answer" })) {
 *   if (line.ok) batch.push(line.sample); else console.warn(`line ${line.line}: ${line.problem} ${line.remedy}`);
 * }
 * ```
 */
export async function* samplesFromJsonl(input: ByteStream, options: ImportOptions = {}): AsyncGenerator<ImportedLine> {
  checkedOptions(options, importOptions, "samplesFromJsonl");
  for await (const line of linesOf(input)) {
    if (line.end <= (options.after?.byte ?? 0)) continue;
    const read = textOf(line);
    if ("text" in read && read.text.trim() === "") continue;
    const place = { line: line.number, cursor: { line: line.number, byte: line.end } };
    yield imported(place, () => {
      if (!("text" in read)) throw new BadLine(read.problem, read.remedy);
      return sampleOf(parsed(read.text, "The line"), options);
    });
  }
}

const importOptions = ["key", "gold", "after"];

/**
 * Reads samples from CSV, one record per sample; the first record has the names of the fields. An invalid record is
 * reported with the number of its first line and does not stop the import; an invalid header does.
 */
export async function* samplesFromCsv(input: ByteStream, options: CsvImportOptions = {}): AsyncGenerator<ImportedLine> {
  checkedOptions(options, [...importOptions, "columns", "delimiter"], "samplesFromCsv");
  const delimiter = options.delimiter ?? ",";
  if (delimiter.length !== 1 || '"\r\n'.includes(delimiter)) {
    throw new PawlError(
      "option_invalid",
      "The delimiter must be one character, such as a comma, and no quote or line end.",
    );
  }
  let header: readonly string[] | undefined;
  for await (const record of csvRecords(input, delimiter)) {
    const place = { line: record.line, cursor: { line: record.line, byte: record.end } };
    if (header === undefined) {
      const checked = imported(place, () => ({ key: null, data: {}, header: headerOf(record, options) }));
      if (!checked.ok) {
        yield checked;
        return;
      }
      header = record.fields!;
    } else if (record.end > (options.after?.byte ?? 0)) {
      const names = header;
      yield imported(place, () => {
        if (record.fields === undefined) throw new BadLine(record.problem, record.remedy);
        return sampleOf(cellsOf(record.fields, names, options.columns ?? {}), options);
      });
    }
  }
}

/** The fault of a line. */
class BadLine extends Error {
  readonly remedy: string;

  constructor(problem: string, remedy: string) {
    super(problem);
    this.remedy = remedy;
  }
}

function imported(place: { line: number; cursor: ImportCursor }, read: () => SampleRow): ImportedLine {
  try {
    return { ok: true, ...place, sample: read() };
  } catch (error) {
    if (error instanceof BadLine) return { ok: false, ...place, problem: error.message, remedy: error.remedy };
    if (isPawlError(error))
      return { ok: false, ...place, problem: error.message, remedy: "Correct it and import it again." };
    throw error;
  }
}

function headerOf(
  record: { fields?: readonly string[]; problem?: string; remedy?: string },
  options: CsvImportOptions,
) {
  if (record.fields === undefined) throw new BadLine(record.problem!, record.remedy!);
  const names = record.fields;
  const empty = names.findIndex((name) => name.trim() === "");
  if (empty >= 0) throw new BadLine(`Column ${empty + 1} of the header has no name.`, "Name every column.");
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw new BadLine(`Two columns have the name "${twice}".`, "Give each column a unique name.");
  const asked = [options.key, options.gold, ...Object.keys(options.columns ?? {})];
  const missing = asked.find((name) => name !== undefined && !names.includes(name));
  if (missing === undefined) return names;
  throw new BadLine(
    `Column "${missing}" does not exist.`,
    `Use one of ${names.map((name) => `"${name}"`).join(", ")}.`,
  );
}

function cellsOf(
  fields: readonly string[],
  header: readonly string[],
  kinds: Readonly<Record<string, ColumnKind>>,
): Record<string, Json> {
  if (fields.length !== header.length) {
    const problem = `It has ${fields.length} fields; the header has ${header.length}.`;
    throw new BadLine(problem, "Write a field for each column; quote a field that contains a separator.");
  }
  const entries = header.map(
    (name, index) => [name, cellOf(fields[index]!, name, own(kinds, name) ?? "text")] as const,
  );
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Record<string, Json>;
}

/** An empty cell of a column that is not text is omitted. */
function cellOf(text: string, name: string, kind: ColumnKind): Json | undefined {
  if (kind === "text") return text;
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  if (kind === "json") return parsed(trimmed, `Column "${name}"`);
  if (kind === "number" && Number.isFinite(Number(trimmed))) return Number(trimmed);
  const truth = /^(?:(true|yes|1)|(false|no|0))$/i.exec(trimmed);
  if (kind === "boolean" && truth !== null) return truth[1] !== undefined;
  const expected = kind === "number" ? "a number such as 4.5" : "true or false";
  throw new BadLine(`Column "${name}" contains ${JSON.stringify(trimmed.slice(0, 60))}.`, `Write ${expected}.`);
}

function parsed(text: string, what: string): Json {
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new BadLine(`${what} is not JSON: ${messageOf(error)}.`, "Write one JSON value, with its quotes.");
  }
  if (/\d{16}/.test(text) && hasLostDigits(value)) {
    throw new BadLine(`${what} contains a number beyond 2^53, which would lose digits.`, "Write it as a string.");
  }
  return value;
}

function hasLostDigits(value: Json): boolean {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === "object" && value !== null && Object.values(value).some(hasLostDigits);
}

function sampleOf(value: Json, { key, gold }: ImportOptions): SampleRow {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new BadLine("It is not an object.", 'Write an object with named fields, such as {"text":"…"}.');
  }
  const fields = value as Readonly<Record<string, Json>>;
  storableText(fields, "It");
  const data = Object.fromEntries(Object.entries(fields).filter(([name]) => name !== key && name !== gold));
  const known = own(fields, gold);
  return {
    key: key === undefined ? null : keyOf(own(fields, key), key),
    data,
    ...(known === undefined ? {} : { gold: known }),
  };
}

/** Only own properties. */
function own<Value>(values: Readonly<Record<string, Value>>, name: string | undefined): Value | undefined {
  return name !== undefined && Object.hasOwn(values, name) ? values[name] : undefined;
}

function keyOf(value: Json | undefined, name: string): string {
  if (value === undefined || value === null || value === "") {
    throw new BadLine(`It has no field "${name}" for its key.`, "Give each sample a unique key.");
  }
  return checkedText(typeof value === "number" ? String(value) : value, `"${name}"`, "key_invalid");
}
