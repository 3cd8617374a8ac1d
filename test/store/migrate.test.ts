import { createPawl, lifecycle, type Pawl } from "pawl";
import { describe, expect, test, vi } from "vitest";
import { openOn } from "../../src/api/open/create.ts";
import { openPglite } from "../../src/store/pglite/open.ts";
import { type Db, sql } from "../../src/store/port/db.ts";
import { knownMigrations, type Migration, migrate, pendingMigrations } from "../../src/store/port/migrate.ts";
import { openPostgres } from "../../src/store/postgres/open.ts";
import { onPostgres, throughPgbouncer } from "../setup/suites.ts";
import { emptyDatabase } from "../support/empty-database.ts";

const door = lifecycle("door", {
  initial: "open",
  states: { open: { forever: true, on: { shut: "shut" } }, shut: { final: "success" } },
});

const known = knownMigrations();
const names = known.map((one) => one.name);
const newest = known.at(-1)!.version;

function next(name: string, text: string, version = newest + 1): Migration {
  return { version, name, text, checksum: `sum of ${text.length}`, breaking: true };
}

/** One that lets processes of the version before go on. */
function additive(name: string, text: string): Migration {
  return { ...next(name, text), breaking: false };
}

async function applied(db: Db): Promise<string[]> {
  return (await db.rows<{ name: string }>(sql`select name from pawl.migrations order by version`)).map(
    (row) => row.name,
  );
}

async function exists(db: Db, table: string): Promise<boolean> {
  const [row] = await db.rows<{ found: boolean }>(sql`select to_regclass(${table}::text) is not null as found`);
  return row!.found;
}

/** What holds of an empty database, whichever it is. */
function suite(open: () => Promise<{ db: Db; [Symbol.asyncDispose](): Promise<void> }>): void {
  test("an empty database gets every migration, in order, and a second time none", async () => {
    await using store = await open();
    expect(await pendingMigrations(store.db)).toHaveLength(known.length);
    expect(await migrate(store.db)).toEqual(names);
    expect(await migrate(store.db)).toEqual([]);
    expect(await pendingMigrations(store.db)).toEqual([]);
    expect(await applied(store.db)).toEqual(names);
  });

  test("tasks of a Pawl before `tasks_in_place` wait, are due and run on as they did, and count where they run", async () => {
    await using store = await open();
    await migrate(store.db, known.slice(0, names.indexOf("tasks_in_place")));
    await store.db.script(`
      insert into pawl.tasks (id, instance_id, kind, lane, queue, due_at, worker, leased_until, visit, since)
      select gen_random_uuid(), gen_random_uuid(), 'effect', 'door@1:after', queue, due_at::timestamptz, worker,
        leased_until::timestamptz, 1, now()
      from (values ('door@1:after', null, null, null), (null, '2030-01-01', null, null), (null, null, 'w', '2030-01-02'))
        as old(queue, due_at, worker, leased_until)`);
    await migrate(store.db);
    expect(
      await store.db.rows(
        sql`select queue, gate, due_at is not null as due, worker from pawl.tasks order by worker, due`,
      ),
    ).toEqual([
      { queue: null, gate: "door@1:after", due: false, worker: "w" },
      { queue: "door@1:after", gate: null, due: false, worker: null },
      { queue: "door@1:after", gate: null, due: true, worker: null },
    ]);
  });

  test("a migration that fails leaves nothing of itself, and can be mended and tried again", async () => {
    await using store = await open();
    const { db } = store;
    const good = next("good", "create table pawl.good (a int);");
    for (const broken of ["select 1 / 0;", "create table;", "insert into pawl.nowhere values (1);", "raise;"]) {
      const bad = next("bad", `create table pawl.half (a int); ${broken}`, newest + 2);
      await expect(migrate(db, [...known, good, bad])).rejects.toMatchObject({
        code: "migration_failed",
        message: expect.stringMatching(/^Migration \d+ \(bad\) failed, and was rolled back: /),
        details: { version: bad.version, name: "bad" },
      });
      expect(await exists(db, "pawl.half")).toBe(false);
      expect(await applied(db)).toEqual([...names, "good"]);
    }
    const mended = next("mended", "create table pawl.half (a int);", newest + 2);
    expect(await migrate(db, [...known, good, mended])).toEqual(["mended"]);
    expect(await exists(db, "pawl.half")).toBe(true);
  });

  test("many who migrate at the same time each find it done, and every migration is applied once", async () => {
    await using store = await open();
    const results = await Promise.all(Array.from({ length: 10 }, () => migrate(store.db)));
    expect(results.flat().sort()).toEqual([...names].sort());
    expect(await applied(store.db)).toEqual(names);
  });

  test("a breaking migration of a newer Pawl keeps an older one from starting, which then changes nothing", async () => {
    await using store = await open();
    const { db } = store;
    await migrate(db, [...known, next("from_the_future", "create table pawl.future (a int);")]);
    const refusal = {
      code: "migration_newer",
      message: expect.stringMatching(
        /newer Pawl, and its migration \d+ \(from_the_future\) is breaking.* Upgrade this process/,
      ),
      details: { database: newest + 1, known: newest },
    };
    await expect(migrate(db)).rejects.toMatchObject(refusal);
    await expect(pendingMigrations(db)).rejects.toMatchObject(refusal);
    await expect(openOn(db, { lifecycles: [door] })).rejects.toMatchObject(refusal);
  });

  test("K13 after additive migrations of a newer Pawl an older one starts, works and applies none of its own", async () => {
    await using store = await open();
    const { db } = store;
    const newer = [
      ...known,
      additive("more_room", "alter table pawl.instances add column room int; create table pawl.rooms (a int);"),
    ];
    expect(await migrate(db, newer)).toEqual([...names, "more_room"]);
    expect(await migrate(db)).toEqual([]);
    expect(await pendingMigrations(db)).toEqual([]);
    const { pawl } = await openOn(db, { lifecycles: [door] });
    await pawl.start(door, { key: "d" });
    expect(await pawl.send(door, "d", "shut")).toMatchObject({ state: "shut" });
    expect(await applied(db)).toEqual([...names, "more_room"]);
  });

  test("K13 a breaking migration counts also when an additive one came after it", async () => {
    await using store = await open();
    const broken = next("gone", "create table pawl.gone (a int);");
    const after = { ...additive("room", "create table pawl.room (a int);"), version: newest + 2 };
    await migrate(store.db, [...known, broken, after]);
    await expect(migrate(store.db)).rejects.toMatchObject({
      code: "migration_newer",
      details: { database: newest + 1 },
    });
  });

  test("a database of a Pawl from before migrations were marked is migrated, and what it has counts as breaking", async () => {
    await using store = await open();
    const { db } = store;
    await migrate(db);
    await db.script("alter table pawl.migrations drop column breaking");
    expect(await pendingMigrations(db)).toEqual([]);
    expect(await migrate(db, [...known, additive("room", "create table pawl.room (a int);")])).toEqual(["room"]);
    expect(await migrate(db)).toEqual([]);
    await expect(migrate(db, known.slice(0, -1))).rejects.toMatchObject({ code: "migration_newer" });
  });

  test("a migration that was applied with another text is told, and nothing is done about it", async () => {
    await using store = await open();
    const { db } = store;
    await migrate(db);
    const edited = known.map((one, index) => (index === 0 ? { ...one, checksum: "edited" } : one));
    await expect(migrate(db, [...edited, next("more", "create table pawl.more (a int);")])).rejects.toMatchObject({
      code: "migration_changed",
      message: expect.stringContaining(
        `Migration 1 (${names[0]}) was applied with another text than this Pawl carries`,
      ),
      details: { version: 1, known: "edited" },
    });
    expect(await exists(db, "pawl.more")).toBe(false);
  });
}

test("migrations are numbered from 1 without a gap, and tell what they are", () => {
  expect(known.map((one) => one.version)).toEqual(known.map((_, index) => index + 1));
  for (const { text } of known) expect(text).toMatch(/^-- \S/);
});

test("migrations from 38 on say whether older processes can go on, and none that takes something away calls itself additive", () => {
  for (const { version, name, text, breaking } of known.filter((one) => one.version > 37)) {
    expect(text, `${name} has a line that begins with "-- Additive: " or "-- Breaking: "`).toMatch(
      /^-- (Additive|Breaking): \S/m,
    );
    const takesAway =
      /\b(drop\s+(table|column)|rename\s+(to|column)|set\s+not\s+null|alter\s+column\s+\w+\s+type)\b/i.test(
        text.replace(/--.*$/gm, ""),
      );
    if (takesAway) expect(breaking, `migration ${version} (${name}) takes something away`).toBe(true);
  }
});

describe("embedded", () => {
  suite(async () => {
    const db = await openPglite({ folder: "memory" });
    return { db, [Symbol.asyncDispose]: () => db.close() };
  });
});

onPostgres("PostgreSQL", () => {
  suite(async () => {
    const empty = await emptyDatabase();
    const db = await openPostgres({ url: empty.url });
    return {
      db,
      async [Symbol.asyncDispose]() {
        await db.close();
        await empty[Symbol.asyncDispose]();
      },
    };
  });

  test("a migration may take longer than any other statement", async () => {
    await using empty = await emptyDatabase();
    const db = await openPostgres({ url: empty.url, answerWithinMs: 500 });
    try {
      await migrate(db);
      const slow = next(
        "slow",
        "select pg_sleep(1); create table pawl.timeouts as select current_setting('statement_timeout') as statement;",
      );
      expect(await migrate(db, [...known, slow])).toEqual(["slow"]);
      expect(await db.rows(sql`select statement from pawl.timeouts`)).toEqual([{ statement: "0" }]);
    } finally {
      await db.close();
    }
  });

  test("a migration waits only shortly for a table that is in use, so that others can use it, and is tried again", async () => {
    await using empty = await emptyDatabase();
    const db = await openPostgres({ url: empty.url });
    try {
      await migrate(db);
      const waiting = async () => {
        const [row] = await db.rows<{ waits: boolean }>(
          sql`select exists (select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()) as waits`,
        );
        return row!.waits;
      };
      let migrated: Promise<string[]> | undefined;
      await db.transaction(async (tx) => {
        await tx.query("lock table pawl.instances in access share mode");
        migrated = migrate(db, [...known, additive("room", "alter table pawl.instances add column room int;")]);
        await vi.waitUntil(waiting, { timeout: 30_000 });
        await vi.waitUntil(async () => !(await waiting()), { timeout: 30_000 }); // It has given up for now.
      });
      expect(await migrated).toEqual(["room"]);
    } finally {
      await db.close();
    }
  });

  test("ten Pawls opened at once on an empty database all work", async () => {
    await using empty = await emptyDatabase();
    await tenAtOnce(empty.url);
  });
});

throughPgbouncer("PostgreSQL through PgBouncer", () => {
  test("ten Pawls opened at once on an empty database all work", async () => {
    await using empty = await emptyDatabase();
    await tenAtOnce(empty.pooled!);
  });
});

async function tenAtOnce(url: string): Promise<void> {
  const options = { database: url, lifecycles: [door], connections: 2 };
  const pawls: Pawl[] = await Promise.all(Array.from({ length: 10 }, () => createPawl(options)));
  try {
    const started = await Promise.all(pawls.map((pawl, index) => pawl.start(door, { key: `d${index}` })));
    expect(started.every((one) => one.created)).toBe(true);
    // Each sees and moves what another one has started.
    await Promise.all(pawls.map((pawl, index) => pawl.send(door, `d${(index + 1) % 10}`, "shut")));
    expect(await pawls[0]!.inspect.counts(door)).toEqual({ shut: 10 });
    const db = await openPostgres({ url });
    expect(await applied(db)).toEqual(names);
    await db.close();
  } finally {
    await Promise.all(pawls.map((pawl) => pawl.close()));
  }
}
