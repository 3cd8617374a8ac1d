import { type Executor, part, sql, textArray } from "../port/db.ts";

/** An event without a move: an event was refused, a recovery requested, or a recovery ended without one. */
export interface NoteRow {
  readonly instanceId: string;
  /** The mark of the call, or the task whose last attempt it was, with its token. */
  readonly taskId: string;
  readonly token: number;
  readonly what: "refused" | "asked" | "failed" | "lapsed";
  readonly lane: string | null;
  readonly attempt: number | null;
  readonly detailText: string;
}

/** The notes about those instances that `written` holds. A part of the statements that commit. */
export function insertNotes(rows: readonly NoteRow[]) {
  return part`
    insert into pawl.attempts (instance_id, task_id, token, what, at, lane, attempt, detail)
    select note.instance_id, note.task_id, note.token, note.what, clock.now, note.lane, note.attempt, note.detail::jsonb
    from clock, unnest(
      (select ${textArray(rows.map((row) => row.instanceId))}::text)::uuid[],
      (select ${textArray(rows.map((row) => row.taskId))}::text)::uuid[],
      (select ${textArray(rows.map((row) => row.token))}::text)::bigint[],
      (select ${textArray(rows.map((row) => row.what))}::text)::text[],
      (select ${textArray(rows.map((row) => row.lane))}::text)::text[],
      (select ${textArray(rows.map((row) => row.attempt))}::text)::int[],
      (select ${textArray(rows.map((row) => row.detailText))}::text)::text[]
    ) as note(instance_id, task_id, token, what, lane, attempt, detail)
    where (note.instance_id in (select id from written)) is true`;
}

/** Notes about instances that nothing else is written about; one that is being removed gets none. */
export async function insertNotesAlone(db: Executor, rows: readonly NoteRow[]): Promise<void> {
  await db.rows(sql`
    with clock as materialized (select pawl.now() as now),
    written as materialized (
      select instance.id
      from unnest((select ${textArray([...new Set(rows.map((row) => row.instanceId))])}::text)::uuid[]) as wanted(id)
      cross join lateral (
        select each.id from pawl.instances as each where each.id = wanted.id for key share skip locked
      ) as instance
    )
    ${insertNotes(rows)}
    on conflict do nothing`);
}

/** The last request to an instance since it failed. */
export async function readRequestedRecovery(db: Executor, id: string): Promise<unknown> {
  const [asked] = await db.rows<{ detail: unknown }>(sql`
    select asked.detail from pawl.attempts as asked
    where asked.instance_id = ${id}::uuid and asked.what = 'asked' and (asked.detail ->> 'version')::int >= (
      select max(move.version) from pawl.journal as move
      where move.instance_id = ${id}::uuid and move.to_state = 'failed' and move.from_state <> 'failed'
    )
    order by asked.at desc, asked.task_id desc limit 1`);
  return asked?.detail;
}

/** How these leases ended without a move, if they did: how a worker's lost reply is settled. */
export function readEndedAttempts(
  db: Executor,
  leases: readonly { id: string; taskId: string; token: number }[],
): Promise<{ task_id: string; what: string }[]> {
  return db.rows(sql`
    select ended.task_id::text as task_id, ended.what
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
    ) as ended`);
}
