import { type Executor, sql, textArray } from "../../store/port/db.ts";

/** The state of a queue for one labeler. */
export interface DeskSums {
  readonly queue: string;
  /**
   * The number of samples that the labeler can get among the first open slots, and the number of slots that were
   * scanned.
   */
  readonly waiting: number;
  readonly slots_seen: number;
  readonly done: number;
  readonly skipped: number;
  /** From start to label, over the last of them. */
  readonly median_ms: number | null;
}

/** The limit of the count, and the number of assignments for the median. */
export const maxSlotsSeen = 1_000;
const maxTimed = 200;

/**
 * Open work for a labeler in each of these queues, and the labeler's work since a time, by whole hours, as they are
 * stored.
 */
export function readDeskSums(
  db: Executor,
  asked: { readonly queues: readonly string[]; readonly labeler: string; readonly sinceMs: number },
): Promise<DeskSums[]> {
  return db.rows<DeskSums>(sql`
    select wanted.queue, waiting.samples as waiting, waiting.slots as slots_seen, hours.done, hours.skipped, speed.median_ms
    from unnest((select ${textArray(asked.queues)}::text)::text[]) with ordinality as wanted(queue, at)
    cross join lateral (
      select coalesce(sum(sample.slots), 0)::int as slots, (count(*) filter (where not sample.barred))::int as samples
      from (
        select seen.sample_id, count(*) as slots, exists (
          select from pawl.assignments as own
          where own.sample_id = seen.sample_id and own.labeler = ${asked.labeler}::text and own.bars
        ) as barred
        from (
          select slot.sample_id from pawl.slots as slot
          where slot.open_in = wanted.queue and slot.open_in is not null
          order by slot.open_in, slot.rank, slot.sample_id, slot.no limit ${maxSlotsSeen}::int
        ) as seen
        group by seen.sample_id
      ) as sample
    ) as waiting
    cross join lateral (
      select coalesce(sum(each.completed), 0)::int as done, coalesce(sum(each.skipped), 0)::int as skipped
      from pawl.labeler_hours as each
      where each.queue = wanted.queue and each.labeler = ${asked.labeler}::text
        and each.hour >= date_trunc('hour', pawl.at(${asked.sinceMs}::float8), 'UTC')
    ) as hours
    cross join lateral (
      select percentile_cont(0.5) within group (order by pawl.ms(last.completed_at) - pawl.ms(last.started_at)) as median_ms
      from (
        select each.started_at, each.completed_at from pawl.assignments as each
        where (each.queue, each.labeler, each.id)
            <= (wanted.queue, ${asked.labeler}::text, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
          and (each.queue, each.labeler, each.id)
            >= (wanted.queue, ${asked.labeler}::text, '00000000-0000-0000-0000-000000000000'::uuid)
        order by each.queue desc, each.labeler desc, each.id desc limit ${maxTimed}::int
      ) as last
      where last.completed_at >= pawl.at(${asked.sinceMs}::float8)
    ) as speed
    order by wanted.at`);
}
