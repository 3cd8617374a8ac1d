import { batch } from "../port/batch.ts";
import { type Executor, noPart, type Part, part, type Statement, sql, textArray } from "../port/db.ts";
import { hasRareRows, hasUsualRows, type RelatedRows, rareRows, usualRows } from "./related-rows.ts";
import { type Answer, clock, type LastMove, type NextStep, type Written, writtenOf } from "./written.ts";

/** A new instance. */
export interface NewInstance {
  readonly id: string;
  readonly lifecycle: string;
  readonly definition: number;
  readonly key: string | null;
  /** The parent, its run, and the name of the child. */
  readonly parent: {
    readonly lifecycle: string;
    readonly id: string;
    readonly run: number;
    readonly name: string;
  } | null;
  readonly state: string;
  readonly shelf: string | null;
  readonly dataText: string;
  readonly deadlineAfterMs: number | null;
  readonly dueAfterMs: number | null;
  readonly outcome: string | null;
  /** Its start. All of its data is the patch. */
  readonly move: LastMove;
  readonly step: NextStep | null;
}

const columns: Parameters<typeof batch<NewInstance>>[1] = {
  id: ["uuid", (row) => row.id],
  lifecycle: ["text", (row) => row.lifecycle],
  definition: ["int", (row) => row.definition],
  key: ["text", (row) => row.key],
  parent_lifecycle: ["text", (row) => row.parent?.lifecycle],
  parent_id: ["uuid", (row) => row.parent?.id],
  parent_run: ["int", (row) => row.parent?.run],
  child_name: ["text", (row) => row.parent?.name],
  state: ["text", (row) => row.state],
  shelf: ["text", (row) => row.shelf],
  data_text: ["text", (row) => row.dataText],
  deadline_ms: ["float8", (row) => row.deadlineAfterMs],
  due_ms: ["float8", (row) => row.dueAfterMs],
  outcome: ["text", (row) => row.outcome],
  event: ["text", (row) => row.move.event],
  source: ["text", (row) => row.move.source],
  actor: ["text", (row) => row.move.actor],
  reason: ["text", (row) => row.move.reason],
  payload: ["text", (row) => row.move.payloadText],
  request_id: ["uuid", (row) => row.move.requestId],
  lane: ["text", (row) => row.step?.lane],
  priority: ["int", (row) => row.step?.priority],
  step_after_ms: ["float8", (row) => row.step?.afterMs],
  step_at_ms: ["float8", (row) => row.step?.atMs],
  lane_key: ["text", (row) => row.step?.key?.key],
  weight: ["int", (row) => row.step?.key?.weight],
};

const beginnings = batch("fresh", columns);

const leasedBeginnings = batch<NewInstance>("fresh", {
  ...columns,
  worker: ["text", (row) => row.step?.grant?.worker],
  lease_ms: ["float8", (row) => row.step?.grant?.leaseMs],
  granted: ["bigint", (row) => row.step?.grant?.token],
});

/** The rows that are written with new instances. */
export interface StartedWith {
  readonly related: RelatedRows;
  /** The companion rows of a slice, if any. */
  readonly companion: CompanionStarts | undefined;
  /** What other processes are notified of with the commit. */
  readonly notice?: string | undefined;
}

/** The related rows of instances that start. */
export interface CompanionStarts {
  /** What must be had first. */
  readonly first?: Part;
  /** Which of them, called `fresh`, may then start. */
  readonly gate?: Part;
  readonly rest: Part;
}

/**
 * Inserts new instances with all related rows: those whose key (a child's: whose name) is free, and that the gate lets
 * through, if there is one. Returns the written ids. Batches are sorted by key, so that two of them cannot deadlock. As
 * for moves there are a few whole statements, by their related rows.
 */
export async function insertInstances(
  db: Executor,
  rows: readonly NewInstance[],
  given: StartedWith,
): Promise<Written[]> {
  const [answer] = await db.rows<Answer>(statementFor(rows, given));
  return writtenOf(rows, answer!);
}

function statementFor(rows: readonly NewInstance[], given: StartedWith): Statement {
  const { related } = given;
  if (!isPlain(given)) return startsWithAll(rows, given);
  const isLeased = rows.some((row) => row.step?.grant != null);
  if (hasUsualRows(related)) return isLeased ? leasedStartsWithUsual(rows, related) : startsWithUsual(rows, given);
  return isLeased ? leasedStarts(rows) : starts(rows, given.notice);
}

/** Whether leases and a notification can be written with these starts. */
export function isPlain({ related, companion }: { related: RelatedRows; companion: unknown }): boolean {
  return companion === undefined && !hasRareRows(related);
}

/** Starts with only the first step. */
function starts(rows: readonly NewInstance[], notice: string | undefined): Statement {
  return sql`
    with ${clock}
    ${freshInstances(rows)}
    written as (${inserted} on conflict do nothing returning id, lifecycle, state),
    ${firstSteps}
    ${firstMoves}
    ${countedStarts}
    ${answerOf(rows.length)}, ${notified(notice)} from written, clock`;
}

/** Starts with the frequent related rows. */
function startsWithUsual(rows: readonly NewInstance[], { related, notice }: StartedWith): Statement {
  return sql`
    with ${clock}
    ${freshInstances(rows)}
    written as (${inserted} on conflict do nothing returning id, lifecycle, state),
    ${firstSteps}
    ${firstMoves}
    ${usualRows(related)}
    ${countedStarts}
    ${answerOf(rows.length)}, ${notified(notice)} from written, clock`;
}

/** Starts whose first steps are leased to a worker of this process, unless their lanes are paused. */
function leasedStarts(rows: readonly NewInstance[]): Statement {
  return sql`
    with ${clock}
    ${freshLeased(rows)}
    written as (${inserted} on conflict do nothing returning id, lifecycle, state),
    ${firstStepsLeased}
    ${firstMoves}
    ${countedStarts}
    ${answerOf(rows.length)}, (select paused.found is null from paused) as leased from written, clock`;
}

/** The same with the frequent related rows. */
function leasedStartsWithUsual(rows: readonly NewInstance[], related: RelatedRows): Statement {
  return sql`
    with ${clock}
    ${freshLeased(rows)}
    written as (${inserted} on conflict do nothing returning id, lifecycle, state),
    ${firstStepsLeased}
    ${firstMoves}
    ${usualRows(related)}
    ${countedStarts}
    ${answerOf(rows.length)}, (select paused.found is null from paused) as leased from written, clock`;
}

/** Starts with all related rows: one statement for each companion table. */
function startsWithAll(rows: readonly NewInstance[], { related, companion }: StartedWith): Statement {
  return sql`
    with ${clock}
    ${companion?.first ?? noPart}
    ${freshInstances(rows)}
    written as (${inserted} ${companion?.gate ?? noPart} on conflict do nothing returning id, lifecycle, state),
    ${firstSteps}
    ${firstMoves}
    ${usualRows(related)}
    ${rareRows(related)}
    ${companion?.rest ?? noPart}
    ${countedStarts}
    ${answerOf(rows.length)} from written, clock`;
}

function freshInstances(rows: readonly NewInstance[]): Part {
  return part`
    fresh as materialized (
      select fresh.*, fresh.data_text::jsonb as data,
        coalesce(clock.now + fresh.step_after_ms * interval '1 millisecond', pawl.at(fresh.step_at_ms)) as step_due_at
      from clock, ${beginnings(rows)}
    ),`;
}

/**
 * The same, with the leases of their first steps. A pause that was committed before the start holds for it, whatever this
 * process knows about it.
 */
function freshLeased(rows: readonly NewInstance[]): Part {
  const steps = new Map(rows.flatMap((row) => (row.step?.grant == null ? [] : [[row.step.lane, row]])));
  const firsts = [...steps.values()];
  return part`
    paused as materialized (
      select (
        select true
        from unnest(
          (select ${textArray(firsts.map((row) => row.lifecycle))}::text)::text[],
          (select ${textArray(firsts.map((row) => `/${row.state}`))}::text)::text[]
        ) as lane(lifecycle, part)
        cross join lateral (
          select from pawl.pauses as each
          where each.lifecycle = lane.lifecycle and each.part in ('', lane.part) and each.resumed_at is null
          limit 1
        ) as pause
        limit 1
      ) as found
    ),
    fresh as materialized (
      select fresh.*, fresh.data_text::jsonb as data,
        case when paused.found is null then fresh.worker end as holder,
        coalesce(clock.now + fresh.step_after_ms * interval '1 millisecond', pawl.at(fresh.step_at_ms)) as step_due_at
      from clock, paused, ${leasedBeginnings(rows)}
    ),`;
}

const inserted = part`
      insert into pawl.instances (
        id, lifecycle, definition, key, key_held, parent_lifecycle, parent_id, parent_run, child_name, state, shelf,
        version, visit, data, deadline_at, next_due_at, outcome, closed_at, created_at, moved_at
      )
      select fresh.id, fresh.lifecycle, fresh.definition, fresh.key, fresh.parent_id is null, fresh.parent_lifecycle,
        fresh.parent_id, fresh.parent_run, fresh.child_name, fresh.state, fresh.shelf, 1, 1, fresh.data,
        clock.now + fresh.deadline_ms * interval '1 millisecond', clock.now + fresh.due_ms * interval '1 millisecond',
        fresh.outcome, case when fresh.outcome is not null then clock.now end,
        clock.now, clock.now
      from clock, fresh`;

const firstSteps = part`
    stepped as (
      insert into pawl.tasks (id, instance_id, kind, lane, priority, queue, due_at, visit, since, lane_key, weight)
      select fresh.id, fresh.id, 'step', fresh.lane, fresh.priority, fresh.lane, fresh.step_due_at, 1, clock.now,
        fresh.lane_key, fresh.weight
      from clock, fresh
      where fresh.lane is not null and (fresh.id in (select id from written)) is true
    ),`;

/** The lease is a claim like any other, and so it is in the history. */
const firstStepsLeased = part`
    stepped as (
      insert into pawl.tasks (
        id, instance_id, kind, lane, priority, queue, due_at, worker, leased_until, token, attempt, visit, since,
        lane_key, weight
      )
      select fresh.id, fresh.id, 'step', fresh.lane, fresh.priority, case when fresh.holder is null then fresh.lane end,
        fresh.step_due_at, fresh.holder,
        case when fresh.holder is not null then clock.now + fresh.lease_ms * interval '1 millisecond' end,
        case when fresh.holder is null then 0 else fresh.granted end, case when fresh.holder is null then 0 else 1 end,
        1, clock.now, fresh.lane_key, fresh.weight
      from clock, fresh
      where fresh.lane is not null and (fresh.id in (select id from written)) is true
      returning id, token, lane, worker
    ),
    noted as (
      insert into pawl.attempts (instance_id, task_id, token, what, at, lane, attempt, worker, visit)
      select stepped.id, stepped.id, stepped.token, 'claimed', clock.now, stepped.lane, 1, stepped.worker, 1
      from clock, stepped
      where stepped.worker is not null
    ),`;

const firstMoves = part`
    journaled as (
      insert into pawl.journal (
        instance_id, version, lifecycle, definition, event, from_state, to_state, at, source, actor, reason,
        payload, patch, request_id
      )
      select fresh.id, 1, fresh.lifecycle, fresh.definition, fresh.event, null, fresh.state, clock.now, fresh.source,
        fresh.actor, fresh.reason, fresh.payload::jsonb, fresh.data, fresh.request_id
      from clock, fresh
      where (fresh.id in (select id from written)) is true
    ),`;

const countedStarts = part`
    counted as (
      insert into pawl.counts (lifecycle, state, delta)
      select written.lifecycle, written.state, count(*) from written group by written.lifecycle, written.state
    )`;

/** Sends the notification, if there is one. */
function notified(notice: string | undefined): Part {
  const text = notice ?? null;
  return part`(select pg_notify('pawl', ${text}::text)::text where ${text}::text is not null) as notified`;
}

function answerOf(many: number): Part {
  return part`
    select count(*)::int as many, pawl.ms(min(clock.now)) as now_ms,
      array_agg(written.id order by written.id) filter (where (select count(*) from written) < ${many}::int)::text as ids`;
}
