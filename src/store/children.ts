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

/** How the children of a run stand. The counts are there when none is open. */
export interface Standing {
  readonly id: string;
  readonly open: boolean;
  /** One that has failed. */
  readonly failed_lifecycle: string | null;
  readonly failed_id: string | null;
  readonly failed_key: string | null;
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly discarded: number;
}

/** Whether a child is open and whether one has failed is a probe each, however many there are; only the last look counts. */
export function readStandings(db: Executor, parents: readonly Run[]): Promise<Standing[]> {
  return db.rows<Standing>(sql`
    select parent.id::text as id, still.open, failure.lifecycle as failed_lifecycle, failure.id::text as failed_id,
      failure.key as failed_key, counted.total, counted.succeeded, counted.failed, counted.discarded
    from unnest(
      (select ${textArray(parents.map((one) => one.id))}::text)::uuid[],
      (select ${textArray(parents.map((one) => one.run))}::text)::int[]
    ) as parent(id, run)
    cross join lateral (
      select exists (
        select from pawl.instances as child
        where child.parent_id = parent.id and child.parent_run = parent.run and child.child_outcome is null
      ) as open
      offset 0
    ) as still
    left join lateral (
      select child.lifecycle, child.id, child.key from pawl.instances as child
      where child.parent_id = parent.id and child.parent_run = parent.run and child.child_outcome = 'failure'
      limit 1
    ) as failure on true
    cross join lateral (
      select count(*)::int as total, (count(*) filter (where child.child_outcome = 'success'))::int as succeeded,
        (count(*) filter (where child.child_outcome = 'failure'))::int as failed,
        (count(*) filter (where child.child_outcome = 'discarded'))::int as discarded
      from pawl.instances as child
      where not still.open and child.parent_id = parent.id and child.parent_run = parent.run
      offset 0
    ) as counted`);
}
