import { part, textArray } from "./db.ts";

/** A delayed event that its instance refused when it was due. */
export interface RefusalRow {
  readonly instanceId: string;
  readonly timerId: string;
  readonly detailText: string;
}

/** The refusals of those instances that `written` holds. A part of the statements that commit. */
export function insertRefusals(rows: readonly RefusalRow[]) {
  return part`
    insert into pawl.attempts (instance_id, task_id, token, what, at, detail)
    select refusal.instance_id, refusal.timer_id, 0, 'refused', clock.now, refusal.detail::jsonb
    from clock, unnest(
      (select ${textArray(rows.map((row) => row.instanceId))}::text)::uuid[],
      (select ${textArray(rows.map((row) => row.timerId))}::text)::uuid[],
      (select ${textArray(rows.map((row) => row.detailText))}::text)::text[]
    ) as refusal(instance_id, timer_id, detail)
    where (refusal.instance_id in (select id from written)) is true`;
}
