import { type InstanceRow, instanceColumns } from "../move/instances.ts";
import { type Executor, part, sql, textArray } from "../port/db.ts";

/** A result from outside, before it is matched with a state. */
export interface NewCallback {
  readonly id: string;
  readonly instanceId: string;
  readonly event: string;
  readonly dedupe: string;
  readonly hash: string;
  readonly source: "call" | "token" | "step";
  readonly actor: string | null;
  readonly payloadText: string | null;
  readonly patchText: string | null;
  readonly errorText: string | null;
  /** It is the result of this visit, and of interest only if the deadline has ended that. */
  readonly lateVisit: number | null;
  /** The token that it came by, which counts its uses. */
  readonly tokenId: string | null;
}

/**
 * Stores callbacks, each once, for those instances that are free (or, with `waiting`, as soon as they are). The
 * instances are locked before the time is read: a callback that came before a deadline is then seen by the transaction
 * that fires the deadline. Returns the instances that were found, with their current state.
 */
export function insertCallbacks(db: Executor, rows: readonly NewCallback[], waiting: boolean): Promise<InstanceRow[]> {
  return db.rows<InstanceRow>(sql`
    with arrived as materialized (
      select * from unnest(
        (select ${textArray(rows.map((row) => row.id))}::text)::uuid[],
        (select ${textArray(rows.map((row) => row.instanceId))}::text)::uuid[],
        (select ${textArray(rows.map((row) => row.event))}::text)::text[],
        (select ${textArray(rows.map((row) => row.dedupe))}::text)::text[],
        (select ${textArray(rows.map((row) => row.hash))}::text)::text[],
        (select ${textArray(rows.map((row) => row.source))}::text)::text[],
        (select ${textArray(rows.map((row) => row.actor))}::text)::text[],
        (select ${textArray(rows.map((row) => row.payloadText))}::text)::text[],
        (select ${textArray(rows.map((row) => row.patchText))}::text)::text[],
        (select ${textArray(rows.map((row) => row.errorText))}::text)::text[],
        (select ${textArray(rows.map((row) => row.lateVisit))}::text)::int[],
        (select ${textArray(rows.map((row) => row.tokenId))}::text)::uuid[]
      ) as arrived(id, instance_id, event, dedupe, hash, source, actor, payload, patch, error, late_visit, token_id)
    ),
    wanted as materialized (select distinct instance_id as id from arrived order by instance_id),
    held as materialized (
      select each.* from wanted
      cross join lateral (
        select * from pawl.instances as instance where instance.id = wanted.id
        for no key update ${waiting ? patient : passing}
      ) as each
    ),
    clock as materialized (select pawl.now() as now from (select count(*) from held) as all_are_held),
    stored as (
      insert into pawl.callbacks (
        id, instance_id, lifecycle, run, event, dedupe, hash, source, actor, payload, patch, error, received_at
      )
      select arrived.id, held.id, held.lifecycle, held.run, arrived.event, arrived.dedupe, arrived.hash, arrived.source,
        arrived.actor, arrived.payload::jsonb, arrived.patch::jsonb, arrived.error::jsonb, clock.now
      from clock, arrived
      join held on held.id = arrived.instance_id
      where arrived.late_visit is null or (held.timed_out_at is not null and held.failed_visit = arrived.late_visit)
      order by arrived.instance_id, arrived.dedupe
      on conflict on constraint callbacks_once do nothing
      returning id, instance_id
    ),
    spent as (
      update pawl.callback_tokens as token
      set uses = token.uses + used.times
      from (
        select arrived.token_id as id, count(*)::int as times
        from stored join arrived on arrived.id = stored.id
        where arrived.token_id is not null
        group by arrived.token_id
        limit (select ${rows.length}::int)
      ) as used
      where token.id = used.id
    ),
    counted as materialized (
      select stored.instance_id as id, count(*)::int as callbacks from stored group by stored.instance_id
      limit (select ${rows.length}::int)
    ),
    rung as (
      -- A decision that was made without them is made again.
      update pawl.instances as each
      set inbox = each.inbox + counted.callbacks, alarms = each.alarms + 1
      from counted where each.id = counted.id
      returning each.*
    ),
    instance as (
      select * from rung
      union all
      select * from held where held.id not in (select id from counted)
    )
    select ${instanceColumns} from clock, instance`);
}

const patient = part``;
const passing = part`skip locked`;

/** A callback that waits for its instance. */
export interface WaitingCallback {
  readonly id: string;
  readonly instance_id: string;
  readonly run: number;
  readonly event: string;
  readonly actor: string | null;
  readonly payload: unknown;
  readonly has_payload: boolean;
  readonly patch: Record<string, unknown> | null;
  readonly error: { readonly name: string; readonly message: string } | null;
  readonly received_ms: number;
  readonly looked: boolean;
  /** The last message about it; for a waiting one, why it failed. */
  readonly reason: string | null;
  /** How often its guard, `set` or `before` hook threw. */
  readonly attempts: number;
  /** When it is tried again; null when nothing has failed. */
  readonly retry_ms: number | null;
  /** Its instance failed by a reported error, not by one of its own. */
  readonly failed_by_call: boolean;
}

const waitingColumns = part`
  callback.id::text as id, callback.instance_id::text as instance_id, callback.run, callback.event, callback.actor,
  callback.payload, callback.payload is not null as has_payload, callback.patch, callback.error,
  pawl.ms(callback.received_at) as received_ms, callback.looked,
  callback.reason, callback.attempts, pawl.ms(callback.retry_at) as retry_ms,
  exists (
    select from pawl.instances as instance
    join pawl.journal as failing on failing.instance_id = instance.id and failing.version = instance.visit
    where instance.id = callback.instance_id and instance.state = 'failed' and failing.source = 'call'
  ) as failed_by_call`;

/** The waiting callbacks of these instances, in the order of their arrival. */
export function readWaitingCallbacks(db: Executor, ids: readonly string[]): Promise<WaitingCallback[]> {
  return db.rows<WaitingCallback>(sql`
    select ${waitingColumns}
    from unnest((select ${textArray(ids)}::text)::uuid[]) as wanted(id)
    cross join lateral (
      select * from pawl.callbacks as each where each.instance_id = wanted.id and each.status = 'waiting' offset 0
    ) as callback
    order by callback.instance_id, callback.received_at, callback.id`);
}

/** Callbacks that were not matched in time: their process died, or they failed and their pause has ended. */
export function readDueCallbacks(
  db: Executor,
  page: { afterMs: number | null; afterId: string; limit: number },
): Promise<{ id: string; instance_id: string; due_ms: number }[]> {
  return db.rows(sql`
    select callback.id::text as id, callback.instance_id::text as instance_id,
      pawl.ms(coalesce(callback.retry_at, callback.received_at)) as due_ms
    from pawl.callbacks as callback
    where not callback.looked and coalesce(callback.retry_at, callback.received_at) <= (select pawl.now())
      and (coalesce(callback.retry_at, callback.received_at), callback.id)
        > (coalesce(pawl.at(${page.afterMs}::float8), '-infinity'::timestamptz), ${page.afterId}::uuid)
    order by coalesce(callback.retry_at, callback.received_at), callback.id
    limit ${page.limit}::int`);
}

/** The effect of a commit on a callback. */
export interface SettledCallback {
  readonly id: string;
  readonly instanceId: string;
  /** `waiting` while no state accepts it. */
  readonly status: "waiting" | "applied" | "kept" | "rejected" | "refused" | "accepted";
  /** False: it is to be matched again. */
  readonly looked: boolean;
  /** Its instance's `inbox` counts it. */
  readonly wasWaiting: boolean;
  readonly accepted: boolean;
  readonly isLate: boolean;
  readonly reason: string | null;
  readonly version: number | null;
  /** The number of failed tries; unchanged by default. */
  readonly attempts?: number;
  /** The pause until it is tried again, when it has failed. */
  readonly retryAfterMs?: number | null;
}

/** Settles callbacks of those instances that `written` holds. A part of the statement that moves. */
export function settleCallbacks(rows: readonly SettledCallback[]) {
  return part`
    update pawl.callbacks as callback
    set status = settled.status, looked = settled.looked, accepted = coalesce(callback.accepted, settled.accepted),
      is_late = settled.is_late, reason = settled.reason, version = settled.version,
      attempts = coalesce(settled.attempts, callback.attempts),
      retry_at = clock.now + settled.retry_after_ms * interval '1 millisecond',
      deadline_at = case when settled.status <> 'waiting' then coalesce(callback.deadline_at, settled.deadline_at) end,
      settled_at = case when settled.status <> 'waiting' then coalesce(callback.settled_at, clock.now) end
    from clock, (
      select decided.*, instance.deadline_at
      from unnest(
        (select ${textArray(rows.map((row) => row.id))}::text)::uuid[],
        (select ${textArray(rows.map((row) => row.instanceId))}::text)::uuid[],
        (select ${textArray(rows.map((row) => row.status))}::text)::text[],
        (select ${textArray(rows.map((row) => row.looked))}::text)::boolean[],
        (select ${textArray(rows.map((row) => row.accepted))}::text)::boolean[],
        (select ${textArray(rows.map((row) => row.isLate))}::text)::boolean[],
        (select ${textArray(rows.map((row) => row.reason))}::text)::text[],
        (select ${textArray(rows.map((row) => row.version))}::text)::int[],
        (select ${textArray(rows.map((row) => row.attempts))}::text)::int[],
        (select ${textArray(rows.map((row) => row.retryAfterMs))}::text)::float8[]
      ) as decided(
        id, instance_id, status, looked, accepted, is_late, reason, version, attempts, retry_after_ms
      )
      -- As it was before this statement: the deadline by which it was judged.
      cross join lateral (
        select each.deadline_at from pawl.instances as each where each.id = decided.instance_id offset 0
      ) as instance
      where (decided.instance_id in (select id from written)) is true
      limit (select ${rows.length}::int)
    ) as settled
    where callback.id = settled.id`;
}

/** The callbacks of these instances could not be matched, and not because of them: they are tried again after a pause. */
export async function postponeCallbacks(
  db: Executor,
  instances: readonly { id: string; reason: string }[],
  pauseMs: number,
): Promise<void> {
  await db.rows(sql`
    update pawl.callbacks as callback
    set reason = postponed.reason, retry_at = pawl.now() + ${pauseMs}::float8 * interval '1 millisecond'
    from (
      select each.id, said.reason
      from unnest(
        (select ${textArray(instances.map((one) => one.id))}::text)::uuid[],
        (select ${textArray(instances.map((one) => one.reason))}::text)::text[]
      ) as said(instance_id, reason)
      cross join lateral (
        select waiting.id from pawl.callbacks as waiting
        where waiting.instance_id = said.instance_id and waiting.status = 'waiting' and not waiting.looked
        for update skip locked
      ) as each
      limit (select ${instances.length * 100}::int)
    ) as postponed
    where callback.id = postponed.id`);
}

/**
 * Returns failed callbacks to the inboxes of their instances. Instances are locked in the order of their ids, before
 * their callbacks. Returns the instances.
 */
export function reopenCallbacks(
  db: Executor,
  given: readonly { readonly id: string; readonly attempts: number }[],
): Promise<InstanceRow[]> {
  return db.rows<InstanceRow>(sql`
    with wanted as materialized (
      select callback.id, callback.instance_id
      from unnest(
        (select ${textArray(given.map((one) => one.id))}::text)::uuid[],
        (select ${textArray(given.map((one) => one.attempts))}::text)::int[]
      ) as given(id, attempts)
      cross join lateral (
        select each.id, each.instance_id from pawl.callbacks as each
        where each.id = given.id and each.attempts = given.attempts and each.status = 'refused' offset 0
      ) as callback
    ),
    held as materialized (
      select locked.id from (select distinct instance_id from wanted order by instance_id) as each
      cross join lateral (
        select instance.id from pawl.instances as instance where instance.id = each.instance_id for no key update
      ) as locked
    ),
    clock as materialized (select pawl.now() as now from (select count(*) from held) as all_are_held),
    reopened as (
      update pawl.callbacks as callback
      set status = 'waiting', looked = false, reason = null, retry_at = null, settled_at = null, deadline_at = null
      from clock, (
        select wanted.id from wanted where wanted.instance_id in (select id from held)
        limit (select ${given.length}::int)
      ) as each
      where callback.id = each.id and callback.status = 'refused'
      returning callback.instance_id
    ),
    counted as materialized (
      select reopened.instance_id as id, count(*)::int as callbacks from reopened group by reopened.instance_id
      limit (select ${given.length}::int)
    ),
    instance as (
      update pawl.instances as each
      set inbox = each.inbox + counted.callbacks, alarms = each.alarms + 1
      from counted where each.id = counted.id
      returning each.*
    )
    select ${instanceColumns} from clock, instance`);
}

/** The result of a callback, for its sender. */
export interface AnsweredCallback {
  readonly id: string;
  readonly instance_id: string;
  readonly dedupe: string;
  readonly hash: string;
  readonly status: SettledCallback["status"];
  readonly accepted: boolean | null;
  readonly is_late: boolean;
  readonly reason: string | null;
  readonly received_ms: number;
}

export function readAnswers(
  db: Executor,
  asked: readonly { readonly instanceId: string; readonly dedupe: string }[],
): Promise<AnsweredCallback[]> {
  return db.rows<AnsweredCallback>(sql`
    select callback.id::text as id, callback.instance_id::text as instance_id, callback.dedupe, callback.hash,
      callback.status, callback.accepted, callback.is_late, callback.reason, pawl.ms(callback.received_at) as received_ms
    from unnest(
      (select ${textArray(asked.map((one) => one.instanceId))}::text)::uuid[],
      (select ${textArray(asked.map((one) => one.dedupe))}::text)::text[]
    ) as asked(instance_id, dedupe)
    cross join lateral (
      select * from pawl.callbacks as each
      where each.instance_id = asked.instance_id and each.dedupe = asked.dedupe offset 0
    ) as callback`);
}
