import { type Db, sql } from "../../../src/store/port/db.ts";
import { labelers } from "../plan/plan.ts";
import type { Finding } from "./finding.ts";

/** Samples that are open, that nobody has in hand, and that no active labeler may be given any more. */
export async function samplesForgotten(db: Db): Promise<Finding[]> {
  const rows = await db.rows<{ id: string; barred: string[] | null }>(sql`
    select sample.id::text as id, (
      select json_agg(each.labeler) from pawl.assignments as each where each.sample_id = sample.id and each.bars
    ) as barred
    from pawl.samples as sample
    join pawl.instances as instance on instance.id = sample.id and instance.state = 'open'
    where exists (select from pawl.slots as slot where slot.sample_id = sample.id and slot.open_in is not null)`);
  const inactive = await db.rows<{ id: string }>(sql`select id from pawl.labelers where not active`);
  const gone = new Set(inactive.map(({ id }) => id));
  return rows.flatMap(({ id, barred }) =>
    labelers.every((labeler) => gone.has(labeler) || barred?.includes(labeler))
      ? [{ invariant: "I11", message: `sample ${id} waits for a label, and no labeler is left who may give it` }]
      : [],
  );
}
