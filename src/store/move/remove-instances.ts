import type { LeftChild } from "../family/children.ts";
import { type Executor, sql } from "../port/db.ts";

/** The result of one scan of ended instances. */
export interface Removed {
  readonly looked: number;
  readonly removed: number;
  /** The last scanned instance. */
  readonly last: string | null;
}

/**
 * Deletes, of the next instances that have ended in a state, those that were closed for longer than their retention;
 * triggers delete their related rows (unsent messages stay). Skips instances with open work: an after-effect to run, a
 * dead letter to decide, a parent that still counts its children, a failed child that is left to it. Scans the index of
 * instances at rest, in the order of their starts, so that no move has to write an index for it; locked rows are
 * skipped.
 */
export async function removeEnded(
  db: Executor,
  ended: PruneBatch & { readonly keepsLetters: boolean },
): Promise<Removed> {
  const [found] = await db.rows<Removed>(sql`
    with clock as materialized (select pawl.now() as now),
    looked as materialized (
      select instance.id, instance.definition from pawl.instances as instance
      where instance.lifecycle = ${ended.lifecycle}::text and instance.shelf = ${ended.state}::text
        and instance.id > ${ended.after}::uuid and instance.id < ${ended.before}::uuid
      order by instance.id limit ${ended.limit}::int
    ),
    kept as materialized (
      select lifecycle.version, lifecycle.keep_closed from pawl.lifecycles as lifecycle
      where lifecycle.name = ${ended.lifecycle}::text
    ),
    ripe as materialized (
      select instance.id
      from clock, looked
      join kept on kept.version = looked.definition
      cross join lateral (
        select each.id from pawl.instances as each
        where each.id = looked.id and each.closed_at + kept.keep_closed <= clock.now
          and not exists (
            select from pawl.tasks as task where task.instance_id = each.id and task.kind = 'effect' offset 0
          )
          and not exists (
            select from pawl.dead_letters as letter
            where letter.instance_id = each.id and (letter.decided_at is null or ${ended.keepsLetters}::boolean) offset 0
          )
          and not exists (
            select from pawl.instances as parent
            where parent.id = each.parent_id and parent.closed_at is null offset 0
          )
          and not exists (
            select from pawl.instances as child
            where child.parent_id = each.id and child.child_outcome = 'failure' and child.closed_at is null offset 0
          )
        for update skip locked
      ) as instance
      limit (select ${ended.limit}::int)
    ),
    removed as (
      delete from pawl.instances as instance using ripe where instance.id = ripe.id returning instance.id
    )
    select (select count(*)::int from looked) as looked, (select count(*)::int from removed) as removed,
      (select looked.id::text from looked order by looked.id desc limit 1) as last`);
  return found!;
}

/** The position of a scan, and its length. */
export interface PruneBatch {
  readonly lifecycle: string;
  readonly state: string;
  readonly after: string;
  readonly before: string;
  readonly limit: number;
}

/** The failed children that were left to those of the next instances whose retention has ended. */
export function readLeftChildren(db: Executor, look: PruneBatch): Promise<LeftChild[]> {
  return db.rows<LeftChild>(sql`
    with clock as materialized (select pawl.now() as now),
    looked as materialized (
      select instance.id, instance.definition, instance.closed_at from pawl.instances as instance
      where instance.lifecycle = ${look.lifecycle}::text and instance.shelf = ${look.state}::text
        and instance.id > ${look.after}::uuid and instance.id < ${look.before}::uuid
      order by instance.id limit ${look.limit}::int
    ),
    kept as materialized (
      select lifecycle.version, lifecycle.keep_closed from pawl.lifecycles as lifecycle
      where lifecycle.name = ${look.lifecycle}::text
    )
    select child.id::text as id, looked.id::text as parent_id, child.lifecycle, child.version
    from clock, looked
    join kept on kept.version = looked.definition
    cross join lateral (
      select each.id, each.lifecycle, each.version from pawl.instances as each
      where each.parent_id = looked.id and each.child_outcome = 'failure' and each.closed_at is null
      limit ${look.limit}::int
    ) as child
    where looked.closed_at + kept.keep_closed <= clock.now
    limit ${look.limit}::int`);
}
