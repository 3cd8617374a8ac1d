import { type Executor, sql, textArray } from "../../store/port/db.ts";

/** The current backlog of a queue. */
export interface QueueStatsRow {
  readonly queue: string;
  readonly waiting: number;
  readonly assigned: number;
  readonly late: number;
}

/** The open, assigned and late work of each of these queues, counted up to `most`. */
export function readQueueStats(db: Executor, queues: readonly string[], most: number): Promise<QueueStatsRow[]> {
  return db.rows<QueueStatsRow>(sql`
    select queue.name as queue, waiting.slots as waiting, held.assignments as assigned, late.labels as late
    from unnest((select ${textArray(queues)}::text)::text[]) as queue(name)
    cross join lateral (
      select count(*)::int as slots from (
        select from pawl.slots as slot where slot.open_in = queue.name limit ${most}::int
      ) as few
    ) as waiting
    cross join lateral (
      select count(*)::int as assignments from (
        select from pawl.assignments as one where one.queue = queue.name and one.desk is not null limit ${most}::int
      ) as few
    ) as held
    cross join lateral (
      select count(*)::int as labels from (
        select from pawl.labels as label
        where label.queue = queue.name and label.late and label.review is null limit ${most}::int
      ) as few
    ) as late
    order by queue.name`);
}
