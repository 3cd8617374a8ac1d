import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { job } from "pawl";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openOn } from "../../src/api/open/create.ts";
import { shipDatabase, shippedDatabase } from "../../src/store/pglite/new-database.ts";
import { openPglite } from "../../src/store/pglite/open.ts";
import { pendingMigrations } from "../../src/store/port/migrate.ts";

let place: string;
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), "pawl-ship-"));
  mkdirSync(join(place, "shipped"));
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

const tidy = job("tidy", { run: () => {} });

test("a database that was shipped is opened with its schema, and works like one that was made here", async () => {
  const folder = join(place, "shipped");
  writeFileSync(join(folder, "new-database-0123456789abcdef.tar.gz"), "of an older version");
  expect(shippedDatabase(folder)).toBeUndefined();
  const path = await shipDatabase(folder);
  expect(shippedDatabase(folder)).toBe(path);
  expect(readdirSync(folder), "older ones and half-written ones are gone").toHaveLength(1);
  expect(await shipDatabase(folder), "once is enough").toBe(path);
  const db = await openPglite({ folder: join(place, "db"), snapshot: path });
  expect(await pendingMigrations(db)).toEqual([]);
  const { pawl } = await openOn(db, { lifecycles: [tidy], migrate: false, logger: false });
  await pawl.enqueue(tidy, {}, { key: "k" });
  pawl.work();
  expect(await pawl.wait(tidy, "k")).toMatchObject({ outcome: "success" });
  expect(await pawl.inspect.verify()).toEqual([]);
  await pawl.close();
}, 120_000);
