import { type Executor, part, sql, textArray } from "./db.ts";

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

/** How these leases ended without a move, if they did: how a worker's lost reply is settled. */
export function readSetbacks(
  db: Executor,
  leases: readonly { id: string; taskId: string; token: number }[],
): Promise<{ task_id: string; what: string }[]> {
  return db.rows(sql`
    select setback.task_id::text as task_id, setback.what
    from unnest(
      (select ${textArray(leases.map((lease) => lease.id))}::text)::uuid[],
      (select ${textArray(leases.map((lease) => lease.taskId))}::text)::uuid[],
      (select ${textArray(leases.map((lease) => lease.token))}::text)::bigint[]
    ) as lease(instance_id, task_id, token)
    cross join lateral (
      select each.task_id, each.what from pawl.attempts as each
      where each.instance_id = lease.instance_id and each.task_id = lease.task_id and each.token = lease.token
        and each.what <> 'claimed'
      offset 0
    ) as setback`);
}
