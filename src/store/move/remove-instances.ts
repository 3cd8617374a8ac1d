import { type Executor, sql } from "../port/db.ts";

/** What a look at ended instances brought. */
export interface Removed {
  readonly looked: number;
  readonly removed: number;
  /** The last one that was looked at. */
  readonly last: string | null;
}

/**
 * Deletes, out of the next so many that have ended in a state, those that were closed for longer than their retention;
 * triggers take what belongs to them along (messages that are still to be sent stay). Not while anything of them is to be
 * done: an after-effect to carry out, a dead letter to decide about, a parent that still counts its children, a failed child
 * that was left to it. It walks the index of those at rest, in the order of their starts,
 * so that no move has to write an index for it; whoever is in another's hands is passed over.
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

/** The place of a look, and how far it goes. */
export interface PruneBatch {
  readonly lifecycle: string;
  readonly state: string;
  readonly after: string;
  readonly before: string;
  readonly limit: number;
}

/** The failed children that were left to those of the next so many whose retention is over. */
export function readLeftChildren(db: Executor, look: PruneBatch): Promise<{ id: string; lifecycle: string }[]> {
  return db.rows(sql`
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
    select child.id::text as id, child.lifecycle
    from clock, looked
    join kept on kept.version = looked.definition
    cross join lateral (
      select each.id, each.lifecycle from pawl.instances as each
      where each.parent_id = looked.id and each.child_outcome = 'failure' and each.closed_at is null
      limit ${look.limit}::int
    ) as child
    where looked.closed_at + kept.keep_closed <= clock.now
    limit ${look.limit}::int`);
}
