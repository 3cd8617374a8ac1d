import { type Executor, part, sql, textArray } from "../../store/port/db.ts";

/** An assignment to create, with the slot to reserve for it. */
export interface Reservation {
  readonly id: string;
  readonly queue: string;
  readonly sampleId: string;
  readonly slot: number;
  readonly labeler: string;
  /** Its place on the labeler's desk; a revision takes none. */
  readonly place: number | null;
  readonly try: number;
  readonly attempts: number;
  readonly revisionOf: string | null;
  /** The assignment whose slot it takes over; without one the slot must be open. */
  readonly takesOver: string | null;
  readonly startWithinMs: number | null;
}

/**
 * Reserves the slots of assignments where possible. A slot that another transaction has locked is skipped, without
 * waiting. Runs before the instances are written; `reserved` lists those that may be written.
 */
export function reserveSlots(rows: readonly Reservation[]) {
  return part`
    reserving as materialized (
      select given.*
      from unnest(
        (select ${textArray(rows.map((row) => row.id))}::text)::uuid[],
        (select ${textArray(rows.map((row) => row.queue))}::text)::text[],
        (select ${textArray(rows.map((row) => row.sampleId))}::text)::uuid[],
        (select ${textArray(rows.map((row) => row.slot))}::text)::int[],
        (select ${textArray(rows.map((row) => row.labeler))}::text)::text[],
        (select ${textArray(rows.map((row) => row.place))}::text)::int[],
        (select ${textArray(rows.map((row) => row.try))}::text)::int[],
        (select ${textArray(rows.map((row) => row.attempts))}::text)::int[],
        (select ${textArray(rows.map((row) => row.revisionOf))}::text)::uuid[],
        (select ${textArray(rows.map((row) => row.takesOver))}::text)::uuid[],
        (select ${textArray(rows.map((row) => row.startWithinMs))}::text)::float8[]
      ) as given(id, queue, sample_id, slot, labeler, place, try, attempts, revision_of, takes_over, start_ms)
      cross join lateral (
        select from pawl.slots as each
        where each.sample_id = given.sample_id and each.no = given.slot
          and (each.open_in is not null or each.assignment_id = given.takes_over)
        for update skip locked
      ) as free
      where given.revision_of is not null or not exists (
        select from pawl.assignments as mine
        where mine.sample_id = given.sample_id and mine.labeler = given.labeler and mine.bars and mine.revision_of is null
      )
      limit (select ${rows.length}::int)
    ),
    reserved as (
      update pawl.slots as slot set open_in = null, assignment_id = reserving.id, filled = false
      from reserving
      where slot.sample_id = reserving.sample_id and slot.no = reserving.slot
      returning slot.assignment_id as id
    ),`;
}

/** Only assignments with a reserved slot are started. */
export const onlyReserved = part`where (fresh.id in (select id from reserved)) is true`;

/** A place in the order of a queue. */
export interface SlotPosition {
  readonly rank: number;
  readonly sampleId: string;
  readonly no: number;
}

/** A slot that can be had, and how often each labeler has been given its sample. */
export interface OpenSlot {
  readonly window: number;
  readonly sample_id: string;
  readonly no: number;
  readonly rank: number;
  /** Null if it was never assigned. */
  readonly tried: readonly PastTries[] | null;
}

export interface PastTries {
  readonly labeler: string;
  /** The number of assignments, without those that a lead released. */
  readonly tries: number;
  readonly attempts: number;
  /** Why the labeler cannot get it again; null if it can be assigned. */
  readonly barred: "pending" | "in_progress" | "completed" | "expired" | "skipped" | null;
}

const first = { rank: "-Infinity", sampleId: "00000000-0000-0000-0000-000000000000", no: 0 };
const last = { rank: "Infinity", sampleId: "ffffffff-ffff-ffff-ffff-ffffffffffff", no: 0 };

/** Open slots in the order of their queue, `most` from each of these positions on. */
export function readOpenSlots(
  db: Executor,
  windows: readonly { readonly queue: string; readonly after: SlotPosition | null }[],
  most: number,
): Promise<OpenSlot[]> {
  const after = windows.map((window) => window.after ?? first);
  return db.rows<OpenSlot>(sql`
    select (wanted.at - 1)::int as window, slot.sample_id::text as sample_id, slot.no, slot.rank, tried.labelers as tried
    from unnest(
      (select ${textArray(windows.map((window) => window.queue))}::text)::text[],
      (select ${textArray(after.map((one) => one.rank))}::text)::float8[],
      (select ${textArray(after.map((one) => one.sampleId))}::text)::uuid[],
      (select ${textArray(after.map((one) => one.no))}::text)::int[]
    ) with ordinality as wanted(queue, rank, sample_id, no, at)
    cross join lateral (
      select each.sample_id, each.no, each.rank
      from pawl.slots as each
      where each.open_in = wanted.queue and each.open_in is not null
        and (each.rank, each.sample_id, each.no) > (wanted.rank, wanted.sample_id, wanted.no)
      order by each.rank, each.sample_id, each.no
      limit ${most}::int
    ) as slot
    cross join lateral (
      select json_agg(json_build_object('labeler', one.labeler, 'tries', one.tries, 'attempts', one.attempts, 'barred', one.barred)) as labelers
      from (
        select each.labeler, count(*) filter (where not each.released)::int as tries, max(each.attempts) as attempts,
          max(each.status) filter (where each.bars) as barred
        from pawl.assignments as each
        where each.sample_id = slot.sample_id
        group by each.labeler
      ) as one
    ) as tried
    order by wanted.at, slot.rank, slot.sample_id, slot.no`);
}

/** The open slots of a range of a queue, for one labeler. */
export interface ScannedRange {
  /** How many slots it was, and the last of them. */
  readonly scanned: number;
  readonly last: { readonly sample_id: string; readonly no: number; readonly rank: number } | null;
  /** Counts of samples that are excluded for the labeler, by reason. */
  readonly done: number;
  readonly skipped: number;
  readonly too_often: number;
  /** The first slots that the labeler can get. */
  readonly found:
    | {
        readonly sample_id: string;
        readonly no: number;
        readonly rank: number;
        readonly tries: number;
        readonly attempts: number;
      }[]
    | null;
}

const fewFound = 16;

/** Scans up to `most` open slots of a queue for one labeler; returns one row for any number of slots. */
export async function scanSlots(
  db: Executor,
  stride: {
    readonly queue: string;
    readonly labeler: string;
    readonly after: SlotPosition | null;
    readonly upTo: SlotPosition | null;
    readonly most: number;
  },
): Promise<ScannedRange> {
  const after = stride.after ?? first;
  const upTo = stride.upTo ?? last;
  const [row] = await db.rows<ScannedRange>(sql`
    with looked as materialized (
      select slot.rank, slot.sample_id, slot.no, mine.tries, mine.attempts, mine.barred
      from (
        select each.rank, each.sample_id, each.no
        from pawl.slots as each
        where each.open_in = ${stride.queue}::text and each.open_in is not null
          and (each.rank, each.sample_id, each.no) > (${after.rank}::float8, ${after.sampleId}::uuid, ${after.no}::int)
          and (each.rank, each.sample_id, each.no) <= (${upTo.rank}::float8, ${upTo.sampleId}::uuid, ${upTo.no}::int)
        order by each.rank, each.sample_id, each.no
        limit ${stride.most}::int
      ) as slot
      cross join lateral (
        select count(*) filter (where not each.released)::int as tries, max(each.attempts) as attempts,
          max(each.status) filter (where each.bars) as barred
        from pawl.assignments as each
        where each.sample_id = slot.sample_id and each.labeler = ${stride.labeler}::text
      ) as mine
    )
    select count(*)::int as scanned,
      (count(distinct sample_id) filter (where barred in ('pending', 'in_progress', 'completed')))::int as done,
      (count(distinct sample_id) filter (where barred = 'skipped'))::int as skipped,
      (count(distinct sample_id) filter (where barred = 'expired'))::int as too_often,
      (select json_build_object('sample_id', one.sample_id, 'no', one.no, 'rank', one.rank)
       from (select * from looked order by rank desc, sample_id desc, no desc limit 1) as one) as last,
      (select json_agg(json_build_object('sample_id', one.sample_id, 'no', one.no, 'rank', one.rank, 'tries', one.tries,
         'attempts', coalesce(one.attempts, 0)) order by one.rank, one.sample_id, one.no)
       from (select * from looked where barred is null order by rank, sample_id, no limit ${fewFound}::int) as one) as found
    from looked`);
  return row!;
}
