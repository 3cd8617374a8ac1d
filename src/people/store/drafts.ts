import { type Executor, sql } from "../../store/port/db.ts";

/** Input of a labeler that is not submitted. */
export interface DraftRow {
  readonly value: unknown;
  readonly at_ms: number;
}

/**
 * Replaces a draft; undefined unless the labeler holds the assignment. The row of the assignment is locked, so no draft
 * is written after the label.
 */
export async function putDraft(
  db: Executor,
  draft: { readonly assignmentId: string; readonly labeler: string; readonly valueText: string },
): Promise<DraftRow | undefined> {
  const [row] = await db.rows<DraftRow>(sql`
    with held as materialized (
      select each.id from pawl.assignments as each
      where each.id = ${draft.assignmentId}::uuid and each.desk = ${draft.labeler}::text
      for no key update
    )
    insert into pawl.drafts (assignment_id, value, at)
    select held.id, ${draft.valueText}::text::jsonb, pawl.now() from held
    on conflict (assignment_id) do update set value = excluded.value, at = excluded.at
    returning value, pawl.ms(at) as at_ms`);
  return row;
}

/**
 * Skips drafts of labeled and skipped samples: a draft that is written at the same time may be missed by the statement
 * that deletes drafts, and is deleted with its assignment.
 */
export async function readDraft(db: Executor, assignmentId: string): Promise<DraftRow | undefined> {
  const [row] = await db.rows<DraftRow>(sql`
    select draft.value, pawl.ms(draft.at) as at_ms
    from pawl.drafts as draft
    join pawl.assignments as assignment on assignment.id = draft.assignment_id
    where draft.assignment_id = ${assignmentId}::uuid and assignment.status not in ('completed', 'skipped')`);
  return row;
}
