import { PawlError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import type { JsonSchema } from "../definition/schema/json-schema.ts";
import {
  type Agreement,
  agreementByLabeler,
  agreementOf,
  type LabelerAgreement,
} from "../policy/agreement/agreement.ts";
import { accuracyOnGold, type GoldAccuracy } from "../policy/agreement/gold.ts";
import type { GivenLabel } from "../policy/agreement/label-columns.ts";
import { labelShape } from "../policy/agreement/schema-shape.ts";
import type { Executor } from "../store/port/db.ts";
import type { LabelRow } from "./formats/export-labels.ts";
import type { ImportedLine } from "./formats/import-samples.ts";
import type { ImportCursor } from "./formats/lines.ts";
import { addUsable, problemOf } from "./formats/usable-samples.ts";
import { sampleKeyOf } from "./lifecycle/sample-key.ts";
import type { NewSample } from "./samples.ts";
import { type ExportedLabel, readExportedLabels, readSampleOfRow } from "./views/labels.ts";

/** The result of an import. */
export interface Imported {
  readonly added: number;
  /** Samples whose keys already existed. */
  readonly known: number;
  /** Invalid lines with their faults; at most 1,000. */
  readonly bad: readonly { readonly line: number; readonly problem: string; readonly remedy: string }[];
  readonly badLines: number;
  /** The position: pass it as `after` to continue the import. */
  readonly cursor: ImportCursor | null;
}

const maxSamples = 500;
const maxNotes = 1_000;

/**
 * Adds samples in batches. An invalid line, or a sample that its queue refuses, is reported and does not stop the
 * import.
 */
export async function importSamples(
  lines: AsyncIterable<ImportedLine>,
  add: (samples: readonly NewSample[]) => Promise<readonly { readonly created: boolean }[]>,
): Promise<Imported> {
  const notes: { line: number; problem: string; remedy: string }[] = [];
  let [added, known, badLines]: [number, number, number] = [0, 0, 0];
  let cursor: ImportCursor | null = null;
  let batch: NewSample[] = [];
  let numbers: number[] = [];
  const note = (line: number, problem: string, remedy: string): void => {
    badLines += 1;
    if (notes.length < maxNotes) notes.push({ line, problem, remedy });
  };
  const flush = async (): Promise<void> => {
    const refuse = (index: number, error: PawlError) => {
      const { problem, remedy } = problemOf(error);
      note(numbers[index]!, problem, remedy);
    };
    for (const { created } of await addUsable(batch, add, refuse)) {
      if (created) added += 1;
      else known += 1;
    }
    [batch, numbers] = [[], []];
  };
  for await (const line of lines) {
    if (line.ok) {
      const { key, data, gold } = line.sample;
      batch.push({ data, ...(key === null ? {} : { key }), ...(gold === undefined ? {} : { gold }) });
      numbers.push(line.line);
      if (batch.length === maxSamples) await flush();
    } else note(line.line, line.problem, line.remedy);
    cursor = line.cursor;
  }
  await flush();
  const bad = notes.toSorted((one, other) => one.line - other.line);
  return { added, known, bad, badLines, cursor };
}

const pageSize = 200;
const firstId = "00000000-0000-0000-0000-000000000000";

/** Lists all labels and skips of a queue, sample by sample. */
async function* labelsOf(db: Executor, queue: string, first = firstId): AsyncGenerator<ExportedLabel> {
  for (let afterSampleId = first; ; ) {
    const page = await readExportedLabels(db, { queue, afterSampleId, limit: pageSize });
    for (const { rows } of page) yield* rows ?? [];
    if (page.length < pageSize) return;
    afterSampleId = page.at(-1)!.sample_id;
  }
}

/** Continues after `afterId`, a label or a skipped assignment. */
async function* labelsAfter(db: Executor, queue: string, afterId: string): AsyncGenerator<ExportedLabel> {
  const sampleId = await readSampleOfRow(db, afterId);
  if (sampleId === undefined) {
    const message = `\`after\` names label ${afterId}, which does not exist. Pass the last row of the previous page.`;
    throw new PawlError("option_invalid", message);
  }
  for await (const one of labelsOf(db, queue, before(sampleId))) {
    if (one.sample_id !== sampleId || one.id > afterId) yield one;
  }
}

/** Returns the id that precedes another one. */
function before(id: string): string {
  const number = BigInt(`0x${id.replaceAll("-", "")}`) - 1n;
  return number
    .toString(16)
    .padStart(32, "0")
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

export interface ExportOptions {
  /** Include late labels that no lead has accepted. Accepted late labels are always included. */
  readonly late: boolean;
  /** Include skips, as rows without a label. */
  readonly skipped: boolean;
  readonly afterId: string | undefined;
}

/** Lists the accepted labels of a queue with their samples, sample by sample, oldest first. */
export async function* exportLabels(db: Executor, queue: string, options: ExportOptions): AsyncGenerator<LabelRow> {
  const { late, skipped, afterId } = options;
  for await (const one of afterId === undefined ? labelsOf(db, queue) : labelsAfter(db, queue, afterId)) {
    const isWanted = one.counts || (skipped && one.skipped) || (late && one.late && one.review !== "accepted");
    if (!isWanted) continue;
    yield {
      id: one.id,
      sample: { id: one.sample_id, key: sampleKeyOf(one.key), data: one.content },
      labeler: one.labeler,
      label: one.value,
      skipped: one.skipped,
      late: one.late,
      leadMs: one.lead_ms,
      createdAt: new Date(one.at_ms),
    };
  }
}

/** Returns the agreement and accuracy of a queue's labels. */
export interface Quality {
  readonly agreement: Agreement;
  readonly labelers: readonly LabelerAgreement[];
  readonly gold: readonly GoldAccuracy[];
}

/** Measured over all accepted labels, read by the form that was in force when they were submitted. */
export async function qualityOf(
  db: Executor,
  queue: { readonly name: string; readonly labelSchema: JsonSchema },
): Promise<Quality> {
  const labels: GivenLabel[] = [];
  const gold = new Map<string, Json>();
  for await (const one of labelsOf(db, queue.name)) {
    if (!one.counts) continue;
    labels.push({ sample: one.sample_id, labeler: one.labeler, label: one.value });
    if (one.gold !== null) gold.set(one.sample_id, one.gold as Json);
  }
  const shape = labelShape(queue.labelSchema);
  return {
    agreement: agreementOf(labels, shape),
    labelers: agreementByLabeler(labels, shape),
    gold: accuracyOnGold(labels, gold, shape),
  };
}
