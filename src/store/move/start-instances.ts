import { batch } from "../port/batch.ts";
import { type Executor, noPart, type Part, part, type Statement, sql } from "../port/db.ts";
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

const beginnings = batch<NewInstance>("fresh", {
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
});

/** The rows that are written with new instances. */
export interface StartedWith {
  readonly related: RelatedRows;
  /** The companion rows of a slice, if any. */
  readonly companion: CompanionStarts | undefined;
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
  const { related, companion } = given;
  if (companion !== undefined || hasRareRows(related)) return startsWithAll(rows, given);
  return hasUsualRows(related) ? startsWithUsual(rows, related) : starts(rows);
}

/** Starts with only the first step. */
function starts(rows: readonly NewInstance[]): Statement {
  return sql`
    with ${clock}
    ${freshInstances(rows)}
    written as (${inserted} on conflict do nothing returning id, lifecycle, state),
    ${firstSteps}
    ${firstMoves}
    ${countedStarts}
    ${answerOf(rows.length)}`;
}

/** Starts with the frequent related rows. */
function startsWithUsual(rows: readonly NewInstance[], related: RelatedRows): Statement {
  return sql`
    with ${clock}
    ${freshInstances(rows)}
    written as (${inserted} on conflict do nothing returning id, lifecycle, state),
    ${firstSteps}
    ${firstMoves}
    ${usualRows(related)}
    ${countedStarts}
    ${answerOf(rows.length)}`;
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
    ${answerOf(rows.length)}`;
}

function freshInstances(rows: readonly NewInstance[]): Part {
  return part`
    fresh as materialized (
      select fresh.*, fresh.data_text::jsonb as data,
        coalesce(clock.now + fresh.step_after_ms * interval '1 millisecond', pawl.at(fresh.step_at_ms)) as step_due_at
      from clock, ${beginnings(rows)}
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
      insert into pawl.tasks (id, instance_id, kind, lane, priority, queue, due_at, visit, since)
      select fresh.id, fresh.id, 'step', fresh.lane, fresh.priority, fresh.lane, fresh.step_due_at, 1, clock.now
      from clock, fresh
      where fresh.lane is not null and (fresh.id in (select id from written)) is true
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

function answerOf(many: number): Part {
  return part`
    select count(*)::int as many, pawl.ms(min(clock.now)) as now_ms,
      array_agg(written.id order by written.id) filter (where (select count(*) from written) < ${many}::int)::text as ids
    from written, clock`;
}
