import { type Executor, sql, textArray } from "./db.ts";

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

/** The label of an assignment, and whether it says the same as this one. */
export async function readLabelLike(
  db: Executor,
  assignmentId: string,
  labelText: string,
): Promise<(LabelRow & { readonly same: boolean }) | undefined> {
  const [row] = await db.rows<LabelRow & { same: boolean }>(sql`
    select id::text as id, assignment_id::text as assignment_id, sample_id::text as sample_id, queue, labeler, value,
      pawl.ms(at) as at_ms, late, review, reviewed_by, comment, gold_right, value = ${labelText}::text::jsonb as same
    from pawl.labels where assignment_id = ${assignmentId}::uuid`);
  return row;
}

/**
 * Keeps a label that came after its assignment had expired. It counts only if a lead accepts it. Where one is kept
 * already, that one stays.
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
    select label.id::text as id, label.assignment_id::text as assignment_id, label.sample_id::text as sample_id, label.queue,
      label.labeler, label.value, pawl.ms(label.at) as at_ms, label.late, label.review, label.reviewed_by, label.comment, label.gold_right
    from unnest((select ${textArray(ids)}::text)::uuid[]) as wanted(id)
    cross join lateral (select * from pawl.labels as each where each.id = wanted.id offset 0) as label`);
}
