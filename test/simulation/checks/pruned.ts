import { type Db, sql } from "../../../src/store/port/db.ts";
import type { World } from "../world/world.ts";
import type { Finding } from "./finding.ts";

/** Instances that ended long ago, that their lifecycle does not keep, and that are still there. */
export async function unpruned({ plan }: World, db: Db): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const { name, keepClosedDays } of plan.lifecycles) {
    if (keepClosedDays === undefined) continue;
    const rows = await db.rows<{ message: string }>(sql`
      select format('%s "%s" was closed at %s, and is still there at %s', instance.lifecycle, instance.key, instance.closed_at, pawl.now()) as message
      from pawl.instances as instance
      where instance.lifecycle = ${name}::text and instance.parent_id is null
        and instance.closed_at < pawl.now() - ${keepClosedDays + 1}::float8 * interval '1 day'
        and not exists (select from pawl.dead_letters as letter where letter.instance_id = instance.id and letter.status = 'open')
        and not exists (select from pawl.tasks as task where task.instance_id = instance.id)`);
    for (const { message } of rows) found.push({ invariant: "retention", message });
  }
  return found;
}
