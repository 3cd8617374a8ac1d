import { type Executor, part, sql, textArray } from "../../store/port/db.ts";
import { isRestricted } from "./queues.ts";

export type AssignmentStatus = "pending" | "in_progress" | "completed" | "expired" | "skipped";

/** The effect of a move on the assignment's row, its slot, its sample and its label. */
export interface AssignmentMove {
  readonly id: string;
  readonly to: AssignmentStatus;
  readonly attempts: number;
  /** It was begun, or its time begins again: how long there is from now, and how long a label counts after that. */
  readonly started: boolean;
  readonly finishWithinMs: number | null;
  readonly graceMs: number | null;
  /** The assignment has ended, in any way. */
  readonly ends: boolean;
  readonly labelId: string | null;
  readonly labelText: string | null;
  /** Whether it is the label that was known beforehand; null where none was. */
  readonly isRight: boolean | null;
  /** The time since work began; for a late label, work begins and ends at once. */
  readonly workedMs: number | null;
  readonly skipReason: string | null;
  readonly released: boolean;
  /** The labeler does not get the sample again. */
  readonly bars: boolean;
  /** The slot can be assigned again if the sample has tries left. */
  readonly reopens: boolean;
  /** It costs its sample one of the times that it may be worked on. */
  readonly costs: boolean;
  /** The queue is restricted, so the sample may have no eligible labeler left. */
  readonly restricted: boolean;
}

/** The rows of assignments that start, with the slots that `reserving` holds for them. */
export const insertAssignments = part`
    assigned as (
      insert into pawl.assignments (
        id, queue, sample_id, slot, labeler, status, desk, place, try, attempts, revision_of, start_by, due_at, created_at
      )
      select given.id, given.queue, given.sample_id, given.slot, given.labeler, 'pending', given.labeler, given.place, given.try,
        given.attempts, given.revision_of, clock.now + given.start_ms * interval '1 millisecond',
        clock.now + given.start_ms * interval '1 millisecond', clock.now
      from clock, reserving as given
      where (given.id in (select id from written)) is true
    ),
    given_out as (
      insert into pawl.labeler_hours as hours (queue, labeler, hour, given, attempts)
      select given.queue, given.labeler, date_trunc('hour', clock.now, 'UTC'), count(*), sum(given.attempts)
      from clock, reserving as given
      where (given.id in (select id from written)) is true
      group by given.queue, given.labeler, clock.now
      order by given.queue, given.labeler
      on conflict (queue, labeler, hour) do update
      set given = hours.given + excluded.given, attempts = hours.attempts + excluded.attempts
    ),`;

/**
 * Applies moves of assignments to their rows: the slot is filled, reopened or spent, the label is stored, the sample
 * counts it. Waits for the sample's row, in the order of ids, so that of two last labels at the same time one sees the
 * other.
 */
export function moveAssignments(rows: readonly AssignmentMove[]) {
  return part`
    moving as materialized (
      select move.*, held.queue, held.sample_id, held.slot, held.labeler, held.started_at, held.attempts as earlier_attempts
      from unnest(
        (select ${textArray(rows.map((row) => row.id))}::text)::uuid[],
        (select ${textArray(rows.map((row) => row.to))}::text)::text[],
        (select ${textArray(rows.map((row) => row.attempts))}::text)::int[],
        (select ${textArray(rows.map((row) => row.started))}::text)::boolean[],
        (select ${textArray(rows.map((row) => row.finishWithinMs))}::text)::float8[],
        (select ${textArray(rows.map((row) => row.graceMs))}::text)::float8[],
        (select ${textArray(rows.map((row) => row.ends))}::text)::boolean[],
        (select ${textArray(rows.map((row) => row.labelId))}::text)::uuid[],
        (select ${textArray(rows.map((row) => row.labelText))}::text)::text[],
        (select ${textArray(rows.map((row) => row.isRight))}::text)::boolean[],
        (select ${textArray(rows.map((row) => row.workedMs))}::text)::float8[],
        (select ${textArray(rows.map((row) => row.skipReason))}::text)::text[],
        (select ${textArray(rows.map((row) => row.released))}::text)::boolean[],
        (select ${textArray(rows.map((row) => row.bars))}::text)::boolean[],
        (select ${textArray(rows.map((row) => row.reopens))}::text)::boolean[],
        (select ${textArray(rows.map((row) => row.costs))}::text)::boolean[],
        (select ${textArray(rows.map((row) => row.restricted))}::text)::boolean[]
      ) as move(
        id, to_status, attempts, started, finish_ms, grace_ms, ends, label_id, label, is_right, worked_ms, skip_reason, released, bars, reopens, costs, restricted
      )
      cross join lateral (
        select each.queue, each.sample_id, each.slot, each.labeler, each.started_at, each.attempts
        from pawl.assignments as each where each.id = move.id offset 0
      ) as held
      where (move.id in (select id from written)) is true
      limit (select ${rows.length}::int)
    ),
    weighed as materialized (
      select ordered.*, sample.open, sample.spare
      from (select * from moving order by sample_id, id offset 0) as ordered
      left join lateral (
        select each.open, each.spare from pawl.samples as each
        where ordered.ends and each.id = ordered.sample_id
        for no key update
      ) as sample on true
    ),
    moved as materialized (
      select weighed.*, weighed.to_status = 'completed' as fills,
        weighed.reopens and weighed.open and (not weighed.costs or weighed.spare >= row_number() over (
          partition by weighed.sample_id, weighed.reopens and weighed.costs order by weighed.id
        )) as again
      from weighed
    ),
    placed as (
      update pawl.slots as slot
      set open_in = case when moved.again then slot.queue end, filled = moved.fills,
        assignment_id = case when moved.fills then slot.assignment_id end
      from moved
      where moved.ends and slot.sample_id = moved.sample_id and slot.no = moved.slot and slot.assignment_id = moved.id
    ),
    sampled as (
      update pawl.samples as sample
      set filled = sample.filled + sum.filled, spent = sample.spent + sum.spent, spare = sample.spare - sum.again,
        changes = sample.changes + case
          when sample.filled + sum.filled + sample.spent + sum.spent >= sample.needs or sum.restricted or sample.posted
            -- It may have become restricted since the assignment was given out.
            or exists (select from pawl.queues as queue where queue.name = sample.queue and ${isRestricted})
          then 1 else 0 end
      from (
        select sample_id, (count(*) filter (where fills))::int as filled, (count(*) filter (where not fills and not again))::int as spent,
          (count(*) filter (where again and costs))::int as again, bool_or(restricted) as restricted
        from moved where ends group by sample_id
      ) as sum
      where sample.id = sum.sample_id
    ),
    labeled as (
      insert into pawl.labels (id, assignment_id, sample_id, slot, queue, labeler, value, at, gold_right)
      select moved.label_id, moved.id, moved.sample_id, moved.slot, moved.queue, moved.labeler, moved.label::jsonb, clock.now,
        moved.is_right
      from clock, moved where moved.fills
    ),
    reassigned as (
      update pawl.assignments as assignment
      set status = moved.to_status, attempts = moved.attempts, bars = moved.bars, released = moved.released,
        desk = case when not moved.ends then assignment.desk end, label_id = moved.label_id, skip_reason = moved.skip_reason,
        started_at = case when moved.started then coalesce(assignment.started_at, clock.now - coalesce(moved.worked_ms, 0) * interval '1 millisecond') else assignment.started_at end,
        deadline = case when moved.started then clock.now + moved.finish_ms * interval '1 millisecond' else assignment.deadline end,
        due_at = case
          when moved.ends then null
          when moved.started then clock.now + (moved.finish_ms + moved.grace_ms) * interval '1 millisecond'
          else assignment.due_at end,
        completed_at = case when moved.to_status = 'completed' then clock.now end,
        expired_at = case when moved.to_status = 'expired' then clock.now end,
        skipped_at = case when moved.to_status = 'skipped' then clock.now end
      from moved, clock
      where assignment.id = moved.id
      returning assignment.id, assignment.status
    ),
    -- After its assignment: drafts are written with the locks in that order, too.
    undrafted as (
      delete from pawl.drafts as draft using reassigned
      where draft.assignment_id = reassigned.id and reassigned.status in ('completed', 'skipped')
    ),
    summed as (
      insert into pawl.labeler_hours as hours (
        queue, labeler, hour, started, completed, skipped, expired, expired_unstarted, released, unstarted, attempts, worked_ms, gold,
        gold_right
      )
      select moved.queue, moved.labeler, date_trunc('hour', clock.now, 'UTC'),
        count(*) filter (where moved.started and moved.started_at is null),
        count(*) filter (where moved.to_status = 'completed'), count(*) filter (where moved.to_status = 'skipped'),
        count(*) filter (where moved.to_status = 'expired'),
        count(*) filter (where moved.to_status = 'expired' and not moved.released and moved.started_at is null and not moved.started),
        count(*) filter (where moved.to_status = 'expired' and moved.released),
        count(*) filter (where moved.ends and moved.started_at is null and not moved.started),
        sum(moved.attempts - moved.earlier_attempts),
        coalesce(sum(coalesce(moved.worked_ms, pawl.ms(clock.now) - pawl.ms(coalesce(moved.started_at, clock.now)))) filter (where moved.to_status = 'completed'), 0),
        count(*) filter (where moved.fills and moved.is_right is not null), count(*) filter (where moved.fills and moved.is_right)
      from clock, moved
      group by moved.queue, moved.labeler, clock.now
      order by moved.queue, moved.labeler
      on conflict (queue, labeler, hour) do update
      set started = hours.started + excluded.started, completed = hours.completed + excluded.completed,
        skipped = hours.skipped + excluded.skipped, expired = hours.expired + excluded.expired,
        expired_unstarted = hours.expired_unstarted + excluded.expired_unstarted, released = hours.released + excluded.released,
        unstarted = hours.unstarted + excluded.unstarted, attempts = hours.attempts + excluded.attempts,
        worked_ms = hours.worked_ms + excluded.worked_ms, gold = hours.gold + excluded.gold,
        gold_right = hours.gold_right + excluded.gold_right
    ),`;
}

/** An assignment as it is read. */
export interface AssignmentRow {
  readonly id: string;
  readonly queue: string;
  readonly sample_id: string;
  readonly slot: number;
  readonly labeler: string;
  readonly status: AssignmentStatus;
  readonly place: number | null;
  readonly try: number;
  readonly attempts: number;
  readonly revision_of: string | null;
  readonly released: boolean;
  readonly label_id: string | null;
  readonly skip_reason: string | null;
  readonly start_by_ms: number | null;
  readonly deadline_ms: number | null;
  readonly due_ms: number | null;
  readonly created_ms: number;
  readonly started_ms: number | null;
  readonly completed_ms: number | null;
  readonly expired_ms: number | null;
  readonly skipped_ms: number | null;
  readonly now_ms: number;
}

/** The columns of an `AssignmentRow`, from a row called `assignment` and a clock. */
export const assignmentColumns = part`
  assignment.id::text as id, assignment.queue, assignment.sample_id::text as sample_id, assignment.slot, assignment.labeler,
  assignment.status, assignment.place, assignment.try, assignment.attempts, assignment.revision_of::text as revision_of,
  assignment.released, assignment.label_id::text as label_id, assignment.skip_reason, pawl.ms(assignment.start_by) as start_by_ms,
  pawl.ms(assignment.deadline) as deadline_ms, pawl.ms(assignment.due_at) as due_ms, pawl.ms(assignment.created_at) as created_ms,
  pawl.ms(assignment.started_at) as started_ms, pawl.ms(assignment.completed_at) as completed_ms,
  pawl.ms(assignment.expired_at) as expired_ms, pawl.ms(assignment.skipped_at) as skipped_ms, pawl.ms(clock.now) as now_ms`;

/** Assignments, each with the label that is known of its sample beforehand, if one is. */
export function readAssignments(
  db: Executor,
  ids: readonly string[],
): Promise<(AssignmentRow & { readonly gold: unknown })[]> {
  return db.rows(sql`
    with clock as materialized (select pawl.now() as now)
    select ${assignmentColumns}, (select each.gold from pawl.samples as each where each.id = assignment.sample_id) as gold
    from clock, unnest((select ${textArray(ids)}::text)::uuid[]) as wanted(id)
    cross join lateral (select * from pawl.assignments as each where each.id = wanted.id offset 0) as assignment`);
}

/**
 * The data for a labeler who asks a queue for work: the queue, the labeler, and the labeler's open assignments, oldest
 * first.
 */
export interface Visit {
  readonly asked: number;
  readonly queue: { readonly active: boolean; readonly settings: Record<string, unknown> } | null;
  readonly labeler: { readonly active: boolean; readonly skills: readonly string[] } | null;
  readonly desk: readonly AssignmentRow[] | null;
}

/** One visit per request; `asked` is the position in the list. */
export function readVisits(
  db: Executor,
  asked: readonly { readonly queue: string; readonly labeler: string }[],
): Promise<Visit[]> {
  return db.rows<Visit>(sql`
    with clock as materialized (select pawl.now() as now)
    select (wanted.at - 1)::int as asked,
      (select json_build_object('active', each.active, 'settings', each.settings)
       from pawl.queues as each where each.name = wanted.queue) as queue,
      (select json_build_object('active', each.active, 'skills', each.skills)
       from pawl.labelers as each where each.id = wanted.labeler) as labeler,
      (select json_agg(one order by one.id)
       from clock cross join lateral (
         select ${assignmentColumns} from pawl.assignments as assignment
         where assignment.queue = wanted.queue and assignment.desk = wanted.labeler and assignment.desk is not null
         offset 0
       ) as one) as desk
    from unnest(
      (select ${textArray(asked.map((one) => one.queue))}::text)::text[],
      (select ${textArray(asked.map((one) => one.labeler))}::text)::text[]
    ) with ordinality as wanted(queue, labeler, at)
    order by wanted.at`);
}

/** Counts the assignments of a queue that other labelers hold, up to `most`, and whether any of them is overdue. */
export async function countHeldByOthers(
  db: Executor,
  asked: { readonly queue: string; readonly labeler: string },
  most: number,
): Promise<{ readonly held: number; readonly overdue: boolean }> {
  const [row] = await db.rows<{ held: number; overdue: boolean }>(sql`
    select
      (select count(*)::int from (
         select from pawl.assignments as each
         where each.queue = ${asked.queue}::text and each.desk is not null and each.desk <> ${asked.labeler}::text
         limit ${most}::int
       ) as others) as held,
      exists (
        select from pawl.assignments as each
        where each.queue = ${asked.queue}::text and each.due_at is not null and each.due_at <= pawl.now()
      ) as overdue`);
  return row!;
}

/** Open assignments of a queue that are overdue, in the order of their deadlines. */
export function readDueAssignments(db: Executor, queue: string, limit: number): Promise<{ id: string }[]> {
  return db.rows(sql`
    select each.id::text as id
    from pawl.assignments as each
    where each.queue = ${queue}::text and each.due_at is not null and each.due_at <= pawl.now()
    order by each.due_at, each.id
    limit ${limit}::int`);
}

/** The assignments in which a label is corrected, newest first. */
export function readRevisions(
  db: Executor,
  label: { readonly sample_id: string; readonly labeler: string; readonly assignment_id: string },
): Promise<AssignmentRow[]> {
  return db.rows<AssignmentRow>(sql`
    with clock as materialized (select pawl.now() as now)
    select ${assignmentColumns}
    from clock, pawl.assignments as assignment
    where assignment.sample_id = ${label.sample_id}::uuid and assignment.labeler = ${label.labeler}::text
      and assignment.revision_of = ${label.assignment_id}::uuid
    order by assignment.id desc`);
}
