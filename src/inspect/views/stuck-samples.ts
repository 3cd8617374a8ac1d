import { type Executor, part, sql } from "../../store/port/db.ts";
import { type Bounds, type FoundGroup, grouped } from "./grouped.ts";

/** A sample whose question is still open is reported as the asking instance. */
const asker = part`
  left join lateral (
    select parent.id from pawl.instances as parent
    where parent.id = instance.parent_id and parent.run = instance.parent_run and parent.outcome is null
      and instance.child_name = '?' || parent.visit
    offset 0
  ) as asker on true`;

/** Samples that no eligible labeler is left for, by their queues. */
export function readUnassignable(db: Executor, bounds: Bounds): Promise<FoundGroup[]> {
  return db.rows<FoundGroup>(sql`
    with found as materialized (
      select instance.lifecycle, sample.queue as place, coalesce(asker.id, instance.id) as instance_id,
        instance.moved_at as since
      from (
        select * from pawl.instances as each
        where each.lifecycle = 'pawl_sample' and each.shelf = 'unassignable'
        order by each.id limit ${bounds.counted}::int
      ) as instance
      cross join lateral (select each.queue from pawl.samples as each where each.id = instance.id offset 0) as sample
      ${asker}
    )
    ${grouped(bounds)}`);
}

/** Samples with a slot that is not assigned because their queue is inactive or unknown. */
export function readInactiveQueues(db: Executor, bounds: Bounds): Promise<FoundGroup[]> {
  return db.rows<FoundGroup>(sql`
    with recursive open_queue(name) as (
      (
        select each.open_in from pawl.slots as each where each.open_in is not null
        order by each.open_in, each.rank, each.sample_id, each.no limit 1
      )
      union all
      select next.open_in from open_queue cross join lateral (
        select each.open_in from pawl.slots as each where each.open_in > open_queue.name
        order by each.open_in, each.rank, each.sample_id, each.no limit 1
      ) as next
    ),
    found as materialized (
      select distinct instance.lifecycle, open_queue.name as place, coalesce(asker.id, instance.id) as instance_id,
        instance.moved_at as since
      from open_queue
      left join lateral (select each.active from pawl.queues as each where each.name = open_queue.name offset 0) as queue on true
      cross join lateral (
        select each.sample_id from pawl.slots as each where each.open_in = open_queue.name
        order by each.rank, each.sample_id, each.no limit ${bounds.counted}::int
      ) as slot
      cross join lateral (
        select each.* from pawl.instances as each where each.id = slot.sample_id and each.state = 'open' offset 0
      ) as instance
      ${asker}
      where queue.active is not true
    )
    ${grouped(bounds)}`);
}
