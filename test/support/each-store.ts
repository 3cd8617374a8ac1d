import { describe } from "vitest";
import { type TestPawl, type TestPawlOptions, testPawl } from "../../src/testing/test-pawl.ts";

/** A store on which every promise of the kernel is tested. */
export interface Store {
  readonly name: string;
  readonly kind: "pglite" | "postgres" | "pooled";
  open(options: TestPawlOptions): Promise<TestPawl>;
}

const server = process.env.PAWL_TEST_POSTGRES_URL;
const pooler = process.env.PAWL_TEST_PGBOUNCER_URL;

/** Runs a suite on the embedded database and on PostgreSQL; a missing one is listed as skipped. */
export function eachStore(suite: (store: Store) => void): void {
  describe("embedded", () => suite({ name: "embedded", kind: "pglite", open: testPawl }));
  describe.skipIf(server === undefined)("PostgreSQL", () =>
    suite({ name: "PostgreSQL", kind: "postgres", open: (options) => testPawl({ ...options, server }) }),
  );
}

/**
 * The same, and through PgBouncer: for what locks, begins transactions of its own or stays with a connection, which a
 * pooler could break.
 */
export function eachStoreAndPooler(suite: (store: Store) => void): void {
  eachStore(suite);
  describe.skipIf(server === undefined || pooler === undefined)("PostgreSQL through PgBouncer", () =>
    suite({ name: "PgBouncer", kind: "pooled", open: (options) => testPawl({ ...options, server, pooler }) }),
  );
}
