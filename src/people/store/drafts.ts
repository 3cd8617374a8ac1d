import { type Executor, sql } from "../../store/port/db.ts";

/** What a labeler has entered and not handed in. */
export interface DraftRow {
  readonly value: unknown;
  readonly at_ms: number;
}

/**
 * Keeps a draft in the place of the one before; undefined unless the assignment is in the hands of this labeler, whose row is
 * locked meanwhile: nothing is written after the label.
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
 * None of what was labeled or skipped: a draft that was written while that happened may not have been seen by the statement
 * that takes drafts away, and goes with its assignment.
 */
export async function readDraft(db: Executor, assignmentId: string): Promise<DraftRow | undefined> {
  const [row] = await db.rows<DraftRow>(sql`
    select draft.value, pawl.ms(draft.at) as at_ms
    from pawl.drafts as draft
    join pawl.assignments as assignment on assignment.id = draft.assignment_id
    where draft.assignment_id = ${assignmentId}::uuid and assignment.status not in ('completed', 'skipped')`);
  return row;
}
