import { part, textArray } from "./db.ts";

/** A message for the outbox; `place` orders those of one move. */
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
    select message.id, message.aggregate_id, message.aggregate_type, message.message_type, message.payload::jsonb,
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
