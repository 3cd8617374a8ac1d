import { type Executor, sql } from "../../store/port/db.ts";
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

/**
 * The labels of a queue, newest first, including those that do not count; the queue is compared as a range, as in
 * `readSamples`.
 */
export function findLabels(db: Executor, page: Page): Promise<LabelRow[]> {
  return db.rows<LabelRow>(sql`
    select ${labelColumns} from pawl.labels as label
    where (label.queue, label.id) < (${page.queue}::text, coalesce(${page.beforeId}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
      and (label.queue, label.id) >= (${page.queue}::text, '00000000-0000-0000-0000-000000000000')
    order by label.queue desc, label.id desc limit ${page.limit}::int`);
}

/** Late labels that a lead has not decided about, newest first. */
export function findLateLabels(db: Executor, page: Page): Promise<LabelRow[]> {
  return db.rows<LabelRow>(sql`
    select ${labelColumns} from pawl.labels as label
    where label.late and label.review is null
      and (label.queue, label.id) < (${page.queue}::text, coalesce(${page.beforeId}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
      and (label.queue, label.id) >= (${page.queue}::text, '00000000-0000-0000-0000-000000000000')
    order by label.queue desc, label.id desc limit ${page.limit}::int`);
}

/** A label with its sample, or a skip, as it is exported. */
export interface ExportedLabel {
  readonly id: string;
  readonly sample_id: string;
  readonly key: string | null;
  readonly content: unknown;
  readonly gold: unknown;
  readonly labeler: string;
  /** Null for a skip. */
  readonly value: unknown;
  readonly skipped: boolean;
  readonly late: boolean;
  readonly review: "accepted" | "rejected" | null;
  /** It fills a slot of its sample: neither rejected nor late. */
  readonly counts: boolean;
  readonly lead_ms: number | null;
  readonly at_ms: number;
}

/**
 * The rows of an export: the samples of a queue in the order in which they were added, with all labels and skips of
 * each.
 */
export function readExportedLabels(
  db: Executor,
  page: { readonly queue: string; readonly afterSampleId: string; readonly limit: number },
): Promise<{ readonly sample_id: string; readonly rows: readonly ExportedLabel[] | null }[]> {
  return db.rows(sql`
    select sample.id::text as sample_id, given.rows
    from (
      select each.id, each.gold from pawl.samples as each
      where (each.queue, each.id) > (${page.queue}::text, ${page.afterSampleId}::uuid)
        and (each.queue, each.id) <= (${page.queue}::text, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
      order by each.queue, each.id limit ${page.limit}::int
    ) as sample
    cross join lateral (select each.key, each.data from pawl.instances as each where each.id = sample.id offset 0) as instance
    cross join lateral (
      select json_agg(json_build_object(
        'id', one.id, 'sample_id', sample.id, 'key', instance.key, 'content', instance.data -> 'content', 'gold', sample.gold,
        'labeler', one.labeler, 'value', one.value, 'skipped', one.skipped, 'late', one.late, 'review', one.review,
        'counts', one.counts, 'lead_ms', one.lead_ms, 'at_ms', one.at_ms) order by one.id) as rows
      from (
        select label.id, label.labeler, label.value, false as skipped, label.late, label.review,
          coalesce(slot.filled, false) as counts, pawl.ms(label.at) - pawl.ms(assignment.started_at) as lead_ms,
          pawl.ms(label.at) as at_ms
        from pawl.labels as label
        cross join lateral (
          select each.started_at from pawl.assignments as each where each.id = label.assignment_id offset 0
        ) as assignment
        left join lateral (
          select each.filled from pawl.slots as each
          where each.sample_id = label.sample_id and each.no = label.slot and each.assignment_id = label.assignment_id
          offset 0
        ) as slot on true
        where label.sample_id = sample.id
        union all
        select skip.id, skip.labeler, null, true, false, null, false,
          pawl.ms(skip.skipped_at) - pawl.ms(skip.started_at), pawl.ms(skip.skipped_at)
        from pawl.assignments as skip
        where skip.sample_id = sample.id and skip.status = 'skipped'
      ) as one
    ) as given
    order by sample.id`);
}

/** The sample of a label or an assignment: an export continues after it. */
export async function readSampleOfRow(db: Executor, id: string): Promise<string | undefined> {
  const [row] = await db.rows<{ sample_id: string }>(sql`
    select each.sample_id::text as sample_id from pawl.labels as each where each.id = ${id}::uuid
    union all
    select each.sample_id::text from pawl.assignments as each where each.id = ${id}::uuid
    limit 1`);
  return row?.sample_id;
}
