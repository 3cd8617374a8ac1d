import { type Executor, sql, textArray } from "../store/port/db.ts";

/** How far an instance is. */
export interface VersionRow {
  readonly id: string;
  readonly state: string;
  readonly version: number;
}

/** How far these instances are, one probe each. */
export function readVersions(db: Executor, ids: readonly string[]): Promise<VersionRow[]> {
  return db.rows<VersionRow>(sql`
    select found.id::text as id, found.state, found.version
    from unnest((select ${textArray(ids)}::text)::uuid[]) as wanted(id)
    cross join lateral (
      select each.id, each.state, each.version from pawl.instances as each where each.id = wanted.id offset 0
    ) as found`);
}
