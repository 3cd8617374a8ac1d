import { openOn, type PawlOptions } from "../../src/api/open/create.ts";
import type { AnyLifecycle } from "../../src/definition/language/public-types.ts";
import type { AnySchedule } from "../../src/definition/schedule/schedule.ts";
import type { Db } from "../../src/store/port/db.ts";
import { openPostgres } from "../../src/store/postgres/open.ts";
import type { TestClock } from "../../src/testing/clock.ts";
import { PlantedFaults } from "../../src/testing/faults.ts";
import { TestPawl } from "../../src/testing/test-pawl.ts";

/**
 * A second process on the database of a test, such as one of the next deploy: with definitions of its own, and where it
 * can be with connections of its own. It goes by the same clock.
 */
export async function openSecondProcess(
  t: TestPawl,
  lifecycles: readonly AnyLifecycle[],
  schedules: readonly AnySchedule[] = [],
  {
    notify = false,
    url = t.url,
    breakers,
  }: { notify?: boolean; url?: string | undefined; breakers?: PawlOptions["breakers"] } = {},
): Promise<TestPawl> {
  const db = url === undefined ? shared(t.db) : await openPostgres({ url });
  const clock = t.kernel.clock as TestClock;
  const faults = new PlantedFaults();
  const { pawl, kernel } = await openOn(
    db,
    { lifecycles, schedules, breakers, logger: false, notify },
    { clock, faults },
  );
  const store = { db, url, dispose: () => db.close() };
  return new TestPawl({ pawl, kernel, store, clock, faults, fakes: new Map() });
}

/** The embedded database has one process: its second user does not close it. */
function shared(db: Db): Db {
  return {
    kind: db.kind,
    rows: (statement) => db.rows(statement),
    transaction: (work) => db.transaction(work),
    script: (text) => db.script(text),
    close: async () => {},
  };
}
