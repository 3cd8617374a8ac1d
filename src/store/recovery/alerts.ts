import { type Executor, part, sql, textArray } from "../port/db.ts";

/** An alert, which is delivered once. */
export interface AlertRow {
  readonly id: string;
  /** One alert is raised per cause. */
  readonly cause: string;
  readonly kind: string;
  readonly lifecycle: string;
  /** Null when it is about a definition. */
  readonly instanceId: string | null;
  readonly key: string | null;
  readonly message: string;
  readonly detailsText: string;
}

/** The alerts about those instances that `written` holds. A part of the statement that moves them. */
export function insertAlerts(rows: readonly AlertRow[]) {
  return part`
    insert into pawl.alerts (id, cause, kind, lifecycle, instance_id, key, message, details, at, due_at)
    select alert.id, alert.cause, alert.kind, alert.lifecycle, alert.instance_id, alert.key, alert.message,
      alert.details::jsonb, clock.now, clock.now
    from clock, unnest(
      (select ${textArray(rows.map((row) => row.id))}::text)::uuid[],
      (select ${textArray(rows.map((row) => row.cause))}::text)::text[],
      (select ${textArray(rows.map((row) => row.kind))}::text)::text[],
      (select ${textArray(rows.map((row) => row.lifecycle))}::text)::text[],
      (select ${textArray(rows.map((row) => row.instanceId))}::text)::uuid[],
      (select ${textArray(rows.map((row) => row.key))}::text)::text[],
      (select ${textArray(rows.map((row) => row.message))}::text)::text[],
      (select ${textArray(rows.map((row) => row.detailsText))}::text)::text[]
    ) as alert(id, cause, kind, lifecycle, instance_id, key, message, details)
    where (alert.instance_id in (select id from written)) is true
    on conflict do nothing`;
}

/** An alert without a move; false if it was raised before. */
export async function insertAlert(db: Executor, row: AlertRow): Promise<boolean> {
  const rows = await db.rows(sql`
    insert into pawl.alerts (id, cause, kind, lifecycle, instance_id, key, message, details, at, due_at)
    values (${row.id}::uuid, ${row.cause}::text, ${row.kind}::text, ${row.lifecycle}::text, ${row.instanceId}::uuid,
      ${row.key}::text, ${row.message}::text, ${row.detailsText}::text::jsonb, pawl.now(), pawl.now())
    on conflict do nothing
    returning id::text as id`);
  return rows.length > 0;
}
