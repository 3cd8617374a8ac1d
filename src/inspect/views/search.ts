import { type InstanceRow, instanceColumns } from "../../store/move/instances.ts";
import { type Executor, sql, textArray } from "../../store/port/db.ts";

/** Sorts after every text that begins with the text before it. */
const last = "\u{10FFFF}";

/** Instances of these lifecycles whose key begins so, those that hold it before those that held it; one probe each. */
export function findByKey(
  db: Executor,
  wanted: { lifecycles: readonly string[]; key: string; limit: number },
): Promise<InstanceRow[]> {
  return db.rows<InstanceRow>(sql`
    with clock as materialized (select pawl.now() as now)
    select ${instanceColumns}
    from clock, unnest((select ${textArray(wanted.lifecycles)}::text)::text[]) as wanted(lifecycle)
    cross join lateral (
      (select * from pawl.instances as each
       where each.lifecycle = wanted.lifecycle and each.key is not null and each.key_held
         and each.key >= ${wanted.key}::text and each.key < ${wanted.key + last}::text
       order by each.key limit ${wanted.limit}::int)
      union all
      (select * from pawl.instances as each
       where each.lifecycle = wanted.lifecycle and each.key is not null and not each.key_held and each.parent_id is null
         and each.key >= ${wanted.key}::text and each.key < ${wanted.key + last}::text
       order by each.key, each.id limit ${wanted.limit}::int)
    ) as instance
    order by instance.key = ${wanted.key}::text desc, instance.key, instance.id desc
    limit ${wanted.limit}::int`);
}
