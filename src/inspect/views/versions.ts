import { type Executor, sql, textArray } from "../../store/port/db.ts";

/** The version of an instance. */
export interface VersionRow {
  readonly id: string;
  readonly state: string;
  readonly version: number;
}

/** The versions of these instances, one probe each. */
export function readVersions(db: Executor, ids: readonly string[]): Promise<VersionRow[]> {
  return db.rows<VersionRow>(sql`
    select found.id::text as id, found.state, found.version
    from unnest((select ${textArray(ids)}::text)::uuid[]) as wanted(id)
    cross join lateral (
      select each.id, each.state, each.version from pawl.instances as each where each.id = wanted.id offset 0
    ) as found`);
}
