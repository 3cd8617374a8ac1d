import { afterAll, beforeAll } from "vitest";
import type { Db } from "../../src/store/port/db.ts";
import { newPostgresStore, type TestStore } from "../../src/testing/stores.ts";
import { build, type Ended, newProject, type PawlCommand, type Project } from "./pawl-command.ts";

export interface ProjectOnPostgres {
  /** What tells `pawl` of the database. */
  readonly env: { readonly DATABASE_URL: string };
  /** Runs `pawl` with these arguments, to its end. */
  readonly pawl: (...args: string[]) => Promise<Ended>;
  readonly begin: (...args: string[]) => PawlCommand;
}

/** A project with a database of its own on PostgreSQL, made before the tests of a suite and gone after them. */
export function projectOnPostgres(
  config: string,
  prepare: (db: Db) => Promise<void> = async () => {},
): ProjectOnPostgres {
  let store: TestStore;
  let project: Project;
  beforeAll(async () => {
    build();
    store = await newPostgresStore(process.env.PAWL_TEST_POSTGRES_URL!);
    await prepare(store.db);
    project = newProject({ "pawl.config.mjs": config });
  }, 120_000);
  afterAll(async () => {
    await project.remove();
    await store.dispose();
  });
  const envOf = () => ({ DATABASE_URL: store.url! });
  const begin = (...args: string[]) => project.begin(args, envOf());
  return {
    get env() {
      return envOf();
    },
    begin,
    pawl: (...args) => begin(...args).ended,
  };
}
