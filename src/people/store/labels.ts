import { type Executor, part, sql, textArray } from "../../store/port/db.ts";

/** A label as it is read. */
export interface LabelRow {
  readonly id: string;
  readonly assignment_id: string;
  readonly sample_id: string;
  readonly queue: string;
  readonly labeler: string;
  readonly value: unknown;
  readonly at_ms: number;
  readonly late: boolean;
  readonly review: "accepted" | "rejected" | null;
  readonly reviewed_by: string | null;
  readonly comment: string | null;
  readonly gold_right: boolean | null;
}

/** The columns of a `LabelRow`, from a row called `label`. */
export const labelColumns = part`
  label.id::text as id, label.assignment_id::text as assignment_id, label.sample_id::text as sample_id, label.queue,
  label.labeler, label.value, pawl.ms(label.at) as at_ms, label.late, label.review, label.reviewed_by, label.comment,
  label.gold_right`;

/** The label of an assignment, and whether it equals this one. */
export async function readLabelLike(
  db: Executor,
  assignmentId: string,
  labelText: string,
): Promise<(LabelRow & { readonly same: boolean }) | undefined> {
  const [row] = await db.rows<LabelRow & { same: boolean }>(sql`
    select ${labelColumns}, label.value = ${labelText}::text::jsonb as same
    from pawl.labels as label where label.assignment_id = ${assignmentId}::uuid`);
  return row;
}

/**
 * Stores a label of an expired assignment. It counts only if a lead accepts it. If one is stored already, that one is
 * kept.
 */
export async function keepLateLabel(
  db: Executor,
  label: { readonly id: string; readonly assignmentId: string; readonly valueText: string },
): Promise<void> {
  await db.rows(sql`
    with clock as materialized (select pawl.now() as now),
    kept as (
      insert into pawl.labels (id, assignment_id, sample_id, slot, queue, labeler, value, at, late)
      select ${label.id}::uuid, assignment.id, assignment.sample_id, assignment.slot, assignment.queue, assignment.labeler,
        ${label.valueText}::text::jsonb, clock.now, true
      from clock, pawl.assignments as assignment
      where assignment.id = ${label.assignmentId}::uuid and assignment.expired_at is not null
      on conflict do nothing
      returning queue, labeler
    )
    insert into pawl.labeler_hours as hours (queue, labeler, hour, late)
    select kept.queue, kept.labeler, date_trunc('hour', clock.now, 'UTC'), 1 from kept, clock
    on conflict (queue, labeler, hour) do update set late = hours.late + excluded.late`);
}

export function readLabels(db: Executor, ids: readonly string[]): Promise<LabelRow[]> {
  return db.rows<LabelRow>(sql`
    select ${labelColumns}
    from unnest((select ${textArray(ids)}::text)::uuid[]) as wanted(id)
    cross join lateral (select * from pawl.labels as each where each.id = wanted.id offset 0) as label`);
}

/** A lead's review of a label. */
export interface ReviewedLabel {
  readonly labelId: string;
  readonly sampleId: string;
  readonly review: "accepted" | "rejected";
  readonly by: string | null;
  readonly comment: string | null;
}

/**
 * Records reviews of labels of the samples in `written`; of two concurrent reviews the first counts. A rejected label
 * no longer fills its slot, which then waits for its correction. A part of the statement that moves samples.
 */
export function reviewLabels(rows: readonly ReviewedLabel[]) {
  return part`
    reviewed as (
      update pawl.labels as label
      set review = said.review, reviewed_by = said.actor, comment = said.comment, reviewed_at = clock.now
      from clock, (
        select * from unnest(
          (select ${textArray(rows.map((row) => row.labelId))}::text)::uuid[],
          (select ${textArray(rows.map((row) => row.sampleId))}::text)::uuid[],
          (select ${textArray(rows.map((row) => row.review))}::text)::text[],
          (select ${textArray(rows.map((row) => row.by))}::text)::text[],
          (select ${textArray(rows.map((row) => row.comment))}::text)::text[]
        ) as said(label_id, sample_id, review, actor, comment)
        where (said.sample_id in (select id from written)) is true
        limit (select ${rows.length}::int)
      ) as said
      where label.id = said.label_id and label.review is null
      returning label.sample_id, label.assignment_id, label.slot, label.queue, label.labeler, label.review, label.late
    ),
    -- A labeler with a late label is not asked again. Where one was asked at this moment, two rows would exclude the labeler,
    -- which their index refuses.
    barred as (
      update pawl.assignments as assignment set bars = true
      from reviewed
      where reviewed.review = 'accepted' and reviewed.late and assignment.id = reviewed.assignment_id
        and not exists (
          select from pawl.assignments as other
          where other.sample_id = reviewed.sample_id and other.labeler = reviewed.labeler and other.bars
            and other.revision_of is null and other.status = 'expired'
        )
    ),
    unfilled as (
      update pawl.slots as slot set filled = false
      from reviewed
      where reviewed.review = 'rejected' and slot.sample_id = reviewed.sample_id and slot.no = reviewed.slot
        and slot.assignment_id = reviewed.assignment_id and slot.filled
      returning slot.sample_id
    ),
    told as (
      insert into pawl.labeler_hours as hours (queue, labeler, hour, rejected)
      select reviewed.queue, reviewed.labeler, date_trunc('hour', clock.now, 'UTC'), count(*)
      from clock, reviewed
      where reviewed.review = 'rejected'
      group by reviewed.queue, reviewed.labeler, clock.now
      order by reviewed.queue, reviewed.labeler
      on conflict (queue, labeler, hour) do update set rejected = hours.rejected + excluded.rejected
    ),`;
}
