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

/** The labels of a queue, newest first, also those that do not count; told by its two ends, as `readSamples` has it. */
export function findLabels(db: Executor, page: Page): Promise<LabelRow[]> {
  return db.rows<LabelRow>(sql`
    select ${labelColumns} from pawl.labels as label
    where (label.queue, label.id) < (${page.queue}::text, coalesce(${page.beforeId}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
      and (label.queue, label.id) >= (${page.queue}::text, '00000000-0000-0000-0000-000000000000')
    order by label.queue desc, label.id desc limit ${page.limit}::int`);
}

/** Labels that came late and wait for a lead's word, newest first. */
export function findLateLabels(db: Executor, page: Page): Promise<LabelRow[]> {
  return db.rows<LabelRow>(sql`
    select ${labelColumns} from pawl.labels as label
    where label.late and label.review is null
      and (label.queue, label.id) < (${page.queue}::text, coalesce(${page.beforeId}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
      and (label.queue, label.id) >= (${page.queue}::text, '00000000-0000-0000-0000-000000000000')
    order by label.queue desc, label.id desc limit ${page.limit}::int`);
}

/** A label with what it is about, as it is written into files. */
export interface ExportedLabel {
  readonly id: string;
  readonly sample_id: string;
  readonly key: string | null;
  readonly content: unknown;
  readonly gold: unknown;
  readonly labeler: string;
  readonly value: unknown;
  readonly late: boolean;
  /** It fills a slot of its sample: neither rejected nor late. */
  readonly counts: boolean;
  readonly lead_ms: number | null;
  readonly at_ms: number;
}

/** The labels of a queue, oldest first, from the place where the last page ended. */
export function readExportedLabels(
  db: Executor,
  page: { readonly queue: string; readonly afterId: string; readonly limit: number },
): Promise<ExportedLabel[]> {
  return db.rows<ExportedLabel>(sql`
    select label.id::text as id, label.sample_id::text as sample_id, instance.key, instance.data -> 'content' as content, sample.gold,
      label.labeler, label.value, label.late, coalesce(slot.filled, false) as counts,
      pawl.ms(label.at) - pawl.ms(assignment.started_at) as lead_ms, pawl.ms(label.at) as at_ms
    from (
      select * from pawl.labels as each
      where (each.queue, each.id) > (${page.queue}::text, ${page.afterId}::uuid)
        and (each.queue, each.id) <= (${page.queue}::text, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
      order by each.queue, each.id limit ${page.limit}::int
    ) as label
    cross join lateral (select each.key, each.data from pawl.instances as each where each.id = label.sample_id offset 0) as instance
    cross join lateral (select each.gold from pawl.samples as each where each.id = label.sample_id offset 0) as sample
    cross join lateral (
      select each.started_at from pawl.assignments as each where each.id = label.assignment_id offset 0
    ) as assignment
    left join lateral (
      select each.filled from pawl.slots as each
      where each.sample_id = label.sample_id and each.no = label.slot and each.assignment_id = label.assignment_id
      offset 0
    ) as slot on true
    order by label.id`);
}
