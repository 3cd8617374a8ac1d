import { type Db, sql, textArray } from "../../../src/store/port/db.ts";
import type { Finding, Witness } from "./checker.ts";

/** Callers whose starts were acknowledged: the instances exist until they may be deleted. */
export class Accepted implements Witness {
  readonly ids: string[] = [];

  async contradictions(db: Db): Promise<Finding[]> {
    const lost = await db.rows<{ id: string }>(sql`
      select accepted.id::text as id from unnest((select ${textArray(this.ids)}::text)::uuid[]) as accepted(id)
      where not exists (select from pawl.instances as instance where instance.id = accepted.id)`);
    return lost.map(({ id }) => ({ invariant: "I1", message: `${id} was begun, and is not there` }));
  }
}
