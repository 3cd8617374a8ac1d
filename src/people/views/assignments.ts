import { type Executor, sql } from "../../store/port/db.ts";
import { type AssignmentRow, assignmentColumns } from "../store/assignments.ts";

interface Page {
  readonly queue: string;
  readonly status: string | null;
  readonly beforeId: string | null;
  readonly limit: number;
}

/** The assignments of a queue, newest first; the queue is compared as a range, as in `readSamples`. */
export function findAssignments(db: Executor, page: Page): Promise<AssignmentRow[]> {
  return db.rows<AssignmentRow>(sql`
    with clock as materialized (select pawl.now() as now)
    select ${assignmentColumns}
    from clock, pawl.assignments as assignment
    where (assignment.queue, assignment.id)
        < (${page.queue}::text, coalesce(${page.beforeId}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
      and (assignment.queue, assignment.id) >= (${page.queue}::text, '00000000-0000-0000-0000-000000000000')
      and (${page.status}::text is null or assignment.status = ${page.status}::text)
    order by assignment.queue desc, assignment.id desc limit ${page.limit}::int`);
}

/** The assignments of one labeler in a queue, newest first. */
export function findAssignmentsOf(db: Executor, labeler: string, page: Page): Promise<AssignmentRow[]> {
  return db.rows<AssignmentRow>(sql`
    with clock as materialized (select pawl.now() as now)
    select ${assignmentColumns}
    from clock, pawl.assignments as assignment
    where (assignment.queue, assignment.labeler, assignment.id)
        < (${page.queue}::text, ${labeler}::text, coalesce(${page.beforeId}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
      and (assignment.queue, assignment.labeler, assignment.id)
        >= (${page.queue}::text, ${labeler}::text, '00000000-0000-0000-0000-000000000000')
      and (${page.status}::text is null or assignment.status = ${page.status}::text)
    order by assignment.queue desc, assignment.labeler desc, assignment.id desc limit ${page.limit}::int`);
}

/** The assignments of one sample, oldest first. */
export function findAssignmentsFor(db: Executor, sampleId: string): Promise<AssignmentRow[]> {
  return db.rows<AssignmentRow>(sql`
    with clock as materialized (select pawl.now() as now)
    select ${assignmentColumns}
    from clock, pawl.assignments as assignment
    where assignment.sample_id = ${sampleId}::uuid
    order by assignment.id`);
}
