import { type Executor, type Part, part, type Statement, sql } from "../../store/port/db.ts";
import { callbacksMisjudged, callbacksWithoutMove, inconsistentInboxes } from "./callbacks.ts";
import { forgottenJoins, inconsistentChildren } from "./children.ts";
import { messagesBehindNothing, messagesMissing, messagesOutOfOrder, messagesWithoutMove } from "./outbox.ts";
import { inconsistentAssignments, inconsistentSamples, inconsistentSums } from "./people.ts";
import { forgottenChildFailures, forgottenFailures, inconsistentTickets, surplusDeadLetters } from "./recovery.ts";
import type { Slice } from "./slice.ts";
import { deadlinesEarly, deadlinesWithoutTimer, timersPassedOver } from "./times.ts";
import { forgottenWaits } from "./waits.ts";

/** A violated invariant in the database, with its instance and the details. */
export interface Violation {
  /**
   * I1 to I11 are those of the fault tests: a known state, one path, no stale holder, messages as the journal has them,
   * counted attempts, times kept, nothing stuck in silence.
   */
  readonly invariant:
    | "I1"
    | "I2"
    | "I3"
    | "I4"
    | "I6"
    | "I7"
    | "I11"
    | "tasks"
    | "timers"
    | "callbacks"
    | "children"
    | "recovery"
    | "people"
    | "dead_letters"
    | "tickets"
    | "counts";
  /** Null when it is not about one instance. */
  readonly instance: string | null;
  readonly message: string;
}

export interface VerifyOptions {
  /**
   * The number of instances per batch.
   * @default 1,000
   */
  readonly batchSize?: number;
  /**
   * The number of violations after which it stops.
   * @default 1,000
   */
  readonly limit?: number;
}

interface Found {
  readonly instance: string | null;
  readonly message: string;
}

const firstId = "00000000-0000-0000-0000-000000000000";
const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/**
 * Checks the stored data against Pawl's invariants, slice by slice, without a lock, while everything runs. Each check
 * is one statement and so sees one snapshot; a violation can be found again.
 */
export async function verify(db: Executor, options: VerifyOptions = {}): Promise<Violation[]> {
  const { batchSize = 1_000, limit = 1_000 } = options;
  const violations: Violation[] = [];
  for (let after = firstId, ended = false; !ended && violations.length < limit; ) {
    const [last] = await db.rows<{ id: string }>(sql`
      select page.id::text as id
      from (select id from pawl.instances where id > ${after}::uuid order by id limit ${batchSize}::int) as page
      order by page.id desc limit 1`);
    // The last slice continues to the end of all ids: rows without an instance may have any id.
    ended = last === undefined;
    const ids = { after, upTo: last?.id ?? lastId };
    for (const [invariant, check] of checks) {
      for (const found of await db.rows<Found>(check(ids))) violations.push({ invariant, ...found });
    }
    after = ids.upTo;
  }
  for (const found of await db.rows<Found>(messagesBehindNothing())) violations.push({ invariant: "I4", ...found });
  for (const found of await db.rows<Found>(surplusDeadLetters()))
    violations.push({ invariant: "dead_letters", ...found });
  for (const found of await db.rows<Found>(inconsistentTickets())) violations.push({ invariant: "tickets", ...found });
  for (const found of await db.rows<Found>(inconsistentSums())) violations.push({ invariant: "people", ...found });
  for (const found of await db.rows<Found>(countsDiffer())) violations.push({ invariant: "counts", ...found });
  return violations.slice(0, limit);
}

const checks: readonly (readonly [Violation["invariant"], (ids: Slice) => Statement])[] = [
  ["I1", statesUnknown],
  ["I1", rowsWithoutInstance],
  ["I2", pathsBroken],
  ["I2", instancesElsewhere],
  ["I3", holdersStale],
  ["I4", messagesWithoutMove],
  ["I4", messagesMissing],
  ["I4", messagesOutOfOrder],
  ["I6", attemptsOutOfOrder],
  ["I6", setbacksUnclaimed],
  ["I7", timersPassedOver],
  ["I7", deadlinesEarly],
  ["tasks", inconsistentTasks],
  ["tasks", leasesUnclaimed],
  ["timers", inconsistentTimers],
  ["callbacks", inconsistentInboxes],
  ["callbacks", callbacksWithoutMove],
  ["callbacks", callbacksMisjudged],
  ["children", inconsistentChildren],
  ["children", forgottenJoins],
  ["recovery", forgottenFailures],
  ["I11", forgottenWaits],
  ["I11", deadlinesWithoutTimer],
  ["I11", forgottenChildFailures],
  ["people", inconsistentAssignments],
  ["people", inconsistentSamples],
];

function statesUnknown(ids: Slice): Statement {
  return sql`
    select instance.id::text as instance,
      format('It is in "%s", which %s@%s does not declare.', instance.state, instance.lifecycle, instance.definition) as message
    from pawl.instances as instance
    where instance.id > ${ids.after}::uuid and instance.id <= ${ids.upTo}::uuid and not exists (
      select from pawl.edges as edge
      where edge.lifecycle = instance.lifecycle and edge.version = instance.definition and edge.to_state = instance.state
    )`;
}

/** What belongs to instances, and in which tables. */
const belongings = [
  ["journal", part`pawl.journal`],
  ["attempts", part`pawl.attempts`],
  ["timers", part`pawl.timers`],
  ["requests", part`pawl.requests`],
  ["memos", part`pawl.memos`],
  ["progress", part`pawl.progress`],
  ["callbacks", part`pawl.callbacks`],
  ["dead letters", part`pawl.dead_letters`],
] as const;

function rowsWithoutInstance(ids: Slice): Statement {
  const tasks = part`select distinct 'tasks', each.instance_id from (${tasksOf(ids)}) as each`;
  const all = belongings.reduce(
    (others, [what, table]) => part`
      ${others}
      union all
      select distinct ${what}::text, instance_id from ${table}
      where instance_id > ${ids.after}::uuid and instance_id <= ${ids.upTo}::uuid`,
    tasks,
  );
  return sql`
    with stray(what, instance_id) as (${all})
    select stray.instance_id::text as instance, format('There are %s of it, and it does not exist.', stray.what) as message
    from stray
    where not exists (select from pawl.instances as instance where instance.id = stray.instance_id)`;
}

/** The journal is 1, 2, 3 …, each move begins where the one before it ended, and goes over a declared edge. */
function pathsBroken(ids: Slice): Statement {
  return sql`
    with moves as (
      select move.*, lag(move.version) over path as earlier_version, lag(move.to_state) over path as earlier_state
      from pawl.journal as move
      where move.instance_id > ${ids.after}::uuid and move.instance_id <= ${ids.upTo}::uuid
      window path as (partition by move.instance_id order by move.version)
    ),
    judged as (
      select move.instance_id, case
        when move.version <> coalesce(move.earlier_version, 0) + 1
          then format('Its move %s follows on %s.', move.version, coalesce(move.earlier_version::text, 'nothing'))
        when move.from_state is distinct from move.earlier_state
          then format('Its move %s begins in "%s", and the one before it ended in "%s".', move.version, move.from_state, move.earlier_state)
        when not exists (
          select from pawl.edges as edge
          where edge.lifecycle = move.lifecycle and edge.version = move.definition
            and edge.from_state = coalesce(move.from_state, '') and edge.event = move.event and edge.to_state = move.to_state
        ) then format('Its move %s, "%s" from "%s" to "%s", is not declared by %s@%s.',
          move.version, move.event, move.from_state, move.to_state, move.lifecycle, move.definition)
      end as message
      from moves as move
    )
    select instance_id::text as instance, message from judged where message is not null order by instance_id`;
}

function instancesElsewhere(ids: Slice): Statement {
  return sql`
    select instance.id::text as instance,
      format('It is in "%s" at version %s as %s@%s, and its journal leads to "%s" at version %s as %s@%s.',
        instance.state, instance.version, instance.lifecycle, instance.definition,
        move.to_state, move.version, move.lifecycle, move.definition) as message
    from pawl.instances as instance
    left join lateral (
      select * from pawl.journal as each where each.instance_id = instance.id order by each.version desc limit 1
    ) as move on true
    where instance.id > ${ids.after}::uuid and instance.id <= ${ids.upTo}::uuid
      and (instance.state, instance.version, instance.lifecycle, instance.definition)
        is distinct from (move.to_state, move.version, move.lifecycle, move.definition)`;
}

/**
 * A worker's move carries the newest claim of its task: one that exists, was not returned, is newer than that of any
 * earlier move, and after which the task was not claimed again. The last is checked by counting: a task starts over
 * only when a move puts it into a lane, and times are out of order after a clock was set back.
 */
function holdersStale(ids: Slice): Statement {
  return sql`
    with ${kinds}, ${claimsOf(ids)}, ${asksOf(ids)},
    moves as (
      select move.instance_id, move.version, move.source, move.token, claim.instance_id as claimed, claim.setbacks, claim.place,
        claim.begun_later, count(*) filter (where kind.places) over (partition by move.instance_id order by move.version desc) as placed,
        max(claim.place) over (
          partition by move.instance_id, move.task_id order by move.version rows between unbounded preceding and 1 preceding
        ) as earlier_place
      from pawl.journal as move
      left join claims as claim
        on claim.instance_id = move.instance_id and claim.task_id = move.task_id and claim.token = move.token
      left join kinds as kind on kind.lifecycle = move.lifecycle and kind.version = move.definition and kind.name = move.to_state
      where move.instance_id > ${ids.after}::uuid and move.instance_id <= ${ids.upTo}::uuid
    ),
    judged as (
      select move.instance_id, case
        when move.claimed is null
          then format('Its move %s was made under token %s, which no claim has.', move.version, move.token)
        when move.setbacks is not null
          then format('Its move %s was made under token %s, which had been returned (%s).', move.version, move.token, move.setbacks)
        when move.place <= move.earlier_place
          then format('Its move %s was made under token %s, after a move under the same claim or a later one.', move.version, move.token)
        when move.begun_later > move.placed + coalesce(asks.times, 0)
          then format('Its move %s was made under token %s, after another worker had claimed its task.', move.version, move.token)
      end as message
      from moves as move
      left join asks on asks.instance_id = move.instance_id
      where move.source = 'worker'
    )
    select instance_id::text as instance, message from judged where message is not null order by instance_id`;
}

/** Every claim counts one attempt, from 1, unless the one before it was returned unused; and ends in one way. */
function attemptsOutOfOrder(ids: Slice): Statement {
  return sql`
    with ${kinds}, ${claimsOf(ids)}, ${asksOf(ids)},
    placed as (
      select move.instance_id, count(*) as times
      from pawl.journal as move
      join kinds as kind on kind.lifecycle = move.lifecycle and kind.version = move.definition and kind.name = move.to_state
      where move.instance_id > ${ids.after}::uuid and move.instance_id <= ${ids.upTo}::uuid and kind.places
      group by move.instance_id
    ),
    judged as (
      select claim.instance_id, case
        when claim.setbacks like '%,%'
          then format('Its claim under token %s was returned more than once (%s).', claim.token, claim.setbacks)
        when claim.attempt is distinct from 1 and claim.attempt is distinct from claim.next_attempt
          then format('Its claim under token %s is attempt %s, after attempt %s (%s).', claim.token, claim.attempt,
            coalesce(claim.earlier_attempt::text, 'none'), coalesce(claim.earlier_setbacks, 'no word'))
        when claim.begins and claim.begun > case when claim.task_id = claim.instance_id then coalesce(placed.times, 0) + coalesce(asks.times, 0) else 1 end
          then format('Its claim under token %s starts over at attempt 1, and no move put the task into its lane again.', claim.token)
      end as message
      from claims as claim
      left join placed on placed.instance_id = claim.instance_id
      left join asks on asks.instance_id = claim.instance_id
    )
    select instance_id::text as instance, message from judged where message is not null order by instance_id`;
}

function setbacksUnclaimed(ids: Slice): Statement {
  return sql`
    select setback.instance_id::text as instance,
      format('A task was returned (%s) under token %s, which no claim has.', setback.what, setback.token) as message
    from pawl.attempts as setback
    where setback.instance_id > ${ids.after}::uuid and setback.instance_id <= ${ids.upTo}::uuid
      and setback.what not in ('claimed', 'refused', 'asked')
      -- Without a lane it is an event that failed, and no task.
      and setback.lane is not null
      and not exists (
        select from pawl.attempts as claim
        where claim.instance_id = setback.instance_id and claim.task_id = setback.task_id and claim.token = setback.token
          and claim.what = 'claimed'
      )
      and not exists (
        select from pawl.journal as move
        where move.instance_id = setback.instance_id and move.granted = setback.token
      )`;
}

/** A state that works has its one task, of the present visit; one that rests or has ended has none. */
function inconsistentTasks(ids: Slice): Statement {
  return sql`
    with ${kinds},
    judged as (
      select instance.id, case
        when step.id is null and kind.kind = 'work' then format('It works in "%s", and has no task.', instance.state)
        when step.id is not null and instance.outcome is not null
          then format('It has ended in "%s", and still has a task in %s.', instance.state, step.lane)
        -- The state "failed" may have one: its recovery.
        when step.id is not null and kind.kind = 'wait' and instance.state <> 'failed'
          then format('It rests in "%s", and has a task in %s.', instance.state, step.lane)
        when step.visit <> instance.visit
          then format('Its task is of visit %s, and it is at visit %s.', step.visit, instance.visit)
        when (instance.shelf is null) <> (kind.kind = 'work')
          then format('It is in "%s", and its shelf is %s.', instance.state, coalesce(instance.shelf, 'empty'))
      end as message
      from pawl.instances as instance
      left join kinds as kind
        on kind.lifecycle = instance.lifecycle and kind.version = instance.definition and kind.name = instance.state
      left join lateral (
        select * from pawl.tasks as each where each.id = instance.id and each.kind = 'step' offset 0
      ) as step on true
      where instance.id > ${ids.after}::uuid and instance.id <= ${ids.upTo}::uuid
    )
    select id::text as instance, message from judged where message is not null order by id`;
}

/** The worker of a running task has claimed it, and the task knows which attempt that is. */
function leasesUnclaimed(ids: Slice): Statement {
  return sql`
    select task.instance_id::text as instance,
      format('Its task in %s runs under token %s as attempt %s, and was claimed as %s.', task.lane, task.token, task.attempt,
        coalesce('attempt ' || claim.attempt, 'nothing')) as message
    from (${tasksOf(ids)}) as task
    left join lateral (
      select each.attempt from pawl.attempts as each
      where each.instance_id = task.instance_id and each.task_id = task.id and each.token = task.token and each.what = 'claimed'
      union all
      select 1 from pawl.journal as move
      where move.instance_id = task.instance_id and move.granted = task.token
      limit 1
    ) as claim on true
    where task.worker is not null and claim.attempt is distinct from task.attempt`;
}

/** An instance stores its earliest timer, and has none of an earlier visit. */
function inconsistentTimers(ids: Slice): Statement {
  return sql`
    with judged as (
      select instance.id, case
        when instance.next_due_at is distinct from timer.earliest
          then format('Its row has the next timer at %s, and its earliest timer is due at %s.',
            coalesce(instance.next_due_at::text, 'no time'), coalesce(timer.earliest::text, 'no time'))
        when timer.stray is not null
          then format('It has a timer of visit %s, and is at visit %s.', timer.stray, instance.visit)
        when timer.deadline <> instance.deadline_at
          then format('Its deadline is %s, and its timer says %s.', instance.deadline_at, timer.deadline)
      end as message
      from pawl.instances as instance
      left join lateral (
        select min(each.due_at) as earliest, min(each.visit) filter (where each.visit <> instance.visit) as stray,
          min(each.due_at) filter (where each.kind = 'deadline') as deadline
        from pawl.timers as each where each.instance_id = instance.id
      ) as timer on true
      where instance.id > ${ids.after}::uuid and instance.id <= ${ids.upTo}::uuid
    )
    select id::text as instance, message from judged where message is not null order by id`;
}

function countsDiffer(): Statement {
  return sql`
    select null as instance,
      format('%s are counted in "%s" of %s, and %s are there.', coalesce(counted.instances, 0), state, lifecycle,
        coalesce(actual.instances, 0)) as message
    from (select lifecycle, state, sum(delta) as instances from pawl.counts group by lifecycle, state) as counted
    full join (select lifecycle, state, count(*) as instances from pawl.instances group by lifecycle, state) as actual
      using (lifecycle, state)
    where coalesce(counted.instances, 0) <> coalesce(actual.instances, 0)`;
}

/** The steps have their instances' ids, the effects an index of their own: no statement reads all tasks. */
function tasksOf(ids: Slice): Part {
  return part`
    select id, instance_id, lane, worker, token, attempt from pawl.tasks
    where id > ${ids.after}::uuid and id <= ${ids.upTo}::uuid and kind = 'step'
    union all
    select id, instance_id, lane, worker, token, attempt from pawl.tasks
    where instance_id > ${ids.after}::uuid and instance_id <= ${ids.upTo}::uuid and kind = 'effect'`;
}

/** Requests to instances that put a task into its lane without a move. */
function asksOf(ids: Slice): Part {
  return part`
    asks as (
      select instance_id, count(*) as times from pawl.attempts
      where instance_id > ${ids.after}::uuid and instance_id <= ${ids.upTo}::uuid and what = 'asked'
      group by instance_id
    )`;
}

/** What kind each state of each definition is. */
const kinds = part`
  kinds as materialized (
    select lifecycle.name as lifecycle, lifecycle.version, state.name, state.kind,
      -- Entering it puts a task into a lane: the state's own, or the recovery of what failed.
      state.kind = 'work' or (state.name = 'failed' and lifecycle.shape ? 'recovers') as places
    from pawl.lifecycles as lifecycle
    cross join lateral jsonb_to_recordset(lifecycle.shape -> 'states') as state(name text, kind text)
  )`;

/**
 * Every claim of every task, in their order, with its outcome. `begins` marks the first of a task that was put into its
 * lane again; `begun` and `begun_later` count such claims up to it and after it. Claims are ordered by position. What a move
 * granted has none: it follows on the newest claim that had made a move by then. A visit does not tell the order, since a
 * recovery may go on with the one that failed.
 */
function claimsOf(ids: Slice): Part {
  return part`
    granted as (
      -- Earlier versions of Pawl took tokens from a sequence, and noted no position.
      select attempt.instance_id, attempt.task_id, attempt.token, attempt.attempt, coalesce(attempt.position, attempt.token) as position,
        0 as version
      from pawl.attempts as attempt
      where attempt.instance_id > ${ids.after}::uuid and attempt.instance_id <= ${ids.upTo}::uuid and attempt.what = 'claimed'
      union all
      -- Born leased: the move that put the task into its lane granted it as well.
      select move.instance_id, move.instance_id, move.granted, 1, coalesce(move.position, 0), move.version
      from (
        select each.instance_id, each.version, each.granted,
          max(coalesce(claim.position, claim.token)) over (partition by each.instance_id order by each.version) as position
        from pawl.journal as each
        left join pawl.attempts as claim
          on claim.instance_id = each.instance_id and claim.task_id = each.instance_id and claim.token = each.token
          and claim.what = 'claimed'
        where each.instance_id > ${ids.after}::uuid and each.instance_id <= ${ids.upTo}::uuid
      ) as move
      where move.granted is not null
    ),
    ended as (
      select one.*, setback.setbacks, lag(one.attempt) over task as earlier_attempt, lag(setback.setbacks) over task as earlier_setbacks,
        row_number() over task as place
      from granted as one
      left join lateral (
        select string_agg(case
          -- The attempt was returned: its worker could not renew.
          when each.what = 'lapsed' and each.detail ->> 'reason' in ('database_away', 'not_started') then 'released'
          else each.what end, ',') as setbacks
        from pawl.attempts as each
        where each.instance_id = one.instance_id and each.task_id = one.task_id and each.token = one.token
          and each.what not in ('claimed', 'refused', 'asked')
      ) as setback on true
      window task as (partition by one.instance_id, one.task_id order by one.position, one.version)
    ),
    followed as (
      select *, case
        when earlier_setbacks in ('failed', 'lapsed') then earlier_attempt + 1
        when earlier_setbacks in ('released', 'deferred') then earlier_attempt
      end as next_attempt
      from ended
    ),
    marked as (select *, attempt = 1 and next_attempt is distinct from 1 as begins from followed),
    claims as (
      select *, count(*) filter (where begins) over (partition by instance_id, task_id order by place) as begun,
        count(*) filter (where begins) over (
          partition by instance_id, task_id order by place desc rows between unbounded preceding and 1 preceding
        ) as begun_later
      from marked
    )`;
}
