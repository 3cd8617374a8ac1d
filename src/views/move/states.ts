import { isId } from "../../base/ids.ts";
import { type Executor, sql, textArray } from "../../store/port/db.ts";

/** The state of an instance. */
export interface StateRow {
  readonly id: string;
  readonly state: string;
  /** Null while it is open. */
  readonly outcome: "success" | "failure" | "discarded" | null;
  readonly data: unknown;
}

/** The states of those of these instances that exist, one probe each; a text that is no id matches none. */
export function readStates(db: Executor, ids: readonly string[]): Promise<StateRow[]> {
  return db.rows<StateRow>(sql`
    select found.id::text as id, found.state, found.outcome, found.data
    from unnest((select ${textArray(ids.filter(isId))}::text)::uuid[]) as wanted(id)
    cross join lateral (
      select each.id, each.state, each.outcome, each.data from pawl.instances as each where each.id = wanted.id offset 0
    ) as found`);
}
