import type { Clock } from "../kernel/clock.ts";
import { type Db, sql } from "../store/port/db.ts";

/** Every test starts at this time, so that output is the same each time. */
export const testEpochMs = Date.UTC(2030, 0, 1, 12);

/** Replaces the database's clock by a row that only the test moves. */
export async function installTestClock(db: Db): Promise<TestClock> {
  await db.script(`
    create table if not exists pawl.test_clock (now timestamptz not null);
    delete from pawl.test_clock;
    insert into pawl.test_clock values (to_timestamp(${testEpochMs} / 1000.0));
    create or replace function pawl.now() returns timestamptz language sql stable as 'select now from pawl.test_clock';`);
  return new TestClock(db);
}

/** The database's time, moved by hand. */
export class TestClock implements Clock {
  readonly #db: Db;
  #ms = testEpochMs;

  constructor(db: Db) {
    this.#db = db;
  }

  nowMs(): number {
    return this.#ms;
  }

  /** An answer that was overtaken by a move of the clock does not set it back. */
  observe(nowMs: number): void {
    this.#ms = Math.max(this.#ms, nowMs);
  }

  async set(ms: number): Promise<void> {
    await this.#db.rows(sql`update pawl.test_clock set now = pawl.at(${ms}::float8)`);
    this.#ms = ms;
  }

  /** Whether work is ready to run now. */
  async hasReadyTasks(): Promise<boolean> {
    const [row] = await this.#db.rows<{ found: boolean }>(
      sql`select exists (select from pawl.tasks where queue is not null and due_at is null) as found`,
    );
    return row!.found;
  }

  /** The next moment at which something becomes due, becomes ready or lapses; undefined if there is none. */
  async nextMoment(): Promise<number | undefined> {
    const [row] = await this.#db.rows<{ ms: number | null }>(sql`
      select pawl.ms(least(
        (select min(next_due_at) from pawl.instances where next_due_at > pawl.now()),
        (select min(due_at) from pawl.tasks where due_at > pawl.now()),
        (select min(leased_until) from pawl.tasks where leased_until > pawl.now()),
        (select min(retry_at) from pawl.callbacks where not looked and retry_at > pawl.now()),
        (select min(next_at) from pawl.schedules where next_at > pawl.now() and paused_at is null),
        (select min(release.due_at) from pawl.releases as release
         where release.due_at > pawl.now() and exists (
           select from pawl.instances as instance
           where instance.lifecycle = release.lifecycle and instance.shelf = release.state
         ))
      )) as ms`);
    return row?.ms ?? undefined;
  }
}
