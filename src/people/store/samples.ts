import { type CheckRow, insertChecks } from "../../store/family/checks.ts";
import { type Executor, part, sql, textArray } from "../../store/port/db.ts";
import { decideLetters, type LetterDecision } from "../../store/recovery/dead-letters.ts";
import { type ReviewedLabel, reviewLabels } from "./labels.ts";
import { isRestricted } from "./queues.ts";
import type { SlotPosition } from "./slots.ts";

/** A sample to be added to its queue. */
export interface NewSample {
  readonly id: string;
  readonly queue: string;
  /** The number of slots, and how often one of them can be reopened. */
  readonly needs: number;
  readonly spare: number;
  readonly rank: number;
  /** The first slots of all samples are assigned first, then all second slots. */
  readonly rankedBySlot: boolean;
  readonly goldText: string | null;
  /** A crowd posted it and is notified of every label. */
  readonly posted: boolean;
}

/**
 * Inserts the rows and slots of samples that start. In a restricted queue they are marked to be checked: there may be
 * no eligible labeler.
 */
export function insertSamples(rows: readonly NewSample[]) {
  return part`
    sampling as materialized (
      select given.*
      from unnest(
        (select ${textArray(rows.map((row) => row.id))}::text)::uuid[],
        (select ${textArray(rows.map((row) => row.queue))}::text)::text[],
        (select ${textArray(rows.map((row) => row.needs))}::text)::int[],
        (select ${textArray(rows.map((row) => row.spare))}::text)::int[],
        (select ${textArray(rows.map((row) => row.rank))}::text)::float8[],
        (select ${textArray(rows.map((row) => row.rankedBySlot))}::text)::boolean[],
        (select ${textArray(rows.map((row) => row.goldText))}::text)::text[],
        (select ${textArray(rows.map((row) => row.posted))}::text)::boolean[]
      ) as given(id, queue, needs, spare, rank, by_slot, gold, posted)
      where (given.id in (select id from written)) is true
    ),
    sampled as (
      insert into pawl.samples (id, queue, needs, spare, gold, posted, changes, created_at)
      select given.id, given.queue, given.needs, given.spare, given.gold::jsonb, given.posted,
        case when not given.posted and exists (
          select from pawl.queues as queue where queue.name = given.queue and ${isRestricted}
        ) then 1 else 0 end, clock.now
      from clock, sampling as given
    ),
    slotted as (
      insert into pawl.slots (sample_id, no, queue, open_in, rank)
      select given.id, slot.no, given.queue, given.queue, case when given.by_slot then slot.no else given.rank end
      from sampling as given cross join lateral generate_series(1, given.needs) as slot(no)
    ),`;
}

/** The effect of a move on a sample's row and its slots. */
export interface SampleMove {
  readonly id: string;
  /** Whether its slots can be assigned after the move. */
  readonly open: boolean;
  /** The last of its changes that the decision considered; null if the move has another cause. */
  readonly settled: number | null;
  /** Whether spent slots are reopened. */
  readonly reopens: boolean;
  /** How many slots more it gets, each at the price of a try. */
  readonly moreSlots: number;
  /** How many tries more it gets. */
  readonly moreTries: number;
  /** Whether the closed slots get their tries back. */
  readonly refunds: boolean;
  /** Whether it needs more labels than before, so that there may be no eligible labeler left for them. */
  readonly needsMore: boolean;
  /** 1 if the move gives the sample up, -1 if it ends that. */
  readonly givenUp: -1 | 0 | 1;
  /** Why there is no result. */
  readonly reason: string | null;
}

/**
 * Applies moves of samples to their slots. A closed sample spends its open slots and new ones; a reopened sample
 * reopens the slots that were spent without a label, each for one try. This also decides what was left for a person to
 * decide.
 */
export function moveSamples(
  rows: readonly SampleMove[],
  reviews: readonly ReviewedLabel[],
  letters: readonly LetterDecision[],
  checks: readonly CheckRow[],
) {
  return part`
    moving as materialized (
      select move.*, sample.queue, sample.needs
      from (
        select * from unnest(
          (select ${textArray(rows.map((row) => row.id))}::text)::uuid[],
          (select ${textArray(rows.map((row) => row.open))}::text)::boolean[],
          (select ${textArray(rows.map((row) => row.settled))}::text)::int[],
          (select ${textArray(rows.map((row) => row.reopens))}::text)::boolean[],
          (select ${textArray(rows.map((row) => row.moreSlots))}::text)::int[],
          (select ${textArray(rows.map((row) => row.moreTries))}::text)::int[],
          (select ${textArray(rows.map((row) => row.refunds))}::text)::boolean[],
          (select ${textArray(rows.map((row) => row.needsMore))}::text)::boolean[],
          (select ${textArray(rows.map((row) => row.givenUp))}::text)::int[],
          (select ${textArray(rows.map((row) => row.reason))}::text)::text[]
        ) as move(id, open, settled, reopens, more_slots, more_tries, refunds, needs_more, given_up, reason)
        where (move.id in (select id from written)) is true
        order by move.id
        limit (select ${rows.length}::int)
      ) as move
      cross join lateral (
        select each.queue, each.needs from pawl.samples as each where each.id = move.id for no key update
      ) as sample
    ),
    closed_slots as (
      update pawl.slots as slot set open_in = null
      from moving
      where not moving.open and slot.sample_id = moving.id and slot.open_in is not null
      returning slot.sample_id
    ),
    opened_slots as (
      update pawl.slots as slot set open_in = slot.queue
      from moving
      where moving.reopens and slot.sample_id = moving.id and slot.open_in is null and slot.assignment_id is null
      returning slot.sample_id
    ),
    slotted as (
      insert into pawl.slots (sample_id, no, queue, open_in, rank)
      select moving.id, moving.needs + more.no, moving.queue, case when moving.open then moving.queue end, first.rank
      from moving
      cross join lateral generate_series(1, moving.more_slots) as more(no)
      cross join lateral (select each.rank from pawl.slots as each where each.sample_id = moving.id and each.no = 1) as first
    ),
    given_up as (
      update pawl.queues as queue
      -- A process of an earlier version may not have counted.
      set given_up = greatest(queue.given_up + change.samples, 0)
      from (
        select moving.queue, sum(moving.given_up)::int as samples, min(moving.reason) as reason
        from moving where moving.given_up <> 0
        group by moving.queue order by moving.queue
        limit (select ${rows.length}::int)
      ) as change
      where queue.name = change.queue and change.samples <> 0
      returning gen_random_uuid() as alert_id, queue.name, queue.given_up <= change.samples as is_first, change.samples,
        change.reason
    ),
    given_up_alerts as (
      insert into pawl.alerts (id, cause, kind, lifecycle, message, details, at, due_at)
      select alert_id, format('samples_given_up:%s:%s', name, alert_id), 'samples_given_up', 'pawl',
        format('Samples of queue "%s" get no consensus and need a lead: %s', name, reason),
        json_build_object('queue', name, 'reason', reason)::jsonb, clock.now, clock.now
      from clock, given_up where is_first and samples > 0
    ),
    ${reviewLabels(reviews)}
    decided_letters as (${decideLetters(letters)}),
    asker_checks as (${insertChecks(checks)}),
    sampled as (
      update pawl.samples as sample
      set open = moving.open, needs = sample.needs + moving.more_slots,
        settled = coalesce(moving.settled, sample.settled),
        filled = sample.filled - change.unfilled, changes = sample.changes + change.reviewed + moving.needs_more::int,
        spent = sample.spent + change.closed - change.opened + case when moving.open then 0 else moving.more_slots end,
        spare = sample.spare + moving.more_tries - moving.more_slots - change.opened
          + case when moving.refunds then change.closed else 0 end
      from moving
      cross join lateral (
        select (select count(*)::int from closed_slots where sample_id = moving.id) as closed,
          (select count(*)::int from opened_slots where sample_id = moving.id) as opened,
          (select count(*)::int from unfilled where sample_id = moving.id) as unfilled,
          (select count(*)::int from reviewed where sample_id = moving.id) as reviewed
      ) as change
      where sample.id = moving.id
    ),`;
}

/** A sample that may have ended, with the data to decide whether it has. */
export interface UnsettledSample {
  readonly id: string;
  readonly queue: string;
  readonly needs: number;
  readonly filled: number;
  readonly spent: number;
  readonly spare: number;
  readonly changes: number;
  readonly state: string;
  readonly version: number;
  readonly data: Record<string, unknown>;
  /** Open slots, and assigned slots. */
  readonly open_slots: number;
  readonly held_slots: number;
  /** The labels that count. */
  readonly labels:
    | readonly { readonly labeler: string; readonly value: unknown; readonly review: string | null }[]
    | null;
  /** Who is not given it any more. */
  readonly barred: readonly string[] | null;
}

const unsettledColumns = part`
  sample.id::text as id, sample.queue, sample.needs, sample.filled, sample.spent, sample.spare, sample.changes,
  instance.state, instance.version, instance.data, slots.open_slots, slots.held_slots, slots.labels,
  (select json_agg(each.labeler) from pawl.assignments as each where each.sample_id = sample.id and each.bars) as barred`;

/** The instance of a `sample`, its slots and its labels. */
const unsettledParts = part`
  cross join lateral (
    select each.state, each.version, each.data from pawl.instances as each where each.id = sample.id offset 0
  ) as instance
  cross join lateral (
    select (count(*) filter (where slot.open_in is not null))::int as open_slots,
      (count(*) filter (where slot.assignment_id is not null and not slot.filled))::int as held_slots,
      json_agg(json_build_object('labeler', label.labeler, 'value', label.value, 'review', label.review) order by slot.no)
        filter (where label.id is not null) as labels
    from pawl.slots as slot
    left join lateral (
      select * from pawl.labels as each where slot.filled and each.assignment_id = slot.assignment_id offset 0
    ) as label on true
    where slot.sample_id = sample.id
  ) as slots`;

/** The samples of these assignments, those that may have ended. */
export function readUnsettledOf(db: Executor, assignmentIds: readonly string[]): Promise<UnsettledSample[]> {
  return db.rows<UnsettledSample>(sql`
    select ${unsettledColumns}
    from (
      select distinct assignment.sample_id
      from unnest((select ${textArray(assignmentIds)}::text)::uuid[]) as wanted(id)
      cross join lateral (select each.sample_id from pawl.assignments as each where each.id = wanted.id offset 0) as assignment
    ) as touched
    cross join lateral (
      select * from pawl.samples as each where each.id = touched.sample_id and each.changes > each.settled offset 0
    ) as sample
    ${unsettledParts}`);
}

/** Those of these samples that may have ended. */
export function readUnsettledAmong(db: Executor, ids: readonly string[]): Promise<UnsettledSample[]> {
  return db.rows<UnsettledSample>(sql`
    select ${unsettledColumns}
    from unnest((select ${textArray(ids)}::text)::uuid[]) as wanted(id)
    cross join lateral (
      select * from pawl.samples as each where each.id = wanted.id and each.changes > each.settled offset 0
    ) as sample
    ${unsettledParts}`);
}

/** Samples that may have ended and were not checked since, page by page. */
export function readUnsettled(db: Executor, afterId: string, limit: number): Promise<UnsettledSample[]> {
  return db.rows<UnsettledSample>(sql`
    select ${unsettledColumns}
    from (
      select * from pawl.samples where changes > settled and id > ${afterId}::uuid order by id limit ${limit}::int
    ) as sample
    ${unsettledParts}
    order by sample.id`);
}

/** Records that samples were checked up to these changes and continue unchanged. */
export async function markSettled(
  db: Executor,
  samples: readonly { readonly id: string; readonly changes: number }[],
): Promise<void> {
  await db.rows(sql`
    with looked as materialized (
      select ordered.*
      from (
        select * from unnest(
          (select ${textArray(samples.map((sample) => sample.id))}::text)::uuid[],
          (select ${textArray(samples.map((sample) => sample.changes))}::text)::int[]
        ) as looked(id, changes)
        order by looked.id
        limit (select ${samples.length}::int)
      ) as ordered
      cross join lateral (select from pawl.samples as each where each.id = ordered.id for no key update) as held
    )
    update pawl.samples as sample set settled = greatest(sample.settled, looked.changes)
    from looked where sample.id = looked.id`);
}

/** A page of open slots, and those of their samples that some of the labelers cannot label any more. */
export interface StuckPage {
  readonly seen: number;
  readonly last: { readonly rank: number; readonly sample_id: string; readonly no: number } | null;
  readonly stuck: readonly string[] | null;
}

/** Goes through open slots of a queue and finds samples that all `eligible` labelers are barred from; crowds' own are left out. */
export async function readStuckSamples(
  db: Executor,
  page: {
    readonly queue: string;
    readonly eligible: readonly string[];
    readonly after: SlotPosition | null;
    readonly limit: number;
  },
): Promise<StuckPage> {
  const after = page.after ?? { rank: "-Infinity", sampleId: "00000000-0000-0000-0000-000000000000", no: 0 };
  const [row] = await db.rows<StuckPage>(sql`
    with seen as materialized (
      select each.rank, each.sample_id, each.no
      from pawl.slots as each
      where each.open_in = ${page.queue}::text and each.open_in is not null
        and (each.rank, each.sample_id, each.no) > (${after.rank}::float8, ${after.sampleId}::uuid, ${after.no}::int)
      order by each.rank, each.sample_id, each.no
      limit ${page.limit}::int
    )
    select count(*)::int as seen,
      (select json_build_object('rank', one.rank, 'sample_id', one.sample_id, 'no', one.no)
       from (select * from seen order by rank desc, sample_id desc, no desc limit 1) as one) as last,
      (select json_agg(distinct one.sample_id)
       from seen as one
       cross join lateral (select each.id from pawl.samples as each where each.id = one.sample_id and not each.posted offset 0) as own
       where not exists (
         select from unnest((select ${textArray(page.eligible)}::text)::text[]) as labeler(id)
         where not exists (
           select from pawl.assignments as each
           where each.sample_id = one.sample_id and each.labeler = labeler.id and each.bars
         )
       )) as stuck
    from seen`);
  return row!;
}

/** Marks samples to be checked again. Waits for concurrent changes of them, in the order of ids. */
export async function markUnsettled(db: Executor, ids: readonly string[]): Promise<void> {
  await db.rows(sql`
    with wanted as materialized (
      select ordered.id
      from (
        select * from unnest((select ${textArray(ids)}::text)::uuid[]) as wanted(id)
        order by wanted.id
        limit (select ${ids.length}::int)
      ) as ordered
      cross join lateral (select from pawl.samples as each where each.id = ordered.id for no key update) as held
    )
    update pawl.samples as sample set changes = sample.changes + 1
    from wanted where sample.id = wanted.id`);
}

/** What labelers are shown. */
export interface SampleContent {
  readonly id: string;
  readonly key: string | null;
  readonly content: unknown;
}

export function readContents(db: Executor, ids: readonly string[]): Promise<SampleContent[]> {
  return db.rows<SampleContent>(sql`
    select instance.id::text as id, instance.key, instance.data -> 'content' as content
    from unnest((select ${textArray(ids)}::text)::uuid[]) as wanted(id)
    cross join lateral (select * from pawl.instances as each where each.id = wanted.id offset 0) as instance`);
}

/** A sample as a lead decides about it. */
export interface LeadsSample {
  readonly id: string;
  readonly queue: string;
  readonly state: string;
  readonly version: number;
  readonly needs: number;
  readonly filled: number;
  readonly spent: number;
  readonly spare: number;
  /** The first slot that can be had. */
  readonly open_slot: number | null;
  /** Open assignments. */
  readonly held: readonly { readonly id: string; readonly labeler: string }[] | null;
  /** Assignments whose labels count. */
  readonly done: readonly { readonly id: string; readonly labeler: string }[] | null;
}

export async function readSampleForLead(db: Executor, id: string): Promise<LeadsSample | undefined> {
  const [row] = await db.rows<LeadsSample>(sql`
    select sample.id::text as id, sample.queue, instance.state, instance.version, sample.needs, sample.filled, sample.spent,
      sample.spare,
      (select min(slot.no) from pawl.slots as slot where slot.sample_id = sample.id and slot.open_in is not null) as open_slot,
      (select json_agg(json_build_object('id', each.id, 'labeler', each.labeler) order by each.id)
       from pawl.assignments as each where each.sample_id = sample.id and each.desk is not null) as held,
      (select json_agg(json_build_object('id', each.id, 'labeler', each.labeler) order by each.id)
       from pawl.slots as slot
       join pawl.assignments as each on each.id = slot.assignment_id
       where slot.sample_id = sample.id and slot.filled) as done
    from pawl.samples as sample
    join pawl.instances as instance on instance.id = sample.id
    where sample.id = ${id}::uuid`);
  return row;
}

/** Samples that had no eligible labeler left, page by page. */
export function readUnassignable(db: Executor, afterId: string, limit: number): Promise<UnsettledSample[]> {
  return db.rows<UnsettledSample>(sql`
    select ${unsettledColumns}
    from (
      select sample.* from pawl.instances as each
      join pawl.samples as sample on sample.id = each.id
      where each.lifecycle = 'pawl_sample' and each.shelf = 'unassignable' and each.shelf is not null
        and each.id > ${afterId}::uuid
      order by each.id limit ${limit}::int
    ) as sample
    ${unsettledParts}
    order by sample.id`);
}

/** A sample that is not open any more, with the labels that count. */
export interface EndedSample {
  readonly id: string;
  readonly state: string;
  readonly data: Record<string, unknown>;
  readonly labels: readonly { readonly value: unknown }[] | null;
}

/** Those of these samples that are not open any more. */
export function readEnded(db: Executor, ids: readonly string[]): Promise<EndedSample[]> {
  return db.rows<EndedSample>(sql`
    select sample.id::text as id, instance.state, instance.data, slots.labels
    from unnest((select ${textArray(ids)}::text)::uuid[]) as wanted(id)
    cross join lateral (select * from pawl.samples as each where each.id = wanted.id and not each.open offset 0) as sample
    ${unsettledParts}`);
}
