import { canonicalJson } from "../../base/canonical-json.ts";
import { PawlError } from "../../base/errors.ts";
import type { Json } from "../../base/json.ts";
import { checkedOptions } from "../../base/options.ts";

/** A label with its sample, for exports. */
export interface LabelRow {
  readonly id: string;
  readonly sample: { readonly id: string; readonly key: string | null; readonly data: unknown };
  readonly labeler: string;
  /** Null for a skip. */
  readonly label: unknown;
  readonly skipped?: boolean;
  /** It arrived after the deadline. */
  readonly late?: boolean;
  /** From the start of the assignment to the label. */
  readonly leadMs: number | null;
  readonly createdAt: Date;
}

export type LabelRows = AsyncIterable<LabelRow> | Iterable<LabelRow>;

/** Writes labels as JSON Lines. Missing values are null, so that every line has the same fields. */
export async function* labelsToJsonl(rows: LabelRows): AsyncGenerator<string> {
  for await (const { id, sample, labeler, label, skipped = false, late = false, leadMs, createdAt } of rows) {
    const ofSample = { sample: sample.id, key: sample.key, data: sample.data ?? null };
    const ofLabel = { labeler, label: label ?? null, skipped, late, leadMs, createdAt };
    yield `${JSON.stringify({ id, ...ofSample, ...ofLabel })}\n`;
  }
}

export interface CsvExportOptions {
  /** The fields of the label that become columns; without them, the label is one column. */
  readonly fields?: readonly string[];
  /** The fields of the sample's data that become columns. */
  readonly data?: readonly string[];
  /** The field separator. Defaults to a comma. */
  readonly delimiter?: string;
  /** Start with a byte order mark, by which spreadsheets recognize UTF-8. */
  readonly byteOrderMark?: boolean;
}

/**
 * Writes labels as CSV, for spreadsheets. A text that a spreadsheet would run as a formula gets a leading apostrophe;
 * numbers stay numbers, including negative ones.
 */
export async function* labelsToCsv(rows: LabelRows, options: CsvExportOptions = {}): AsyncGenerator<string> {
  const known = ["fields", "data", "delimiter", "byteOrderMark"];
  const { fields, data = [], delimiter = "," } = checkedOptions(options, known, "labelsToCsv");
  if (![",", ";", "\t"].includes(delimiter)) {
    throw new PawlError("option_invalid", "The delimiter of an export must be a comma, a semicolon or a tab.");
  }
  const record = (cells: readonly unknown[]) => `${cells.map((cell) => csvCell(cell, delimiter)).join(delimiter)}\r\n`;
  const columns = fields === undefined ? ["label"] : fields.map((field) => `label.${field}`);
  const ofData = data.map((field) => `data.${field}`);
  const header = ["id", "sample", "key", "labeler", ...columns, "skipped", "late", "lead_ms", "created_at", ...ofData];
  yield (options.byteOrderMark === true ? "\ufeff" : "") + record(header);
  for await (const { id, sample, labeler, label, skipped = false, late = false, leadMs, createdAt } of rows) {
    const answers = fields === undefined ? [label] : fields.map((field) => fieldIn(label, field));
    const shown = data.map((field) => fieldIn(sample.data, field));
    const times = [skipped, late, leadMs, createdAt.toISOString()];
    yield record([id, sample.id, sample.key, labeler, ...answers, ...times, ...shown]);
  }
}

function fieldIn(value: unknown, field: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, field)
    ? (value as Readonly<Record<string, unknown>>)[field]
    : undefined;
}

/** Characters that start a formula in some spreadsheet, also after spaces, and their full-width forms. */
const formula = /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠])/u;

function csvCell(value: unknown, delimiter: string): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = typeof value === "string" ? value : canonicalJson(value as Json);
  const safe = formula.test(text) ? `'${text}` : text;
  return /["\r\n]|^\s|\s$/.test(safe) || safe.includes(delimiter) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
