import { part, textArray } from "./db.ts";

/** Work that was given up, with the reason. */
export interface DeadLetterRow {
  readonly id: string;
  readonly instanceId: string;
  readonly lifecycle: string;
  readonly kind: "step" | "effect";
  /** The state of a step, the event of an effect. */
  readonly origin: string;
  readonly reason: string;
  readonly errorText: string | null;
  readonly attempts: number;
  readonly payloadText: string | null;
  readonly taskId: string;
  readonly token: number;
}

/** The dead letters of those instances that `written` holds. A part of the statements that give work up. */
export function insertDeadLetters(rows: readonly DeadLetterRow[]) {
  return part`
    insert into pawl.dead_letters (
      id, instance_id, lifecycle, kind, origin, reason, error, attempts, payload, task_id, token, created_at
    )
    select letter.id, letter.instance_id, letter.lifecycle, letter.kind, letter.origin, letter.reason, letter.error::jsonb,
      letter.attempts, letter.payload::jsonb, letter.task_id, letter.token, clock.now
    from clock, unnest(
      (select ${textArray(rows.map((row) => row.id))}::text)::uuid[],
      (select ${textArray(rows.map((row) => row.instanceId))}::text)::uuid[],
      (select ${textArray(rows.map((row) => row.lifecycle))}::text)::text[],
      (select ${textArray(rows.map((row) => row.kind))}::text)::text[],
      (select ${textArray(rows.map((row) => row.origin))}::text)::text[],
      (select ${textArray(rows.map((row) => row.reason))}::text)::text[],
      (select ${textArray(rows.map((row) => row.errorText))}::text)::text[],
      (select ${textArray(rows.map((row) => row.attempts))}::text)::int[],
      (select ${textArray(rows.map((row) => row.payloadText))}::text)::text[],
      (select ${textArray(rows.map((row) => row.taskId))}::text)::uuid[],
      (select ${textArray(rows.map((row) => row.token))}::text)::bigint[]
    ) as letter(
      id, instance_id, lifecycle, kind, origin, reason, error, attempts, payload, task_id, token
    )
    where (letter.instance_id in (select id from written)) is true
    on conflict do nothing`;
}
