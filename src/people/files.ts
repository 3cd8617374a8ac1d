import type { Json } from "../base/json.ts";
import type { JsonSchema } from "../definition/json-schema.ts";
import {
  type Agreement,
  agreementByLabeler,
  agreementOf,
  type LabelerAgreement,
} from "../policy/agreement/agreement.ts";
import { accuracyOnGold, type GoldAccuracy } from "../policy/agreement/gold.ts";
import type { GivenLabel } from "../policy/agreement/label-columns.ts";
import { labelShape } from "../policy/agreement/schema-shape.ts";
import type { Executor } from "../store/db.ts";
import { type ExportedLabel, readExportedLabels } from "../views/labels.ts";
import type { LabelRow } from "./formats/export-labels.ts";
import type { ImportedLine } from "./formats/import-samples.ts";
import type { ImportCursor } from "./formats/lines.ts";
import { sampleKeyOf } from "./sample-key.ts";
import type { NewSample } from "./samples.ts";

/** What became of an import. */
export interface Imported {
  readonly added: number;
  /** Samples whose keys were there already. */
  readonly known: number;
  /** Lines that could not be used, with what is wrong with them; the first thousand. */
  readonly bad: readonly { readonly line: number; readonly problem: string; readonly remedy: string }[];
  readonly badLines: number;
  /** Where it stands: given back with `after`, an import goes on behind it. */
  readonly cursor: ImportCursor | null;
}

const mostSamples = 500;
const mostTold = 1_000;

/** Adds samples as they are read, in batches. A bad line is told and does not end it. */
export async function importSamples(
  lines: AsyncIterable<ImportedLine>,
  add: (samples: readonly NewSample[]) => Promise<readonly { readonly created: boolean }[]>,
): Promise<Imported> {
  const told: { line: number; problem: string; remedy: string }[] = [];
  let [added, known, badLines]: [number, number, number] = [0, 0, 0];
  let cursor: ImportCursor | null = null;
  let batch: NewSample[] = [];
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return;
    for (const { created } of await add(batch)) {
      if (created) added += 1;
      else known += 1;
    }
    batch = [];
  };
  for await (const line of lines) {
    if (line.ok) {
      const { key, data, gold } = line.sample;
      batch.push({ data, ...(key === null ? {} : { key }), ...(gold === undefined ? {} : { gold }) });
      if (batch.length === mostSamples) await flush();
    } else {
      badLines += 1;
      if (told.length < mostTold) told.push({ line: line.line, problem: line.problem, remedy: line.remedy });
    }
    cursor = line.cursor;
  }
  await flush();
  return { added, known, bad: told, badLines, cursor };
}

const pageSize = 500;
const firstId = "00000000-0000-0000-0000-000000000000";

async function* labelsOf(db: Executor, queue: string, after = firstId): AsyncGenerator<ExportedLabel> {
  for (let afterId = after; ; ) {
    const page = await readExportedLabels(db, { queue, afterId, limit: pageSize });
    yield* page;
    if (page.length < pageSize) return;
    afterId = page.at(-1)!.id;
  }
}

/** The labels of a queue with what they are about, oldest first; those that count, and late ones if asked. */
export async function* exportLabels(
  db: Executor,
  queue: string,
  options: { readonly late: boolean; readonly afterId: string | undefined },
): AsyncGenerator<LabelRow> {
  for await (const one of labelsOf(db, queue, options.afterId)) {
    if (!one.counts && !(options.late && one.late)) continue;
    yield {
      id: one.id,
      sample: { id: one.sample_id, key: sampleKeyOf(one.key), data: one.content },
      labeler: one.labeler,
      label: one.value,
      late: one.late,
      leadMs: one.lead_ms,
      createdAt: new Date(one.at_ms),
    };
  }
}

/** How good the labels of a queue are. */
export interface Quality {
  readonly agreement: Agreement;
  readonly labelers: readonly LabelerAgreement[];
  readonly gold: readonly GoldAccuracy[];
}

/** Measured over all labels that count, read by the form that they were given in. */
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
