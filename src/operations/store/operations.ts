import { newToken } from "../../base/ids.ts";
import { type Executor, type Part, sql, textArray } from "../../store/port/db.ts";
import type { Decider } from "../../store/recovery/dead-letters.ts";

export type OperationSubject = "dead_letters" | "instances";
export type OperationDecision = "requeue" | "send" | "recover" | "restart" | "discard";

/** A bulk operation. */
export interface NewOperation extends Decider {
  readonly id: string;
  readonly subject: OperationSubject;
  readonly decision: OperationDecision;
  readonly restart: boolean;
  readonly perSecond: number | null;
  readonly filterText: string;
  /** What is sent to instances, as JSON. */
  readonly settingsText: string | null;
}

/**
 * Stores it together with its items. `meant` selects those that match now, as rows of (id, kind, lifecycle, request_id,
 * run, visit): later ones are not part of it.
 */
export async function insertOperation(db: Executor, operation: NewOperation, meant: Part): Promise<{ items: number }> {
  const [written] = await db.rows<{ items: number }>(sql`
    with clock as materialized (select pawl.now() as now),
    meant as materialized (${meant}),
    counted as materialized (select count(*)::int as items from meant),
    operation as (
      insert into pawl.operations (
        id, subject, decision, filter, settings, restart, actor, reason, per_second, status, items, created_at, ended_at,
        next_at
      )
      select ${operation.id}::uuid, ${operation.subject}::text, ${operation.decision}::text,
        ${operation.filterText}::text::jsonb, ${operation.settingsText}::text::jsonb, ${operation.restart}::boolean,
        ${operation.actor}::text, ${operation.reason}::text, ${operation.perSecond}::float8,
        case when counted.items = 0 then 'done' else 'running' end, counted.items, clock.now,
        case when counted.items = 0 then clock.now end, clock.now
      from clock, counted
      returning id, items
    ),
    listed as (
      insert into pawl.operation_items (operation_id, item_id, kind, lifecycle, request_id, run, visit)
      select operation.id, meant.id, meant.kind, meant.lifecycle, meant.request_id, meant.run, meant.visit
      from operation, meant
    )
    select items from operation`);
  return written!;
}

/** An operation that a process has leased. */
export interface LeasedOperation {
  readonly id: string;
  readonly token: number;
  readonly subject: OperationSubject;
  readonly decision: OperationDecision;
  readonly settings: Readonly<Record<string, unknown>> | null;
  readonly restart: boolean;
  readonly actor: string | null;
  readonly reason: string | null;
  readonly per_second: number | null;
  readonly created_ms: number;
}

/**
 * Leases an operation that may continue now and has items for this process: all but a discarded dead letter need
 * the definition of their lifecycle. A process that dies loses the lease after a while.
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
          select from pawl.operation_items as left_over
          where left_over.operation_id = each.id and left_over.outcome is null
            and (
              (each.subject = 'dead_letters' and each.decision = 'discard') or left_over.kind in ('message', 'broker')
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
    returning operation.id::text as id, operation.token::float8 as token, operation.subject, operation.decision,
      operation.settings, operation.restart, operation.actor, operation.reason, operation.per_second, pawl.ms(operation.created_at) as created_ms`);
  return taken;
}

/** An item of an operation. */
export interface OperationItem {
  readonly id: string;
  readonly lifecycle: string;
  /** Of an instance: the mark of its move, and the visit in which it was listed. */
  readonly request_id: string | null;
  readonly run: number | null;
  readonly visit: number | null;
}

/** The remaining items for this process. A statement of its own, after the one that leased it. */
export function readLeftItems(
  db: Executor,
  operation: LeasedOperation,
  page: { lifecycles: readonly string[]; limit: number },
): Promise<OperationItem[]> {
  return db.rows<OperationItem>(sql`
    select left_over.item_id::text as id, left_over.lifecycle, left_over.request_id::text as request_id, left_over.run,
      left_over.visit
    from pawl.operation_items as left_over
    where left_over.operation_id = ${operation.id}::uuid and left_over.outcome is null
      and (
        ${operation.subject === "dead_letters" && operation.decision === "discard"}::boolean
        or left_over.kind in ('message', 'broker')
        or left_over.lifecycle = any((select ${textArray(page.lifecycles)}::text)::text[])
      )
    order by left_over.item_id limit ${page.limit}::int`);
}

/** The outcome of an item. */
export interface ItemOutcome {
  readonly itemId: string;
  readonly outcome: string;
  readonly note: string | null;
}

/**
 * Records outcomes of items, and releases the operation: for others at once, or when its rate allows. An operation
 * that was aborted meanwhile stays aborted, and the outcomes are still recorded. False if the lease was lost.
 */
export async function settleOperation(
  db: Executor,
  { id, token }: Pick<LeasedOperation, "id" | "token">,
  outcomes: readonly ItemOutcome[],
): Promise<boolean> {
  const rows = await db.rows(sql`
    with clock as materialized (select pawl.now() as now),
    held as materialized (
      select each.id from pawl.operations as each
      where each.id = ${id}::uuid and each.token = ${token}::bigint
      for no key update
    ),
    told as materialized (
      select told.item_id, told.outcome, told.note
      from unnest(
        (select ${textArray(outcomes.map((one) => one.itemId))}::text)::uuid[],
        (select ${textArray(outcomes.map((one) => one.outcome))}::text)::text[],
        (select ${textArray(outcomes.map((one) => one.note))}::text)::text[]
      ) as told(item_id, outcome, note)
    ),
    settled as (
      update pawl.operation_items as item set outcome = told.outcome, note = told.note
      from told, held
      where item.operation_id = held.id and item.item_id = told.item_id and item.outcome is null
    ),
    left_over as materialized (
      select from held, pawl.operation_items as item
      where item.operation_id = held.id and item.outcome is null
        and item.item_id not in (select item_id from told)
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
