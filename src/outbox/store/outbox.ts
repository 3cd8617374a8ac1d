import { newToken } from "../../base/ids.ts";
import { type Executor, sql, textArray } from "../../store/port/db.ts";

/** The right to send the messages of some shards, until a time. */
export interface ShardLease {
  readonly token: number;
  readonly shards: readonly number[];
}

/** How many messages that wait behind one that was sent are released at a time. */
export const followersAtOnce = 100;

/** How many shards there are: the messages of an aggregate are all in one of them. */
export const shardCount = 64;

/**
 * Leases up to `atMost` free shards that have something to send, those whose oldest message is the oldest first. What there
 * is to send is read in the next statement: in this one, it could be older than the lease.
 */
export async function leaseShards(
  db: Executor,
  lease: { relay: string; atMost: number; leaseMs: number },
): Promise<ShardLease | undefined> {
  const rows = await db.rows<LeasedShard>(sql`
    with clock as materialized (select pawl.now() as now),
    free as materialized (
      select shard.shard
      from clock, pawl.shards as shard
      cross join lateral (
        select message.position from pawl.messages as message
        where message.shard = shard.shard and message.status = 'pending' and message.next_attempt_at is null
        order by message.position limit 1
      ) as head
      where shard.leased_until is null or shard.leased_until <= clock.now
        -- The clock was set back: no relay leases for that long.
        or shard.leased_until > clock.now + interval '1 hour'
      order by head.position
      limit ${lease.atMost}::int
      for no key update of shard skip locked
    )
    update pawl.shards as shard
    set relay = ${lease.relay}::text, token = ${newToken()}::bigint,
      leased_until = clock.now + ${lease.leaseMs}::float8 * interval '1 millisecond'
    from free, clock
    where shard.shard = free.shard
    returning shard.shard, shard.token::float8 as token`);
  return leaseOf(rows);
}

/** Leases those of these shards that are free, whether they have something to send or not. */
export async function leaseTheseShards(
  db: Executor,
  lease: { relay: string; shards: readonly number[]; leaseMs: number },
): Promise<ShardLease | undefined> {
  const rows = await db.rows<LeasedShard>(sql`
    with clock as materialized (select pawl.now() as now),
    free as materialized (
      select shard.shard from clock, pawl.shards as shard
      where shard.shard = any((select ${textArray(lease.shards)}::text)::int[])
        and (shard.leased_until is null or shard.leased_until <= clock.now or shard.leased_until > clock.now + interval '1 hour')
      order by shard.shard
      for no key update of shard skip locked
    )
    update pawl.shards as shard
    set relay = ${lease.relay}::text, token = ${newToken()}::bigint,
      leased_until = clock.now + ${lease.leaseMs}::float8 * interval '1 millisecond'
    from free, clock
    where shard.shard = free.shard
    returning shard.shard, shard.token::float8 as token`);
  return leaseOf(rows);
}

interface LeasedShard {
  readonly shard: number;
  readonly token: number;
}

function leaseOf(rows: readonly LeasedShard[]): ShardLease | undefined {
  const [first] = rows;
  return first && { token: first.token, shards: rows.map((row) => row.shard) };
}

/** A message to send. */
export interface ReadyMessage {
  readonly id: string;
  readonly aggregate_id: string;
  readonly aggregate_type: string;
  readonly message_type: string;
  readonly payload: string;
  readonly version: number | null;
  readonly retry_count: number;
  readonly created_ms: number;
  /** An earlier one of its aggregate is held up. */
  readonly behind: boolean;
  /** A relay has found that none of its brokers accepts it. */
  readonly unrouted: boolean;
}

/** The messages to send in leased shards, oldest first. Reads what is there, not from a saved position. */
export function readReadyMessages(db: Executor, shards: readonly number[], limit: number): Promise<ReadyMessage[]> {
  return db.rows<ReadyMessage>(sql`
    with oldest as materialized (
      select ready.id, ready.position
      from unnest((select ${textArray(shards)}::text)::int[]) as leased(shard)
      cross join lateral (
        select each.id, each.position from pawl.messages as each
        where each.shard = leased.shard and each.status = 'pending' and each.next_attempt_at is null
        order by each.position limit ${limit}::int
      ) as ready
      order by ready.position limit ${limit}::int
    )
    select message.id::text as id, message.aggregate_id, message.aggregate_type, message.message_type,
      message.payload::text as payload, message.version, message.retry_count, pawl.ms(message.created_at) as created_ms,
      exists (
        select from pawl.messages as earlier
        where earlier.aggregate_id = message.aggregate_id and earlier.aggregate_type = message.aggregate_type
          and earlier.position < message.position and earlier.next_attempt_at is not null and earlier.unrouted_at is null
      ) as behind,
      message.unrouted_at is not null as unrouted
    from oldest
    cross join lateral (select * from pawl.messages as each where each.id = oldest.id offset 0) as message
    order by oldest.position`);
}

/** The outcome of a leased message. */
export interface MessageOutcome {
  readonly id: string;
  /**
   * `deferred` was not tried, `behind` waits for another message of its aggregate, and `unrouted` is accepted by no
   * broker: none of these is an attempt.
   */
  readonly what: "published" | "failed" | "dead" | "deferred" | "behind" | "unrouted";
  readonly error: string | null;
  /** When a failed, deferred or unrouted one may be tried again. */
  readonly pauseMs: number | null;
  /** The dead letter of a dead message. */
  readonly letter: { readonly id: string; readonly reason: string } | null;
}

/**
 * Stores outcomes of messages and releases their shards, all under one lease; returns whether the lease held. A sent
 * message releases those that wait behind it, `limit` at a time: if the next one fails, few have to be blocked again.
 */
export async function settleMessages(
  db: Executor,
  token: number,
  outcomes: readonly MessageOutcome[],
  limit: number,
): Promise<{ held: boolean; settled: number }> {
  const [answer] = await db.rows<{ held: boolean; settled: number }>(sql`
    with clock as materialized (select pawl.now() as now),
    held as materialized (
      select shard.shard from pawl.shards as shard
      where shard.token = ${token}::bigint and shard.relay is not null
      for no key update
    ),
    told as materialized (
      select told.*, message.aggregate_id, message.aggregate_type
      from unnest(
        (select ${textArray(outcomes.map((one) => one.id))}::text)::uuid[],
        (select ${textArray(outcomes.map((one) => one.what))}::text)::text[],
        (select ${textArray(outcomes.map((one) => one.error))}::text)::text[],
        (select ${textArray(outcomes.map((one) => one.pauseMs))}::text)::float8[],
        (select ${textArray(outcomes.map((one) => one.letter?.id))}::text)::uuid[],
        (select ${textArray(outcomes.map((one) => one.letter?.reason))}::text)::text[]
      ) as told(id, what, error, pause_ms, letter_id, reason)
      cross join lateral (
        select each.aggregate_id, each.aggregate_type, each.shard from pawl.messages as each
        where each.id = told.id and each.status = 'pending'
        offset 0
      ) as message
      where (message.shard in (select held.shard from held)) is true
      limit (select ${outcomes.length}::int)
    ),
    settled as (
      update pawl.messages as message
      set status = case told.what when 'published' then 'published' when 'dead' then 'dead' else 'pending' end,
        processed_at = case when told.what = 'published' then clock.now end,
        retry_count = message.retry_count + case when told.what in ('failed', 'dead') then 1 else 0 end,
        error_message = case
          when told.what in ('published', 'behind') then message.error_message
          when told.what = 'unrouted' then coalesce(told.error, message.error_message)
          else told.error
        end,
        unrouted_at = case when told.what = 'unrouted' then coalesce(message.unrouted_at, clock.now) end,
        next_attempt_at = case
          when told.what in ('failed', 'deferred', 'unrouted') then clock.now + told.pause_ms * interval '1 millisecond'
          when told.what in ('dead', 'behind') then 'infinity'::timestamptz
        end
      from told, clock
      where message.id = told.id
      returning message.id, message.aggregate_id, message.aggregate_type, message.message_type, message.version,
        message.retry_count, message.payload, told.letter_id, told.reason, told.error
    ),
    buried as (
      insert into pawl.dead_letters (
        id, instance_id, lifecycle, kind, origin, reason, error, attempts, payload, cause, task_id, token, created_at
      )
      select letter_id, case when version is not null then aggregate_id::uuid end, aggregate_type, 'message', message_type,
        reason, jsonb_build_object('name', 'Error', 'message', error), retry_count, payload, 'message:' || id || ':' || ${token}::bigint, id,
        ${token}::bigint, clock.now
      from settled, clock where letter_id is not null
    ),
    followers as materialized (
      select follower.id
      from (select distinct aggregate_id, aggregate_type from told where what = 'published') as sent
      cross join lateral (
        select each.id from pawl.messages as each
        where each.aggregate_id = sent.aggregate_id and each.aggregate_type = sent.aggregate_type
          and each.next_attempt_at is not null and each.next_attempt_at = 'infinity' and each.status = 'pending'
        order by each.position limit ${limit}::int
      ) as follower
      limit (select ${limit * Math.max(1, outcomes.length)}::int)
    ),
    readied as (
      update pawl.messages as message set next_attempt_at = null from followers where message.id = followers.id
    ),
    given_back as (
      update pawl.shards as shard set relay = null, leased_until = null from held where shard.shard = held.shard
    )
    select exists (select from held) as held, (select count(*)::int from settled) as settled`);
  return answer!;
}

/** Releases messages whose pause has ended; returns how many. */
export async function promoteMessages(db: Executor, limit: number): Promise<number> {
  const promoted = await db.rows(sql`
    with clock as materialized (select pawl.now() as now),
    due as materialized (
      select message.id
      from clock, lateral (
        select each.id from pawl.messages as each
        where each.next_attempt_at < 'infinity' and each.next_attempt_at <= clock.now
        order by each.next_attempt_at
        limit ${limit}::int for no key update skip locked
      ) as message
    ),
    few as materialized (
      select few.id from unnest((select array_agg(due.id) from due)) as few(id) limit (select ${limit}::int)
    )
    update pawl.messages as message set next_attempt_at = null
    from few where message.id = few.id
    returning 1 as promoted`);
  return promoted.length;
}

/** Deletes messages that were sent or discarded longer ago than `retentionMs`, and records up to when; returns how many. */
export async function pruneMessages(db: Executor, retentionMs: number, limit: number): Promise<number> {
  const [gone] = await db.rows<{ messages: number }>(sql`
    with cutoff as materialized (select pawl.now() - ${retentionMs}::float8 * interval '1 millisecond' as moment),
    old as materialized (
      select message.id
      from cutoff, unnest(array['published', 'discarded']) as done(status)
      cross join lateral (
        select each.id from pawl.messages as each
        where each.status = done.status and each.created_at < cutoff.moment and each.processed_at < cutoff.moment
        order by each.created_at
        limit ${limit}::int for update skip locked
      ) as message
      limit ${limit}::int
    ),
    few as materialized (
      select few.id from unnest((select array_agg(old.id) from old)) as few(id) limit (select ${limit}::int)
    ),
    gone as (delete from pawl.messages as message using few where message.id = few.id returning message.id),
    noted as (
      insert into pawl.pruned as pruned (what, up_to)
      select 'messages', cutoff.moment from cutoff where exists (select from few)
      on conflict (what) do update set up_to = greatest(pruned.up_to, excluded.up_to)
    )
    select count(*)::int as messages from gone`);
  return gone!.messages;
}
