import { type Executor, part, sql } from "../../store/port/db.ts";

/** A sample as it is read. */
export interface SampleRow {
  readonly id: string;
  readonly key: string | null;
  readonly queue: string;
  readonly state: string;
  readonly version: number;
  readonly data: Record<string, unknown>;
  readonly needs: number;
  readonly filled: number;
  readonly spent: number;
  readonly spare: number;
  readonly open_slots: number;
  readonly held_slots: number;
  readonly created_ms: number;
  readonly moved_ms: number;
}

const sampleColumns = part`
  sample.id::text as id, instance.key, sample.queue, instance.state, instance.version, instance.data, sample.needs, sample.filled,
  sample.spent, sample.spare,
  slots.open_slots, slots.held_slots, pawl.ms(sample.created_at) as created_ms, pawl.ms(instance.moved_at) as moved_ms`;

const sampleParts = part`
  cross join lateral (
    select (count(*) filter (where slot.open_in is not null))::int as open_slots,
      (count(*) filter (where slot.assignment_id is not null and not slot.filled))::int as held_slots
    from pawl.slots as slot where slot.sample_id = sample.id
  ) as slots`;

export async function readSample(db: Executor, id: string): Promise<SampleRow | undefined> {
  const [row] = await db.rows<SampleRow>(sql`
    select ${sampleColumns}
    from pawl.samples as sample join pawl.instances as instance on instance.id = sample.id ${sampleParts}
    where sample.id = ${id}::uuid`);
  return row;
}

export async function readSampleByKey(db: Executor, instanceKey: string): Promise<SampleRow | undefined> {
  const [row] = await db.rows<SampleRow>(sql`
    select ${sampleColumns}
    from pawl.instances as instance join pawl.samples as sample on sample.id = instance.id ${sampleParts}
    where instance.lifecycle = 'pawl_sample' and instance.key = ${instanceKey}::text and instance.key is not null and instance.key_held`);
  return row;
}

interface Page {
  readonly queue: string;
  readonly beforeId: string | null;
  readonly limit: number;
}

/**
 * The samples of a queue, newest first. The queue is compared as a range: with an equality, the planner takes the order
 * to be that of the ids alone, and may scan the samples of all queues.
 */
export function readSamples(db: Executor, page: Page): Promise<SampleRow[]> {
  return db.rows<SampleRow>(sql`
    select ${sampleColumns}
    from (
      select each.* from pawl.samples as each
      where (each.queue, each.id) < (${page.queue}::text, coalesce(${page.beforeId}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
        and (each.queue, each.id) >= (${page.queue}::text, '00000000-0000-0000-0000-000000000000')
      order by each.queue desc, each.id desc limit ${page.limit}::int
    ) as sample
    join pawl.instances as instance on instance.id = sample.id ${sampleParts}
    order by sample.id desc`);
}

/** Samples in one state, found by the index by state. */
export function readSamplesIn(db: Executor, state: string, page: Page): Promise<SampleRow[]> {
  return db.rows<SampleRow>(sql`
    select ${sampleColumns}
    from (
      select each.* from pawl.instances as each
      where (each.lifecycle, each.shelf, each.id)
          < ('pawl_sample', ${state}::text, coalesce(${page.beforeId}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
        and (each.lifecycle, each.shelf, each.id) >= ('pawl_sample', ${state}::text, '00000000-0000-0000-0000-000000000000')
        and each.shelf is not null
        and exists (select from pawl.samples as known where known.id = each.id and known.queue = ${page.queue}::text offset 0)
      order by each.lifecycle desc, each.shelf desc, each.id desc limit ${page.limit}::int
    ) as instance
    join pawl.samples as sample on sample.id = instance.id ${sampleParts}
    order by sample.id desc`);
}

/** What a sample waits for. */
export interface SampleWait {
  readonly id: string;
  readonly queue: string;
  readonly state: string;
  readonly since_ms: number;
  readonly needs: number;
  readonly filled: number;
  /** False also for a queue that is not known any more. */
  readonly active: boolean;
  /** A slot waits to be assigned. */
  readonly has_open_slot: boolean;
  /** Null: any labeler. */
  readonly labelers: readonly string[] | null;
  readonly skills: readonly string[];
  /** Ten at most. */
  readonly held_by: readonly string[];
  readonly reason: string | null;
}

export async function readSampleWait(db: Executor, id: string): Promise<SampleWait | undefined> {
  const [row] = await db.rows<SampleWait>(sql`
    select sample.id::text as id, sample.queue, instance.state, pawl.ms(instance.moved_at) as since_ms, sample.needs,
      sample.filled, coalesce(queue.active, false) as active,
      exists (select from pawl.slots as slot where slot.sample_id = sample.id and slot.open_in is not null) as has_open_slot,
      nullif(queue.settings -> 'labelers', 'null'::jsonb) as labelers,
      coalesce(queue.settings -> 'skills', '[]'::jsonb) as skills, held.by as held_by, instance.data ->> 'reason' as reason
    from pawl.samples as sample
    join pawl.instances as instance on instance.id = sample.id
    left join pawl.queues as queue on queue.name = sample.queue
    cross join lateral (
      select coalesce(jsonb_agg(few.labeler), '[]'::jsonb) as by from (
        select assignment.labeler from pawl.assignments as assignment
        where assignment.sample_id = sample.id and assignment.desk is not null
        order by assignment.slot limit 10
      ) as few
    ) as held
    where sample.id = ${id}::uuid`);
  return row;
}
