import { type Executor, sql, textArray } from "../../store/port/db.ts";
import type { Decider } from "../../store/recovery/dead-letters.ts";

/** Selects dead messages: by ids, by type, or all; never more than a page at a time. */
export interface DeadFilter {
  readonly ids: readonly string[] | null;
  readonly type: string | null;
}

export interface DeadMessage {
  readonly id: string;
  /** It takes the lease of this shard to decide about it. */
  readonly shard: number;
  readonly position: number;
}

/** Dead messages in order, after the end of the last page. */
export function readDeadMessages(
  db: Executor,
  filter: DeadFilter,
  page: { after: number; limit: number },
): Promise<DeadMessage[]> {
  return db.rows<DeadMessage>(sql`
    select message.id::text as id, message.shard, message.position::float8 as position from pawl.messages as message
    where message.status = 'dead' and message.position > ${page.after}::bigint
      and (${filter.type}::text is null or message.message_type = ${filter.type}::text)
      and (${filter.ids === null}::boolean or message.id = any((select ${textArray(filter.ids ?? [])}::text)::uuid[]))
    order by message.position limit ${page.limit}::int`);
}

/** Requeues dead messages in their old position; under the lease of their shards. Returns which. */
export function requeueMessages(
  db: Executor,
  token: number,
  ids: readonly string[],
  by: Decider,
): Promise<{ id: string }[]> {
  return db.rows(sql`
    with held as materialized (
      select shard.shard from pawl.shards as shard
      where shard.token = ${token}::bigint and shard.relay is not null
      for no key update
    ),
    requeued as (
      update pawl.messages as message
      set status = 'pending', next_attempt_at = null, retry_count = 0
      from held
      where message.id = any((select ${textArray(ids)}::text)::uuid[]) and message.status = 'dead' and message.shard = held.shard
      returning message.id
    ),
    decided as (
      update pawl.dead_letters as letter
      set status = 'requeued', decided_at = pawl.now(), decided_by = ${by.actor}::text, decision = ${by.reason}::text
      from requeued
      where letter.task_id = requeued.id and letter.kind = 'message' and letter.status = 'open'
    )
    select id::text as id from requeued`);
}

/** Discards dead messages, and releases those that wait behind them. Returns which. */
export function discardMessages(
  db: Executor,
  token: number,
  ids: readonly string[],
  by: Decider,
  limit: number,
): Promise<{ id: string }[]> {
  return db.rows(sql`
    with held as materialized (
      select shard.shard from pawl.shards as shard
      where shard.token = ${token}::bigint and shard.relay is not null
      for no key update
    ),
    discarded as (
      update pawl.messages as message
      set status = 'discarded', next_attempt_at = null, processed_at = pawl.now()
      from held
      where message.id = any((select ${textArray(ids)}::text)::uuid[]) and message.status = 'dead' and message.shard = held.shard
      returning message.id, message.aggregate_id, message.aggregate_type
    ),
    decided as (
      update pawl.dead_letters as letter
      set status = 'discarded', decided_at = pawl.now(), decided_by = ${by.actor}::text, decision = ${by.reason}::text
      from discarded
      where letter.task_id = discarded.id and letter.kind = 'message' and letter.status = 'open'
    ),
    followers as materialized (
      select follower.id
      from (select distinct aggregate_id, aggregate_type from discarded) as freed
      cross join lateral (
        select each.id from pawl.messages as each
        where each.aggregate_id = freed.aggregate_id and each.aggregate_type = freed.aggregate_type
          and each.next_attempt_at is not null and each.next_attempt_at = 'infinity' and each.status = 'pending'
        order by each.position limit ${limit}::int
      ) as follower
    ),
    readied as (
      update pawl.messages as message set next_attempt_at = null from followers where message.id = followers.id
    )
    select id::text as id from discarded`);
}
