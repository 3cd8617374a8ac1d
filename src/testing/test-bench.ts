import { migrate } from "../store/port/migrate.ts";
import { installTestClock, type TestClock, testEpochMs } from "./clock.ts";
import type { PlantedFaults } from "./faults.ts";
import { KillableDb } from "./killable-db.ts";
import { borrowMemoryStore, borrowPostgresStore, emptyStore, type TestStore } from "./stores.ts";
import { openTestPawl, type TestPawl, type TestPawlOptions } from "./test-pawl.ts";

/** A Pawl that can be ended at once, as a process is that loses its power. */
export interface TestProcess {
  readonly t: TestPawl;
  kill(): void;
  /** Distinguishes stored states, see `KillableDb`. */
  mark(): Promise<string>;
}

/** One database for many runs: creating one takes longer than most runs. Each run has processes that can die. */
export class TestBench {
  readonly clock: TestClock;
  readonly #store: TestStore;
  readonly #options: TestPawlOptions;
  #isUsed = false;

  private constructor(store: TestStore, clock: TestClock, options: TestPawlOptions) {
    this.#store = store;
    this.clock = clock;
    this.#options = options;
  }

  static async open(options: TestPawlOptions): Promise<TestBench> {
    const { server, pooler } = options;
    const store = server === undefined ? await borrowMemoryStore() : await borrowPostgresStore(server, { pooler });
    await migrate(store.db);
    return new TestBench(store, await installTestClock(store.db), options);
  }

  /** Deletes the data of the last run, and sets the clock to the start time of every run. */
  async reset(): Promise<void> {
    if (this.#isUsed) await emptyStore(this.#store.db);
    this.#isUsed = true;
    await this.clock.set(testEpochMs);
  }

  /** A new process on the same database. Its ids are random, or made by `newId`. */
  async start(faults: PlantedFaults, leaseMs?: number, newId?: () => string): Promise<TestProcess> {
    const db = new KillableDb(this.#store.db);
    const store = { db, url: this.#store.url, dispose: () => db.close() };
    const t = await openTestPawl(store, this.clock, this.#options, { faults, leaseMs, newId, migrate: false });
    return { t, kill: () => db.kill(), mark: () => db.mark() };
  }

  async close(): Promise<void> {
    await this.#store.dispose();
  }
}
