import { type Executor, sql } from "../store/db.ts";
import { type LabelRow, labelColumns } from "../store/labels.ts";

/** The labels of one sample, oldest first, also those that do not count. */
export function findLabelsFor(db: Executor, sampleId: string): Promise<LabelRow[]> {
  return db.rows<LabelRow>(sql`
    select ${labelColumns} from pawl.labels as label where label.sample_id = ${sampleId}::uuid order by label.id`);
}

interface Page {
  readonly queue: string;
  readonly beforeId: string | null;
  readonly limit: number;
}

/** The labels of a queue, newest first, also those that do not count. */
export function findLabels(db: Executor, page: Page): Promise<LabelRow[]> {
  return db.rows<LabelRow>(sql`
    select ${labelColumns} from pawl.labels as label
    where label.queue = ${page.queue}::text and label.id < coalesce(${page.beforeId}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    order by label.id desc limit ${page.limit}::int`);
}

/** Labels that came late and wait for a lead's word, newest first. */
export function findLateLabels(db: Executor, page: Page): Promise<LabelRow[]> {
  return db.rows<LabelRow>(sql`
    select ${labelColumns} from pawl.labels as label
    where label.queue = ${page.queue}::text and label.late and label.review is null
      and label.id < coalesce(${page.beforeId}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    order by label.id desc limit ${page.limit}::int`);
}
