import { newToken } from "../../base/ids.ts";
import { type Executor, sql, textArray } from "../../store/port/db.ts";
import type { Decider } from "../../store/recovery/dead-letters.ts";
import { type LetterFilter, matchesFilter } from "./dead-letter-filter.ts";

/** A decision about many dead letters. */
export interface NewOperation extends Decider {
  readonly id: string;
  readonly decision: "requeue" | "discard";
  readonly restart: boolean;
  readonly perSecond: number | null;
  readonly filterText: string;
}

/** Stores it together with its letters, those that match now: later dead letters are not part of it. */
export async function insertOperation(
  db: Executor,
  operation: NewOperation,
  filter: LetterFilter,
  most: number,
): Promise<{ letters: number }> {
  const [written] = await db.rows<{ letters: number }>(sql`
    with clock as materialized (select pawl.now() as now),
    meant as materialized (
      select each.id, each.kind, each.lifecycle from pawl.dead_letters as each
      where ${matchesFilter(filter)}
      order by each.id limit ${most}::int
    ),
    counted as materialized (select count(*)::int as letters from meant),
    operation as (
      insert into pawl.operations (
        id, decision, filter, restart, actor, reason, per_second, status, letters, created_at, ended_at, next_at
      )
      select ${operation.id}::uuid, ${operation.decision}::text, ${operation.filterText}::text::jsonb,
        ${operation.restart}::boolean, ${operation.actor}::text, ${operation.reason}::text, ${operation.perSecond}::float8,
        case when counted.letters = 0 then 'done' else 'running' end, counted.letters, clock.now,
        case when counted.letters = 0 then clock.now end, clock.now
      from clock, counted
      returning id, letters
    ),
    listed as (
      insert into pawl.operation_letters (operation_id, letter_id, kind, lifecycle)
      select operation.id, meant.id, meant.kind, meant.lifecycle from operation, meant
    )
    select letters from operation`);
  return written!;
}

/** An operation that a process has leased. */
export interface LeasedOperation {
  readonly id: string;
  readonly token: number;
  readonly decision: "requeue" | "discard";
  readonly restart: boolean;
  readonly actor: string | null;
  readonly reason: string | null;
  readonly per_second: number | null;
  readonly created_ms: number;
}

/**
 * Leases an operation that may continue now and has letters for this process: a requeue needs the definition of its
 * subject. A process that dies loses the lease after a while.
 */
export async function leaseOperation(
  db: Executor,
  lease: { only: string | null; lifecycles: readonly string[]; leaseMs: number },
): Promise<LeasedOperation | undefined> {
  const [taken] = await db.rows<LeasedOperation>(sql`
    with clock as materialized (select pawl.now() as now),
    free as materialized (
      select each.id from clock, pawl.operations as each
      where each.status = 'running' and each.next_at <= clock.now
        and (${lease.only}::uuid is null or each.id = ${lease.only}::uuid)
        and (each.leased_until is null or each.leased_until <= clock.now or each.leased_until > clock.now + interval '1 hour')
        and exists (
          select from pawl.operation_letters as left_over
          where left_over.operation_id = each.id and left_over.outcome is null
            and (
              each.decision = 'discard' or left_over.kind in ('message', 'broker')
              or left_over.lifecycle = any((select ${textArray(lease.lifecycles)}::text)::text[])
            )
        )
      order by each.next_at limit 1
      for update of each skip locked
    )
    update pawl.operations as operation
    set token = ${newToken()}::bigint, next_at = clock.now,
      leased_until = clock.now + ${lease.leaseMs}::float8 * interval '1 millisecond'
    from free, clock where operation.id = free.id
    returning operation.id::text as id, operation.token::float8 as token, operation.decision, operation.restart,
      operation.actor, operation.reason, operation.per_second, pawl.ms(operation.created_at) as created_ms`);
  return taken;
}

/** The remaining letters for this process. A statement of its own, after the one that leased it. */
export async function readLeftLetters(
  db: Executor,
  operation: LeasedOperation,
  page: { lifecycles: readonly string[]; limit: number },
): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    select left_over.letter_id::text as id from pawl.operation_letters as left_over
    where left_over.operation_id = ${operation.id}::uuid and left_over.outcome is null
      and (
        ${operation.decision === "discard"}::boolean or left_over.kind in ('message', 'broker')
        or left_over.lifecycle = any((select ${textArray(page.lifecycles)}::text)::text[])
      )
    order by left_over.letter_id limit ${page.limit}::int`);
  return rows.map((row) => row.id);
}

/** The outcome of a letter. */
export interface LetterOutcome {
  readonly letterId: string;
  readonly outcome: string;
  readonly note: string | null;
}

/**
 * Records outcomes of letters, and releases the operation: for others at once, or when its rate allows. An operation
 * that was aborted meanwhile stays aborted, and the outcomes are still recorded. False if the lease was lost.
 */
export async function settleOperation(
  db: Executor,
  { id, token }: Pick<LeasedOperation, "id" | "token">,
  outcomes: readonly LetterOutcome[],
): Promise<boolean> {
  const rows = await db.rows(sql`
    with clock as materialized (select pawl.now() as now),
    held as materialized (
      select each.id from pawl.operations as each
      where each.id = ${id}::uuid and each.token = ${token}::bigint
      for no key update
    ),
    told as materialized (
      select told.letter_id, told.outcome, told.note
      from unnest(
        (select ${textArray(outcomes.map((one) => one.letterId))}::text)::uuid[],
        (select ${textArray(outcomes.map((one) => one.outcome))}::text)::text[],
        (select ${textArray(outcomes.map((one) => one.note))}::text)::text[]
      ) as told(letter_id, outcome, note)
    ),
    settled as (
      update pawl.operation_letters as letter set outcome = told.outcome, note = told.note
      from told, held
      where letter.operation_id = held.id and letter.letter_id = told.letter_id and letter.outcome is null
    ),
    left_over as materialized (
      select from held, pawl.operation_letters as letter
      where letter.operation_id = held.id and letter.outcome is null
        and letter.letter_id not in (select letter_id from told)
      limit 1
    )
    update pawl.operations as operation
    set leased_until = null,
      next_at = operation.next_at + coalesce(${outcomes.length}::float8 / operation.per_second, 0) * interval '1 second',
      status = case when operation.status = 'running' and not exists (select from left_over) then 'done' else operation.status end,
      ended_at = case
        when operation.status = 'running' and not exists (select from left_over) then clock.now else operation.ended_at
      end
    from held, clock where operation.id = held.id
    returning operation.id::text as id`);
  return rows.length > 0;
}

/** Nothing more of it is begun; false when it had ended. */
export async function abortOperation(db: Executor, id: string, { actor, reason }: Decider): Promise<boolean> {
  const rows = await db.rows(sql`
    update pawl.operations
    set status = 'aborted', ended_at = pawl.now(), aborted_by = ${actor}::text, abort_reason = ${reason}::text
    where id = ${id}::uuid and status = 'running'
    returning id::text as id`);
  return rows.length > 0;
}

/** Deletes operations that ended long ago. */
export async function pruneOperations(db: Executor, retentionMs: number, limit: number): Promise<number> {
  const rows = await db.rows(sql`
    delete from pawl.operations where id in (
      select id from pawl.operations
      where ended_at is not null and ended_at < pawl.now() - ${retentionMs}::float8 * interval '1 millisecond'
      order by ended_at limit ${limit}::int
    )
    returning id::text as id`);
  return rows.length;
}
