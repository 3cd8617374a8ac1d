import { createPawl, type Pawl } from "pawl";
import { expect, test } from "vitest";
import { sql } from "../../src/store/port/db.ts";
import { openPostgres } from "../../src/store/postgres/open.ts";
import { newPostgresStore } from "../../src/testing/stores.ts";
import { onPostgres } from "../setup/suites.ts";
import { mixedLoad, opinions, order, part } from "./mixed-load.ts";

interface Prepared {
  readonly all: number;
  readonly moves: number;
  readonly starts: number;
}

/** How many statements the only connection has prepared, and how many of them write moves and starts. */
async function preparedOf(pawl: Pawl): Promise<Prepared> {
  const { rows } = await pawl.transaction((tx) =>
    tx.query<Prepared>(`
      select count(*)::int as all,
        count(*) filter (where statement ~ 'update pawl.instances as instance')::int as moves,
        count(*) filter (where statement ~ 'insert into pawl.instances')::int as starts
      from pg_prepared_statements`),
  );
  return rows[0]!;
}

onPostgres("prepared statements", () => {
  test("a connection has few of them after a mixed load", { timeout: 300_000 }, async () => {
    const store = await newPostgresStore(process.env.PAWL_TEST_POSTGRES_URL!);
    const pawl = await createPawl({
      database: store.url!,
      connections: 1,
      lifecycles: [order, part],
      queues: [opinions],
      logger: false,
    });
    try {
      await pawl.people.upsertLabeler({ id: "ada" });
      await pawl.people.upsertLabeler({ id: "bob" });
      const worker = pawl.work({ concurrency: 16 });
      await mixedLoad(pawl, 0);
      await mixedLoad(pawl, 1_000);
      const { all, moves, starts } = await preparedOf(pawl);
      expect(moves).toBeLessThanOrEqual(6);
      expect(starts).toBeLessThanOrEqual(7); // Two of them lease the first step.
      expect(all).toBeLessThan(100);
      await worker.stop();
    } finally {
      await pawl.close();
      await store.dispose();
    }
  });

  test("a statement whose columns a migration changed is prepared anew, and all others stay prepared", async () => {
    const store = await newPostgresStore(process.env.PAWL_TEST_POSTGRES_URL!);
    const db = await openPostgres({ url: store.url!, connections: 1 });
    try {
      await db.script("create table pawl.room (a int)");
      const read = sql`select * from pawl.room`;
      const prepared = () =>
        db.rows<{ name: string }>(sql`select name from pg_prepared_statements where statement = ${read.text}`);
      expect(await db.rows(read)).toEqual([]);
      expect(await prepared()).toHaveLength(1);
      await db.script("alter table pawl.room add column b int; insert into pawl.room values (1, 2)");
      expect(await db.rows(read)).toEqual([{ a: 1, b: 2 }]);
      expect(await db.rows(read)).toEqual([{ a: 1, b: 2 }]);
      expect(await prepared()).toHaveLength(1);
    } finally {
      await db.close();
      await store.dispose();
    }
  });
});
