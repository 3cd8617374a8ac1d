import { type Executor, sql, textArray } from "../../store/port/db.ts";

/** The backlog and the dead messages of one type. */
export interface OutboxTypeView {
  readonly message_type: string;
  readonly pending: number;
  /** Of those pending: failed and resting, or waiting behind one that is. */
  readonly held: number;
  readonly dead: number;
  readonly oldest_ms: number | null;
}

/** Pending and dead messages, by type. */
export function readOutboxByType(db: Executor): Promise<OutboxTypeView[]> {
  return db.rows<OutboxTypeView>(sql`
    select message.message_type,
      (count(*) filter (where message.status = 'pending'))::int as pending,
      (count(*) filter (where message.status = 'pending' and message.next_attempt_at is not null))::int as held,
      (count(*) filter (where message.status = 'dead'))::int as dead,
      pawl.ms(min(message.created_at) filter (where message.status = 'pending')) as oldest_ms
    from pawl.messages as message
    where message.status in ('pending', 'dead')
    group by message.message_type
    order by message.message_type`);
}

export interface OutboxLagView {
  readonly pending: number;
  readonly dead: number;
  /** Pending, too, but accepted by no broker, so not part of the lag. */
  readonly unrouted: number;
  /** How long the oldest pending message has waited; null if there is none. */
  readonly oldest_age_ms: number | null;
}

/** The backlog of the relays, in one number each, counted up to a limit. */
export async function readOutboxLag(db: Executor): Promise<OutboxLagView> {
  const [lag] = await db.rows<OutboxLagView>(sql`
    select
      (
        select count(*)::int
        from (select from pawl.messages where status = 'pending' and unrouted_at is null limit 100000) as few
      ) as pending,
      (
        select count(*)::int
        from (select from pawl.messages where status = 'pending' and unrouted_at is not null limit 100000) as few
      ) as unrouted,
      (select count(*)::int from (select from pawl.messages where status = 'dead' limit 100000) as few) as dead,
      (
        select greatest(0, pawl.ms(pawl.now()) - pawl.ms(created_at)) from pawl.messages
        where status = 'pending' and unrouted_at is null
        order by created_at limit 1
      ) as oldest_age_ms`);
  return lag!;
}

export interface MessageView {
  readonly id: string;
  readonly aggregate_id: string;
  readonly aggregate_type: string;
  readonly message_type: string;
  readonly payload: unknown;
  readonly status: "pending" | "published" | "dead" | "discarded";
  readonly created_ms: number;
  readonly processed_ms: number | null;
  readonly retry_count: number;
  readonly error_message: string | null;
  readonly version: number | null;
  /** Null if it can be sent at once, or is done; NaN while it waits behind another one, or is dead. */
  readonly next_attempt_ms: number | null;
  readonly behind: boolean;
}

/** Messages in one of these states, the oldest first. */
export function readMessages(
  db: Executor,
  page: { statuses: readonly string[]; type: string | null; limit: number },
): Promise<MessageView[]> {
  return db.rows<MessageView>(sql`
    select message.id::text as id, message.aggregate_id, message.aggregate_type, message.message_type, message.payload,
      message.status, pawl.ms(message.created_at) as created_ms, pawl.ms(message.processed_at) as processed_ms,
      message.retry_count, message.error_message, message.version,
      case when message.next_attempt_at < 'infinity' then pawl.ms(message.next_attempt_at) end as next_attempt_ms,
      message.status = 'pending' and coalesce(message.next_attempt_at = 'infinity', false) as behind
    from unnest((select ${textArray(page.statuses)}::text)::text[]) as wanted(status)
    cross join lateral (
      select * from pawl.messages as each
      where each.status = wanted.status and (${page.type}::text is null or each.message_type = ${page.type}::text)
      order by each.created_at limit ${page.limit}::int
    ) as message
    order by message.created_at, message.position limit ${page.limit}::int`);
}
