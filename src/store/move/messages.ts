import { type Executor, part, sql, textArray } from "../port/db.ts";

/** A message of a move; `place` orders those of one move. */
export interface MessageRow {
  readonly id: string;
  readonly instanceId: string;
  readonly lifecycle: string;
  readonly type: string;
  readonly payloadText: string;
  readonly version: number;
  readonly place: number;
}

/** The messages of those instances that `written` holds. A part of the statements that commit. */
export function insertMessages(rows: readonly MessageRow[]) {
  return part`
    insert into pawl.messages (id, aggregate_id, aggregate_type, message_type, payload, created_at, version, place)
    select message.id, message.aggregate_id::text, message.aggregate_type, message.message_type, message.payload::jsonb,
      clock.now, message.version, message.place
    from clock, unnest(
      (select ${textArray(rows.map((row) => row.id))}::text)::uuid[],
      (select ${textArray(rows.map((row) => row.instanceId))}::text)::uuid[],
      (select ${textArray(rows.map((row) => row.lifecycle))}::text)::text[],
      (select ${textArray(rows.map((row) => row.type))}::text)::text[],
      (select ${textArray(rows.map((row) => row.payloadText))}::text)::text[],
      (select ${textArray(rows.map((row) => row.version))}::text)::int[],
      (select ${textArray(rows.map((row) => row.place))}::text)::int[]
    ) as message(id, aggregate_id, aggregate_type, message_type, payload, version, place)
    where (message.aggregate_id in (select id from written)) is true`;
}

/** A message without a move: a user's own, about a user's aggregate. */
export interface LooseMessage {
  readonly id: string;
  readonly aggregateType: string;
  readonly aggregateId: string;
  readonly type: string;
  readonly payloadText: string;
}

/**
 * Its position is assigned here: transactions that lock the aggregate, and then publish, are in order with each other.
 */
export async function insertMessage(db: Executor, message: LooseMessage): Promise<{ now_ms: number }> {
  const [written] = await db.rows<{ now_ms: number }>(sql`
    insert into pawl.messages (id, aggregate_id, aggregate_type, message_type, payload, created_at)
    values (
      ${message.id}::uuid, ${message.aggregateId}::text, ${message.aggregateType}::text, ${message.type}::text,
      ${message.payloadText}::text::jsonb, pawl.now()
    )
    returning pawl.ms(created_at) as now_ms`);
  return written!;
}

/** The message of a breaker's flip; nothing without a type. */
export interface FlipMessage {
  readonly id: string;
  readonly type: string | null;
}

/** The message of a flipped breaker, if `noted` has a row: a part of the statement that flips it. */
export function insertFlipMessage({ id, type }: FlipMessage) {
  return part`
    insert into pawl.messages (id, aggregate_id, aggregate_type, message_type, payload, created_at)
    select ${id}::uuid, noted.breaker, 'breaker', message.type, jsonb_build_object(
      'breaker', noted.breaker, 'number', noted.flip, 'from', noted.from_state, 'to', noted.to_state, 'cause', noted.cause,
      'good', noted.good, 'failed', noted.failed, 'reason', noted.reason, 'actor', noted.actor,
      'at', to_char(noted.at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'openUntil', to_char(noted.open_until at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    ), noted.at
    from noted cross join (select ${type}::text as type) as message
    where message.type is not null`;
}
