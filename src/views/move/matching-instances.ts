import { type InstanceRow, instanceColumns } from "../../store/move/instances.ts";
import { type Executor, noPart, type Part, part, sql, textArray } from "../../store/port/db.ts";
import { fitting, type InstanceFilter } from "./filtered.ts";

/** Instances that meet the conditions of a list, or some of them by id. */
export interface MatchedInstances extends InstanceFilter {
  readonly ids: readonly string[] | null;
}

/** Whether `instance` matches. */
function matches({ ids, ...filter }: MatchedInstances): Part {
  return part`instance.lifecycle = ${filter.lifecycle}::text
    ${ids === null ? noPart : part`and instance.id = any((select ${textArray(ids)}::text)::uuid[])`}
    ${filter.parentId === null ? noPart : part`and instance.parent_id = ${filter.parentId}::uuid`}
    ${fitting(filter)}`;
}

/** Instances that match, oldest first, after the end of the last page. */
export function findMatching(
  db: Executor,
  filter: MatchedInstances,
  page: { afterId: string; limit: number },
): Promise<InstanceRow[]> {
  return db.rows<InstanceRow>(sql`
    with clock as materialized (select pawl.now() as now)
    select ${instanceColumns}
    from clock, lateral (
      select instance.* from pawl.instances as instance
      where ${matches(filter)} and instance.id > ${page.afterId}::uuid
      order by instance.id limit ${page.limit}::int
    ) as instance
    order by instance.id`);
}

/** Instances that match, oldest first, as the items of an operation: each with a mark for its move. Reads `clock`. */
export function instancesMeant(filter: MatchedInstances, most: number): Part {
  return part`
      select instance.id, 'instance'::text as kind, instance.lifecycle, gen_random_uuid() as request_id, instance.run,
        instance.visit
      from clock, pawl.instances as instance
      where ${matches(filter)}
      order by instance.id limit ${most}::int`;
}
