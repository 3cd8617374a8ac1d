import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { expect, test } from "vitest";
import { knownMigrations, migrate } from "../../../src/store/port/migrate.ts";
import { openPostgres } from "../../../src/store/postgres/open.ts";
import { run } from "../../setup/find-program.ts";
import { onPostgres } from "../../setup/suites.ts";
import { type EmptyDatabase, emptyDatabase } from "../../support/empty-database.ts";
import { finishWork, leaveWork, openPawl } from "./work-in-flight.ts";

const folder = new URL("./", import.meta.url);
const known = knownMigrations();

/** The rows that a Pawl left whose newest migration had this number. A release adds one: PAWL_TEST_WRITE_FIXTURE=1. */
const fixtures = readdirSync(folder)
  .flatMap((file) => /^(\d{4})\.sql$/.exec(file)?.slice(1).map(Number) ?? [])
  .sort();

async function migrated(database: EmptyDatabase, version: number): Promise<void> {
  const db = await openPostgres({ url: database.url, connections: 1 });
  await migrate(db, known.slice(0, version));
  await db.close();
}

/** Rows come as they were, whatever migrations have put there and triggers would make of them. */
async function load(database: EmptyDatabase, rows: string): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      "select oid::regclass::text as name from pg_class where relnamespace = 'pawl'::regnamespace and relkind = 'r' and relname <> 'migrations'",
    );
    await client.query(
      `begin; set local session_replication_role = replica; truncate ${tables.map((one) => one.name).join(", ")}`,
    );
    await client.query(rows);
    await client.query("commit");
  } finally {
    await client.end();
  }
}

onPostgres("a database with work in flight", () => {
  test.skipIf(process.env.PAWL_TEST_WRITE_FIXTURE === undefined)(
    "is written for the tests of later versions (PAWL_TEST_WRITE_FIXTURE=1)",
    { timeout: 300_000 },
    async () => {
      await using database = await emptyDatabase();
      await migrated(database, known.length);
      await leaveWork(database.url, async () => {
        const { stdout } = await run(join(process.env.PAWL_TEST_PG_BIN!, "pg_dump"), [
          "--data-only",
          "--rows-per-insert=100",
          "--no-owner",
          "--schema=pawl",
          "--exclude-table=pawl.migrations",
          `--dbname=${database.url}`,
        ]);
        const text = stdout.replace(/^(--.*|SET .*|\\.*)?\n/gm, "").replaceAll(process.cwd(), "/app");
        writeFileSync(new URL(`${String(known.length).padStart(4, "0")}.sql`, folder), text);
      });
    },
  );

  for (const version of fixtures) {
    test(`of a Pawl at migration ${version} is upgraded, and its work goes on`, { timeout: 300_000 }, async () => {
      await using database = await emptyDatabase();
      await migrated(database, version);
      await load(database, readFileSync(new URL(`${String(version).padStart(4, "0")}.sql`, folder), "utf8"));
      const pawl = await openPawl(database.url);
      try {
        expect(await pawl.inspect.verify()).toEqual([]);
        await finishWork(pawl);
        expect(await pawl.inspect.verify()).toEqual([]);
      } finally {
        await pawl.close();
      }
    });
  }
});
