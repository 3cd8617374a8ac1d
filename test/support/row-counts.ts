import { sql } from "../../src/store/port/db.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";

/** How many rows each table of an instance's life has: to hold a refusal to its word that nothing was written. */
export async function rowCounts(t: TestPawl): Promise<Record<string, number>> {
  const [counts] = await t.db.rows<Record<string, number>>(sql`
    select
      (select count(*)::int from pawl.instances) as instances,
      (select count(*)::int from pawl.journal) as journal,
      (select count(*)::int from pawl.tasks) as tasks,
      (select count(*)::int from pawl.timers) as timers,
      (select count(*)::int from pawl.attempts) as attempts,
      (select count(*)::int from pawl.messages) as messages,
      (select count(*)::int from pawl.requests) as requests,
      (select count(*)::int from pawl.queues) as queues,
      (select count(*)::int from pawl.labelers) as labelers,
      (select count(*)::int from pawl.samples) as samples,
      (select count(*)::int from pawl.slots) as slots,
      (select count(*)::int from pawl.assignments) as assignments,
      (select count(*)::int from pawl.labels) as labels,
      (select coalesce(sum(delta), 0)::int from pawl.counts) as counted`);
  return counts!;
}
