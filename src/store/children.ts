import { type Executor, sql, textArray } from "./db.ts";

/** A child as its parent sees it. */
export interface ChildRow {
  readonly id: string;
  readonly lifecycle: string;
  readonly key: string | null;
  readonly state: string;
  readonly outcome: "success" | "failure" | "discarded" | null;
  readonly data: Record<string, unknown>;
}

/** One run of an instance: what children belong to. */
export interface Run {
  readonly id: string;
  readonly run: number;
}

export function readChildren(db: Executor, parent: Run): Promise<ChildRow[]> {
  return db.rows<ChildRow>(sql`
    select child.id::text as id, child.lifecycle, child.key, child.state, child.child_outcome as outcome, child.data
    from pawl.instances as child
    where child.parent_id = ${parent.id}::uuid and child.parent_run = ${parent.run}::int
    order by child.id`);
}

/** The children of one lifecycle. */
export function readChildrenOf(db: Executor, parent: Run, lifecycle: string): Promise<ChildRow[]> {
  return db.rows<ChildRow>(sql`
    select child.id::text as id, child.lifecycle, child.key, child.state, child.child_outcome as outcome, child.data
    from pawl.instances as child
    where child.parent_id = ${parent.id}::uuid and child.parent_run = ${parent.run}::int
      and child.lifecycle = ${lifecycle}::text
    order by child.id`);
}

/** A parent whose row is held to the end of the transaction. */
export interface HeldParent {
  readonly id: string;
  readonly run: number;
  readonly outcome: string | null;
}

/**
 * Tells these instances that they have children by one more way than their moves, those whose row is free; whoever
 * decides on an older row decides anew. Gives back those that were told.
 */
export function markParents(tx: Executor, parents: readonly Run[]): Promise<HeldParent[]> {
  return tx.rows<HeldParent>(sql`
    with free as materialized (
      select parent.id, wanted.run
      from unnest(
        (select ${textArray(parents.map((one) => one.id))}::text)::uuid[],
        (select ${textArray(parents.map((one) => one.run))}::text)::int[]
      ) as wanted(id, run)
      cross join lateral (
        select each.id from pawl.instances as each where each.id = wanted.id for no key update skip locked
      ) as parent
      limit (select ${parents.length}::int)
    )
    update pawl.instances as parent
    set has_children = parent.has_children or parent.run = free.run, alarms = parent.alarms + 1
    from free where parent.id = free.id
    returning parent.id::text as id, parent.run, parent.outcome`);
}
