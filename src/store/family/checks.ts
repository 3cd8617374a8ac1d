import { type Executor, part, sql, textArray } from "../port/db.ts";

/** A parent to check, because one of its children has ended or because it has entered a join. */
export interface CheckRow {
  /** The instance whose move requires the check. */
  readonly instanceId: string;
  readonly parentId: string;
  /** The parent's lifecycle. */
  readonly lifecycle: string;
}

/** The checks that those instances ask for that `written` holds, one a parent. A part of the statements that commit. */
export function insertChecks(rows: readonly CheckRow[]) {
  return part`
    insert into pawl.checks (instance_id, lifecycle)
    select distinct look.parent_id, look.lifecycle
    from unnest(
      (select ${textArray(rows.map((row) => row.instanceId))}::text)::uuid[],
      (select ${textArray(rows.map((row) => row.parentId))}::text)::uuid[],
      (select ${textArray(rows.map((row) => row.lifecycle))}::text)::text[]
    ) as look(instance_id, parent_id, lifecycle)
    where (look.instance_id in (select id from written)) is true`;
}

/** A check that waits. The id is a bigint, and so goes as a text. */
export interface Check {
  readonly id: string;
  readonly instance_id: string;
}

/** Checks of these lifecycles, oldest first, from the place where the last page ended. */
export function readChecks(
  db: Executor,
  page: { lifecycles: readonly string[]; afterId: string; limit: number },
): Promise<Check[]> {
  return db.rows<Check>(sql`
    select look.id::text as id, look.instance_id::text as instance_id
    from pawl.checks as look
    where look.id > ${page.afterId}::bigint
      and look.lifecycle = any((select ${textArray(page.lifecycles)}::text)::text[])
    order by look.id limit ${page.limit}::int`);
}

/** Deletes completed checks. A newer one has another id and stays; one that another process is deleting is skipped. */
export async function deleteChecks(db: Executor, ids: readonly string[]): Promise<void> {
  await db.rows(sql`
    with made as materialized (
      select look.id
      from unnest((select ${textArray(ids)}::text)::bigint[]) as wanted(id)
      cross join lateral (
        select each.id from pawl.checks as each where each.id = wanted.id for update skip locked
      ) as look
      limit (select ${ids.length}::int)
    )
    delete from pawl.checks as look using made where look.id = made.id`);
}
