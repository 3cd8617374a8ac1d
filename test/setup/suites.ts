import { describe } from "vitest";

/**
 * Suites that need a server are named as skipped where it is missing, never left out in silence:
 *
 * ```ts
 * onPostgres("a lease is held by one worker", () => { test("…", …); });
 * ```
 */
export const onPostgres = describe.skipIf(process.env.PAWL_TEST_POSTGRES_URL === undefined);

/** Through a pooler in transaction mode. */
export const throughPgbouncer = describe.skipIf(process.env.PAWL_TEST_PGBOUNCER_URL === undefined);

/** With a PostgreSQL of its own, from `startPostgres`. */
export const onOwnPostgres = describe.skipIf(process.env.PAWL_TEST_PG_BIN === undefined);
