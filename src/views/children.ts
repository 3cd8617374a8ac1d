import type { ChildRow, Run } from "../store/family/children.ts";
import { type InstanceRow, instanceColumns } from "../store/move/instances.ts";
import { type Executor, sql, textArray } from "../store/port/db.ts";

/** Counts of the children of a run. */
export interface ChildCounts {
  readonly total: number;
  readonly open: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly discarded: number;
}

export async function countChildren(db: Executor, parent: Run): Promise<ChildCounts> {
  const [counts] = await db.rows<ChildCounts>(sql`
    select count(*)::int as total, (count(*) filter (where child.child_outcome is null))::int as open,
      (count(*) filter (where child.child_outcome = 'success'))::int as succeeded,
      (count(*) filter (where child.child_outcome = 'failure'))::int as failed,
      (count(*) filter (where child.child_outcome = 'discarded'))::int as discarded
    from pawl.instances as child
    where child.parent_id = ${parent.id}::uuid and child.parent_run = ${parent.run}::int`);
  return counts!;
}

/** The first children of a run, in the order in which they were started. */
export function readFirstChildren(db: Executor, parent: Run, limit: number): Promise<ChildRow[]> {
  return db.rows<ChildRow>(sql`
    select child.id::text as id, child.lifecycle, child.key, child.state, child.child_outcome as outcome, child.data
    from pawl.instances as child
    where child.parent_id = ${parent.id}::uuid and child.parent_run = ${parent.run}::int
    order by child.id limit ${limit}::int`);
}

/** A page of the children of an instance, of one lifecycle and of all its runs, newest first. */
export interface ChildrenPage {
  readonly parentId: string;
  readonly lifecycle: string;
  readonly beforeId: string | null;
  readonly limit: number;
}

const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff";

export function findChildren(db: Executor, page: ChildrenPage): Promise<InstanceRow[]> {
  return db.rows<InstanceRow>(sql`
    with clock as materialized (select pawl.now() as now)
    select ${instanceColumns}
    from clock, lateral (
      select * from pawl.instances as each
      where each.parent_id = ${page.parentId}::uuid and each.lifecycle = ${page.lifecycle}::text
        and each.id < ${page.beforeId ?? lastId}::uuid
      order by each.id desc limit ${page.limit}::int
    ) as instance
    order by instance.id desc`);
}

export function findChildrenInStates(
  db: Executor,
  states: readonly string[],
  page: ChildrenPage,
): Promise<InstanceRow[]> {
  return db.rows<InstanceRow>(sql`
    with clock as materialized (select pawl.now() as now)
    select ${instanceColumns}
    from clock, lateral (
      select * from pawl.instances as each
      where each.parent_id = ${page.parentId}::uuid and each.lifecycle = ${page.lifecycle}::text
        and each.state = any((select ${textArray(states)}::text)::text[]) and each.id < ${page.beforeId ?? lastId}::uuid
      order by each.id desc limit ${page.limit}::int
    ) as instance
    order by instance.id desc`);
}
