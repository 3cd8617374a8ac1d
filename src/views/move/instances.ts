import { type InstanceRow, instanceColumns } from "../../store/move/instances.ts";
import { type Executor, sql, textArray } from "../../store/port/db.ts";

/** A page of instances, newest first. */
export interface Page {
  readonly lifecycle: string;
  /** Only those before this id. */
  readonly beforeId: string | null;
  readonly limit: number;
}

const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Instances at rest in some of these states: one index probe a state. */
export function findResting(db: Executor, states: readonly string[], page: Page): Promise<InstanceRow[]> {
  return db.rows<InstanceRow>(sql`
    with clock as materialized (select pawl.now() as now)
    select ${instanceColumns}
    from clock, lateral (
      select found.*
      from unnest((select ${textArray(states)}::text)::text[]) as state(name)
      cross join lateral (
        select * from pawl.instances as each
        where each.lifecycle = ${page.lifecycle}::text and each.shelf = state.name
          and each.id < ${page.beforeId ?? lastId}::uuid
        order by each.id desc limit ${page.limit}::int
      ) as found
      order by found.id desc limit ${page.limit}::int
    ) as instance
    order by instance.id desc`);
}

/** Instances in whichever state, also one that only an earlier definition knew. */
export function findAll(db: Executor, page: Page): Promise<InstanceRow[]> {
  return db.rows<InstanceRow>(sql`
    with clock as materialized (select pawl.now() as now)
    select ${instanceColumns}
    from clock, lateral (
      select * from pawl.instances as each
      where each.lifecycle = ${page.lifecycle}::text and each.id < ${page.beforeId ?? lastId}::uuid
      order by each.id desc limit ${page.limit}::int
    ) as instance
    order by instance.id desc`);
}

/** Instances in any of these states, running or at rest: newest ids first, which is where current work is found. */
export function findInStates(db: Executor, states: readonly string[], page: Page): Promise<InstanceRow[]> {
  return db.rows<InstanceRow>(sql`
    with clock as materialized (select pawl.now() as now)
    select ${instanceColumns}
    from clock, lateral (
      select * from pawl.instances as each
      where each.lifecycle = ${page.lifecycle}::text and each.state = any((select ${textArray(states)}::text)::text[])
        and each.id < ${page.beforeId ?? lastId}::uuid
      order by each.id desc limit ${page.limit}::int
    ) as instance
    order by instance.id desc`);
}
