import { batch } from "../port/batch.ts";
import { type Executor, noPart, type Part, part, type Statement, sql } from "../port/db.ts";
import { earlierMoves, type JournalRow, keysText } from "./journal.ts";
import { hasRareRows, hasUsualRows, type RelatedRows, rareRows, usualRows } from "./related-rows.ts";
import { type Answer, clock, type LastMove, type NextStep, type Written, writtenOf } from "./written.ts";

/** The effect of a list of decisions on one instance. */
export interface MovedInstance {
  readonly id: string;
  readonly expectedVersion: number;
  readonly expectedAlarms: number;
  /** The step's lease under which it is reported; null when no worker makes the move. */
  readonly token: number | null;
  /** The report is of a lapsed lease: a worker that has renewed it meanwhile keeps it. */
  readonly lapsed: boolean;
  /** Timers due up to this moment are part of the decision; null: none may be due when it is written. */
  readonly settledMs: number | null;
  readonly definition: number;
  readonly state: string;
  readonly shelf: string | null;
  /** Unchanged if only timers change. */
  readonly version: number;
  readonly alarms: number;
  readonly visit: number;
  readonly run: number;
  readonly dataText: string | null;
  /** Of a run, or of a time, that begins with this move. */
  readonly deadlineAfterMs: number | null;
  readonly failedFrom: string | null;
  readonly failedVisit: number | null;
  /** The failure of this move, as JSON; null: unchanged while it is failed. */
  readonly failureText: string | null;
  /** Its deadline has struck. */
  readonly timedOut: boolean;
  /** How many of the callbacks that waited for it are settled. */
  readonly settledCallbacks: number;
  readonly outcome: string | null;
  /** How a child has ended for its parent's counts, or that it is `open`; null: unchanged, or no child. */
  readonly childOutcome: string | null;
  /** Whether its run has children now; null: unchanged. */
  readonly hasChildren: boolean | null;
  readonly keyHeld: boolean;
  /** The visit ends: its timers go. */
  readonly leaves: boolean;
  /** Delayed events and deadlines go as well. */
  readonly endsRun: boolean;
  /** The task so far goes, and no other takes its place. */
  readonly dropsTask: boolean;
  /** The earliest of its new timers: counted from now, and at a fixed moment. */
  readonly dueAfterMs: number | null;
  readonly dueAtMs: number | null;
  /** The last of its moves; without an event there is none. */
  readonly move: LastMove;
  /** The origin of that move, if it is not the first one of this commit. */
  readonly from: string | null;
  /** That move is the report of the lease. */
  readonly reported: boolean;
  readonly step: NextStep | null;
}

const decisions = batch<MovedInstance>("decided", {
  id: ["uuid", (row) => row.id],
  expected_version: ["int", (row) => row.expectedVersion],
  expected_alarms: ["int", (row) => row.expectedAlarms],
  token: ["bigint", (row) => row.token],
  lapsed: ["boolean", (row) => row.lapsed],
  settled_ms: ["float8", (row) => row.settledMs],
  definition: ["int", (row) => row.definition],
  state: ["text", (row) => row.state],
  shelf: ["text", (row) => row.shelf],
  version: ["int", (row) => row.version],
  alarms: ["int", (row) => row.alarms],
  visit: ["int", (row) => row.visit],
  run: ["int", (row) => row.run],
  data: ["text", (row) => row.dataText],
  deadline_ms: ["float8", (row) => row.deadlineAfterMs],
  failed_from: ["text", (row) => row.failedFrom],
  failed_visit: ["int", (row) => row.failedVisit],
  failure: ["text", (row) => row.failureText],
  timed_out: ["boolean", (row) => row.timedOut || null],
  settled_callbacks: ["int", (row) => row.settledCallbacks || null],
  outcome: ["text", (row) => row.outcome],
  child_outcome: ["text", (row) => row.childOutcome],
  has_children: ["boolean", (row) => row.hasChildren],
  key_held: ["boolean", (row) => row.keyHeld],
  leaves: ["boolean", (row) => row.leaves],
  ends_run: ["boolean", (row) => row.endsRun],
  drops_task: ["boolean", (row) => row.dropsTask],
  due_after_ms: ["float8", (row) => row.dueAfterMs],
  due_ms: ["float8", (row) => row.dueAtMs],
  event: ["text", (row) => row.move.event],
  source: ["text", (row) => row.move.source],
  actor: ["text", (row) => row.move.actor],
  reason: ["text", (row) => row.move.reason],
  payload: ["text", (row) => row.move.payloadText],
  patch: ["text", (row) => row.move.patchText],
  cleared: ["text", (row) => keysText(row.move.cleared)],
  request_id: ["uuid", (row) => row.move.requestId],
  messages: ["int", (row) => row.move.messages],
  from_state: ["text", (row) => row.from],
  reported: ["boolean", (row) => row.reported],
  lane: ["text", (row) => row.step?.lane],
  priority: ["int", (row) => row.step?.priority],
  step_after_ms: ["float8", (row) => row.step?.afterMs],
  step_at_ms: ["float8", (row) => row.step?.atMs],
  worker: ["text", (row) => row.step?.grant?.worker],
  lease_ms: ["float8", (row) => row.step?.grant?.leaseMs],
  granted: ["bigint", (row) => row.step?.grant?.token],
  lane_key: ["text", (row) => row.step?.key?.key],
  weight: ["int", (row) => row.step?.key?.weight],
});

/**
 * Moves those instances that are free and unchanged, with all related rows, in one statement; returns which were moved.
 * They come in the order of their ids, so that the answer is only their number when all of them were. The caller reads
 * the others and decides again, so no lock is held over a round trip and no batch ever waits for a row.
 *
 * There are a few whole statements, by the related rows of the moves: parts without rows would cost the most frequent
 * ones time, and one statement for every combination of parts would be thousands, each prepared on every connection.
 */
export async function moveInstances(
  db: Executor,
  rows: readonly MovedInstance[],
  given: MovedWith,
): Promise<Written[]> {
  const [answer] = await db.rows<Answer>(statementFor(rows, given));
  return writtenOf(rows, answer!);
}

/** The rows that are written with the moves. */
export interface MovedWith {
  /** Moves that the instances made before their last one. */
  readonly earlier: readonly JournalRow[];
  readonly related: RelatedRows;
  /** The companion rows of a slice, if any. */
  readonly companion: Part | undefined;
}

function statementFor(rows: readonly MovedInstance[], given: MovedWith): Statement {
  const { earlier, related, companion } = given;
  if (companion !== undefined || earlier.length > 0 || hasRareRows(related)) return movesWithAll(rows, given);
  if (hasUsualRows(related)) return movesWithUsual(rows, related);
  if (rows.every((row) => row.token !== null)) return reportedMoves(rows);
  return rows.every((row) => row.token === null) ? calledMoves(rows) : movesWithUsual(rows, related);
}

/** Reports of steps with only the next step. */
function reportedMoves(rows: readonly MovedInstance[]): Statement {
  return sql`
    with ${clock}
    free as materialized (
      select ${freeColumns}, true as leased
      from clock, ${decisions(rows)}
      cross join lateral (${unchangedInstance}) as held
      cross join lateral (${heldLease}) as lease
      limit (select ${rows.length}::int)
    ),
    ${moved}
    ${taskMovedOn}
    ${taskDropped}
    journaled as (${journalColumns} ${lastMoves}),
    ${timersDropped}
    ${counted}
    ${answerOf(rows.length)}`;
}

/** Moves without a worker, with only the next step. */
function calledMoves(rows: readonly MovedInstance[]): Statement {
  return sql`
    with ${clock}
    free as materialized (
      select ${freeColumns}, false as leased
      from clock, ${decisions(rows)}
      cross join lateral (${unchangedInstance}) as held
      limit (select ${rows.length}::int)
    ),
    ${moved}
    ${taskAdded}
    ${taskDropped}
    journaled as (${journalColumns} ${lastMoves}),
    ${timersDropped}
    ${counted}
    ${answerOf(rows.length)}`;
}

/** Moves of both kinds, with the frequent related rows. */
function movesWithUsual(rows: readonly MovedInstance[], related: RelatedRows): Statement {
  return sql`
    with ${clock}
    ${freeOfBothKinds(rows)}
    ${moved}
    ${taskMovedOn}
    ${taskAdded}
    ${taskDropped}
    journaled as (${journalColumns} ${lastMoves}),
    ${timersDropped}
    ${usualRows(related)}
    ${counted}
    ${answerOf(rows.length)}`;
}

/** Moves of both kinds, with all related rows and companion rows: one statement for each companion table. */
function movesWithAll(rows: readonly MovedInstance[], { earlier, related, companion }: MovedWith): Statement {
  return sql`
    with ${clock}
    ${freeOfBothKinds(rows)}
    ${moved}
    ${taskMovedOn}
    ${taskAdded}
    ${taskDropped}
    journaled as (${journalColumns} ${earlierMoves(earlier)} union all ${lastMoves}),
    ${timersDropped}
    ${usualRows(related)}
    ${rareRows(related)}
    ${companion ?? noPart}
    ${counted}
    ${answerOf(rows.length)}`;
}

const freeColumns = part`decided.*, held.next_due_at as held_due_at, held.lifecycle, held.state as left_state`;

const unchangedInstance = part`
        select instance.next_due_at, instance.lifecycle, instance.state
        from pawl.instances as instance
        where instance.id = decided.id and instance.version = decided.expected_version
          and instance.alarms = decided.expected_alarms
          and (decided.settled_ms is not null or instance.next_due_at is null or instance.next_due_at > clock.now)
        for no key update skip locked`;

const heldLease = part`
        select task.token from pawl.tasks as task
        where decided.token is not null and task.id = decided.id and task.token = decided.token
          and (not decided.lapsed or task.leased_until <= clock.now)
        for update skip locked`;

/**
 * The instances that are free and unchanged, and whose lease a reporting worker still holds. `limit (select …)` makes
 * the planner expect one row, so it can use only index probes.
 */
function freeOfBothKinds(rows: readonly MovedInstance[]): Part {
  return part`
    free as materialized (
      select ${freeColumns}, lease.token is not null as leased
      from clock, ${decisions(rows)}
      cross join lateral (${unchangedInstance}) as held
      left join lateral (${heldLease}) as lease on true
      where decided.token is null or lease.token is not null
      limit (select ${rows.length}::int)
    ),`;
}

/** The instances are updated; every later part reads from here. */
const moved = part`
    written as (
      update pawl.instances as instance
      set definition = free.definition, state = free.state, shelf = free.shelf, version = free.version, alarms = free.alarms,
        visit = free.visit, run = free.run, data = coalesce(free.data::jsonb, instance.data),
        deadline_at = case when free.run > instance.run or free.deadline_ms is not null
          then clock.now + free.deadline_ms * interval '1 millisecond' else instance.deadline_at end,
        next_due_at = case when free.outcome is null then least(
          clock.now + free.due_after_ms * interval '1 millisecond', pawl.at(free.due_ms),
          case when free.held_due_at is not null and not free.ends_run then (
            select min(timer.due_at) from pawl.timers as timer
            where timer.instance_id = free.id and not (free.leaves and timer.visit is not null)
              and (free.settled_ms is null or timer.due_at > pawl.at(free.settled_ms))
              and not (free.deadline_ms is not null and timer.kind = 'deadline')
          ) end
        ) end,
        failed_from = free.failed_from, failed_visit = free.failed_visit, outcome = free.outcome,
        failure = case when free.failed_from is not null or free.outcome = 'failure'
          then coalesce(free.failure::jsonb, instance.failure) end,
        failed_at = case when free.failed_from is not null or free.outcome = 'failure'
          then case when free.failure is null then instance.failed_at else clock.now end end,
        timed_out_at = case when free.timed_out then coalesce(instance.timed_out_at, clock.now) end,
        inbox = instance.inbox - coalesce(free.settled_callbacks, 0),
        closed_at = case when free.outcome is not null then coalesce(instance.closed_at, clock.now) end,
        child_outcome = case when free.child_outcome is null then instance.child_outcome else nullif(free.child_outcome, 'open') end,
        has_children = coalesce(free.has_children, instance.has_children),
        key_held = free.key_held and instance.parent_id is null,
        moved_at = case when free.version > instance.version then clock.now else instance.moved_at end
      from free, clock
      where instance.id = free.id
      returning instance.id, free.lifecycle, free.left_state, instance.state, free.leaves, free.ends_run, free.drops_task,
        free.held_due_at, free.settled_ms, free.deadline_ms, free.leased, instance.definition, instance.version, instance.visit,
        free.event, free.source, free.actor, free.reason, free.payload, free.patch, free.cleared, free.request_id, free.messages,
        coalesce(free.from_state, free.left_state) as from_state,
        case when free.reported then free.token end as token,
        free.lane, free.priority, free.worker, clock.now + free.lease_ms * interval '1 millisecond' as leased_until,
        coalesce(clock.now + free.step_after_ms * interval '1 millisecond', pawl.at(free.step_at_ms)) as due_at,
        free.granted, free.lane_key, free.weight, clock.now
    ),`;

/** The same task row is reused. A recent lease stays unchanged: then no index has to be updated. */
const taskMovedOn = part`
    moved_on as (
      update pawl.tasks as task
      set lane = written.lane, priority = written.priority,
        queue = case when written.worker is null then written.lane end, due_at = written.due_at, gate = null,
        worker = written.worker, token = coalesce(written.granted, 0),
        leased_until = case
          when task.leased_until between written.now + (written.leased_until - written.now) * 2 / 3 and written.leased_until
          then task.leased_until else written.leased_until end,
        attempt = case when written.worker is null then 0 else 1 end, visit = written.visit, work = null, since = written.now,
        begun = true, spared = 0, lane_key = written.lane_key, weight = written.weight
      from written
      where task.id = written.id and written.leased and written.lane is not null
    ),`;

/** The task of a state that was not reached from a task. */
const taskAdded = part`
    stepped as (
      insert into pawl.tasks (id, instance_id, kind, lane, priority, queue, due_at, attempt, visit, since, lane_key, weight)
      select written.id, written.id, 'step', written.lane, written.priority, written.lane, written.due_at, 0, written.visit,
        written.now, written.lane_key, written.weight
      from written
      where not written.leased and written.lane is not null
      on conflict (id) do update set
        lane = excluded.lane, priority = excluded.priority, queue = excluded.queue, due_at = excluded.due_at,
        worker = null, leased_until = null, gate = null, token = excluded.token, attempt = 0, visit = excluded.visit, work = null,
        since = excluded.since, begun = true, spared = 0, lane_key = excluded.lane_key, weight = excluded.weight
    ),`;

const taskDropped = part`
    dropped as (
      delete from pawl.tasks as task using written
      where task.id = written.id and written.drops_task
    ),`;

const journalColumns = part`insert into pawl.journal (
        instance_id, version, lifecycle, definition, event, from_state, to_state, at, source, actor, reason,
        payload, patch, cleared, request_id, task_id, token, granted, messages
      )`;

const lastMoves = part`select written.id, written.version, written.lifecycle, written.definition, written.event, written.from_state,
        written.state, written.now, written.source, written.actor, written.reason, written.payload::jsonb,
        written.patch::jsonb, written.cleared::text[], written.request_id,
        case when written.token is not null then written.id end, written.token, written.granted, written.messages
      from written where written.event is not null`;

const timersDropped = part`rung as (
      delete from pawl.timers as timer using written
      where timer.instance_id = written.id and written.held_due_at is not null and (
        written.ends_run or (written.leaves and timer.visit is not null) or timer.due_at <= pawl.at(written.settled_ms)
        or (written.deadline_ms is not null and timer.kind = 'deadline')
      )
    ),`;

const counted = part`counted as (
      insert into pawl.counts (lifecycle, state, delta)
      select change.lifecycle, change.state, sum(change.delta)
      from (
        select lifecycle, left_state as state, -1 as delta from written
        union all
        select lifecycle, state, 1 as delta from written
      ) as change
      group by change.lifecycle, change.state
      having sum(change.delta) <> 0
    )`;

/** One row: which were written, unless all were. */
function answerOf(many: number): Part {
  return part`
    select count(*)::int as many, pawl.ms(min(written.now)) as now_ms,
      array_agg(written.id order by written.id) filter (where (select count(*) from written) < ${many}::int)::text as ids
    from written`;
}
