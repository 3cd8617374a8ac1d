import { type ChildProcess, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  watch,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { bundledMajor, inspectFolder } from "../../src/store/pglite/folder.ts";
import { lockFolder, readLock } from "../../src/store/pglite/lock.ts";
import { openPglite, type PgliteDb } from "../../src/store/pglite/open.ts";
import { sql, type Tx, textArray } from "../../src/store/port/db.ts";

const place = mkdtempSync(join(tmpdir(), "pawl-pglite-"));
const snapshot = join(place, "snapshot.tar");
const template = join(place, "template");
const root = new URL("../../", import.meta.url);
const opened: PgliteDb[] = [];
const children: ChildProcess[] = [];
let folders = 0;
/** In memory, for all that needs no folder. */
let db: PgliteDb;

beforeAll(async () => {
  const made = await openPglite({ folder: template });
  await made.script("create table acked (id int primary key, note text not null default 'x')");
  writeFileSync(snapshot, await made.dump());
  await made.close();
  db = await openPglite({ folder: "memory", snapshot });
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await Promise.all(opened.splice(0).map((each) => each.close()));
});

afterAll(async () => {
  await db.close();
  rmSync(place, { recursive: true, force: true });
});

function newFolder(): string {
  return join(place, `folder-${++folders}`);
}

/** Opens a folder; a new one is a copy, which saves the seconds that making a database takes. */
async function open(folder = newFolder()): Promise<PgliteDb> {
  if (!existsSync(folder)) cpSync(template, folder, { recursive: true });
  const made = await openPglite({ folder });
  opened.push(made);
  return made;
}

interface Running {
  readonly pid: number;
  /** The lines that it has written until now. */
  readonly lines: string[];
  line(predicate: (line: string) => boolean): Promise<string>;
  readonly exit: Promise<number | null>;
  kill(): Promise<unknown>;
}

/** Another process. `say` writes a line, which has left the process when it returns. */
function run(code: string, ...args: string[]): Running {
  const prelude = `
    import { writeSync } from "node:fs";
    import { sql } from ${JSON.stringify(new URL("src/store/port/db.ts", root).href)};
    import { openPglite } from ${JSON.stringify(new URL("src/store/pglite/open.ts", root).href)};
    import { lockFolder } from ${JSON.stringify(new URL("src/store/pglite/lock.ts", root).href)};
    const say = (line) => writeSync(1, line + "\\n");
    const [folder, snapshot] = process.argv.slice(1);`;
  const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", prelude + code, ...args], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const lines: string[] = [];
  const reader = createInterface(child.stdout);
  reader.on("line", (line) => lines.push(line));
  const closed = new Promise<number | null>((resolve) => {
    child.on("close", (code) => resolve(code));
  });
  return {
    pid: child.pid!,
    lines,
    line: (predicate) =>
      new Promise((resolve, reject) => {
        const already = lines.find(predicate);
        if (already !== undefined) return resolve(already);
        reader.on("line", (line) => predicate(line) && resolve(line));
        void closed.then((code) => reject(new Error(`The process ended with ${code}: ${lines.join(" | ")}`)));
      }),
    exit: closed,
    kill: () => {
      child.kill("SIGKILL");
      return closed;
    },
  };
}

/** Waits for each name inside the one before. */
async function appears(...names: string[]): Promise<void> {
  for (let depth = 1; depth <= names.length; depth++) {
    const path = join(...names.slice(0, depth));
    await new Promise<void>((resolve) => {
      const watcher = watch(dirname(path), look);
      function look(): void {
        if (!existsSync(path)) return;
        watcher.close();
        resolve();
      }
      look();
    });
  }
}

/** The files that begin with the folder's name and are not the folder. */
function leftBeside(folder: string): string[] {
  return readdirSync(place).filter((name) => name.startsWith(`${basename(folder)}.`));
}

/** What a call threw. */
async function failure(call: Promise<unknown>): Promise<Error & { code?: string; [field: string]: unknown }> {
  return call.then(
    (value) => expect.fail(`It did not fail but gave ${JSON.stringify(value)}.`),
    // What Postgres itself said, behind the code that Pawl's own statements are given.
    (error) => (error.details?.sqlState === undefined ? error : error.cause),
  );
}

async function one(tx: Pick<Tx, "query">, text: string, values?: unknown[]): Promise<unknown> {
  return Object.values((await tx.query(text, values)).rows[0]!)[0];
}

const readAsPg = pg.types.getTypeParser as (oid: number) => (text: string) => unknown;

describe("values", () => {
  test("a statement takes texts, numbers, booleans and null for any type, and gives plain values back", async () => {
    const id = "0190a3c5-7f3e-7c11-8d43-6a1f0c2b9e11";
    const [row] = await db.rows<Record<string, unknown>>(sql`
      select ${1}::int as int, ${"2"}::int as int_of_text, ${2.5}::float8 as float, ${true}::boolean as yes,
        ${null}::text as nothing, ${textArray([id])}::text::uuid[] as ids, ${'{"a":[1,"x"]}'}::jsonb as json,
        ${9007199254740991}::int8 as large, ${"2026-11-15T10:00:00.123Z"}::timestamptz as moment,
        ${textArray(["a,b", 'say "no"', "back\\slash", null, "NULL", ""])}::text::text[] as texts, ${id}::uuid as id`);
    expect(row).toEqual({
      int: 1,
      int_of_text: 2,
      float: 2.5,
      yes: true,
      nothing: null,
      ids: [id],
      json: { a: [1, "x"] },
      large: 9007199254740991,
      moment: new Date("2026-11-15T10:00:00.123Z"),
      texts: ["a,b", 'say "no"', "back\\slash", null, "NULL", ""],
      id,
    });
  });

  test("every type reads as it does with `pg`", async () => {
    const expressions = [
      "true",
      "false",
      "7::int2",
      "-7::int4",
      "'Infinity'::float8",
      "'NaN'::float4",
      "1e-300::float8",
      "12.50::numeric",
      "'\\xdeadbeef'::bytea",
      "'null'::jsonb",
      "'[1,{\"a\":null}]'::json",
      "'2026-03-01'::date",
      "'infinity'::timestamptz",
      "'-infinity'::date",
      "'0044-03-15 BC'::date",
      "'0050-01-01'::date",
      "'2026-02-03 04:05:06.789123'::timestamp",
      "'2026-02-03 04:05:06.789+05:30'::timestamptz",
      "'0099-02-03 04:05:06+00'::timestamptz",
      "'(1.5,-2)'::point",
      "'<(1,2),3>'::circle",
      "'{}'::text[]",
      "'{{1,2},{3,NULL}}'::int[]",
      "'[2:3]={a,b}'::text[]",
      "'{t,f,NULL}'::bool[]",
      "'{1.5,NaN}'::float8[]",
      "'{1.5,2}'::numeric[]",
      "'{9007199254740993}'::int8[]",
      "array['\\x00ff'::bytea]",
      'array[\'{"a": "}"}\'::jsonb]',
      "array['2026-02-03 04:05:06+00'::timestamptz, null]",
      "'{10.0.0.1}'::inet[]",
      "'a'::name",
      "'{a,b}'::name[]",
      "'12:30'::time",
      "'[1,5)'::int4range",
      "1::oid",
      "''::text",
    ]; // prettier-ignore
    for (const expression of expressions) {
      const { value, text, oid } = await db.transaction(async (tx) => ({
        value: await one(tx, `select ${expression}`),
        text: (await one(tx, `select (${expression})::text`)) as string,
        oid: (await one(tx, `select pg_typeof(${expression})::oid::int4`)) as number,
      }));
      const asOutput = { true: "t", false: "f" }[text] ?? text; // A cast spells these out, a column does not.
      expect(value, expression).toEqual(readAsPg(oid)(asOutput));
    }
    expect(await db.rows(sql`select 5::int8 as number`)).toEqual([{ number: 5 }]);
  });

  test("the values of a user's own text arrive as they were", async () => {
    const moment = new Date("2026-11-15T10:00:00.123Z");
    await db.transaction(async (tx) => {
      expect(await one(tx, "select $1::bytea", [Buffer.from([0, 255, 92])])).toEqual(Buffer.from([0, 255, 92]));
      expect(await one(tx, "select $1::bytea[]", [[Buffer.from([0, 1]), null]])).toEqual([Buffer.from([0, 1]), null]);
      expect(await one(tx, "select $1::timestamptz", [moment])).toEqual(moment);
      expect(await one(tx, "select $1::timestamp", [moment])).toEqual(moment);
      expect(await one(tx, "select $1::jsonb", [{ deep: [moment.toISOString(), null] }])).toEqual({
        deep: [moment.toISOString(), null],
      });
      expect(await one(tx, "select $1::int8", [42n])).toBe(42);
      expect(await one(tx, "select $1::text", [undefined])).toBe(null);
      expect(
        await one(tx, "select $1::int[]", [
          [
            [1, 2],
            [3, null],
          ],
        ]),
      ).toEqual([
        [1, 2],
        [3, null],
      ]); // prettier-ignore
      expect(await one(tx, "select $1::text", [new Date(Number.NaN)]).catch(() => "refused")).toBeDefined();
    });
  });

  test("any text comes back unchanged, alone and in a list", async () => {
    const text = fc.string({ unit: "binary" }).filter((each) => !each.includes("\0") && each.isWellFormed());
    const check = fc.asyncProperty(fc.array(fc.option(text)), async (texts) => {
      const list = [...texts, "last"];
      const [row] = await db.rows<{ list: unknown; first: unknown }>(
        sql`select ${textArray(list)}::text::text[] as list, ${list[0]!}::text as first`,
      );
      expect(row).toEqual({ list, first: list[0] });
      expect(await db.transaction((tx) => one(tx, "select $1::text[]", [list]))).toEqual(list);
    });
    await fc.assert(check, { numRuns: 100 });
    const long = "žluťoučký \u{1f40e} ".repeat(100_000);
    expect(await db.rows(sql`select ${long}::text as long`)).toEqual([{ long }]);
  });

  test("the character NUL is refused, and what was sent with it is not disturbed", async () => {
    const [value, text, fine] = await Promise.all([
      failure(db.rows(sql`select ${"a\0b"}::text`)),
      failure(db.rows({ text: "select 1 -- \0", name: "", values: [] })),
      db.rows(sql`select 1 as fine`),
    ]);
    expect(value.code).toBe("22021");
    expect(text.code).toBe("value_not_serializable");
    expect(fine).toEqual([{ fine: 1 }]);
  });
});

describe("failures", () => {
  test("a refusal carries what the database said", async () => {
    await db.script(
      "create table parcels (id int primary key, weight int constraint weight_positive check (weight > 0))",
    );
    await db.rows(sql`insert into parcels values (1, 1)`);
    const twice = await failure(db.rows(sql`insert into parcels values (1, 1)`));
    expect(twice).toBeInstanceOf(Error);
    expect(twice).toMatchObject({ code: "23505", constraint: "parcels_pkey", table: "parcels", schema: "public" });
    expect(twice.detail).toBe("Key (id)=(1) already exists.");
    expect(twice.message).toContain("duplicate key");
    const light = await failure(db.transaction((tx) => tx.query("insert into parcels values ($1, $2)", [2, 0])));
    expect(light).toMatchObject({ code: "23514", constraint: "weight_positive" });
    expect(await failure(db.script("create table parcels (id int)"))).toMatchObject({ code: "42P07" });
  });

  test("of statements that are sent together, one that fails takes no other with it", async () => {
    await db.script("create table together (id int primary key)");
    const results = await Promise.allSettled(
      [1, 2, 2, 3, null].map((id) => db.rows(sql`insert into together values (${id}) returning id`)),
    );
    expect(results.map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
      "rejected",
      "fulfilled",
      "rejected",
    ]);
    expect(await db.rows(sql`select count(*) as count from together`)).toEqual([{ count: 3 }]);
  });

  test("a statement goes on working when its table changes or its preparation is lost", async () => {
    await db.script("create table changing (a int); insert into changing values (1)");
    const read = () => db.rows({ text: "select * from changing", name: "test_changing", values: [] });
    expect([await read(), await read()]).toEqual([[{ a: 1 }], [{ a: 1 }]]);
    await db.script("alter table changing add b int default 2");
    expect(await read()).toEqual([{ a: 1, b: 2 }]);
    await db.transaction((tx) => tx.query("alter table changing drop b"));
    expect(await read()).toEqual([{ a: 1 }]);
    await db.transaction((tx) => tx.query("deallocate all"));
    expect(await read()).toEqual([{ a: 1 }]);
  });

  test("a nesting without end is refused in the database's own words, and the database lives on", async () => {
    await db.script(
      "create function endless(i int) returns int language plpgsql as 'begin return endless(i + 1); end'",
    );
    expect(await failure(db.rows(sql`select ${"[".repeat(200_000)}::jsonb`))).toMatchObject({ code: /22P02|54001/ });
    expect(await failure(db.rows(sql`select endless(1)`))).toMatchObject({ code: "54001" });
    expect(await db.rows(sql`select 1 as fine`)).toEqual([{ fine: 1 }]);
  });

  test("a copy from a standard input that does not exist is refused, and the database lives on", async () => {
    await db.script("create table copied (id int)");
    expect(await failure(db.transaction((tx) => tx.query("copy copied from stdin")))).toMatchObject({ code: "57014" });
    expect(await failure(db.script("select 1; copy copied from stdin; select 2"))).toMatchObject({ code: "57014" });
    expect(await db.transaction((tx) => one(tx, "select 'copy' -- copy"))).toBe("copy");
    expect(await db.rows(sql`select 1 as fine`)).toEqual([{ fine: 1 }]);
  });

  test("a script is done as a whole or not at all", async () => {
    const text = "create table whole (id int); insert into whole values (1); insert into nowhere values (1)";
    expect(await failure(db.script(text))).toMatchObject({ code: "42P01" });
    expect(await db.rows(sql`select to_regclass('whole') is null as absent`)).toEqual([{ absent: true }]);
  });
});

describe("transactions", () => {
  beforeAll(() => db.script("create table moves (id int primary key)"));

  test("what a transaction returns is committed, and what it throws rolls back and comes out as it was thrown", async () => {
    expect(await db.transaction((tx) => tx.rows(sql`insert into moves values (1) returning id`))).toEqual([{ id: 1 }]);
    const thrown = new Error("changed my mind");
    const call = db.transaction(async (tx) => {
      await tx.rows(sql`insert into moves values (2)`);
      expect(await tx.rows(sql`select count(*) as count from moves where id = 2`)).toEqual([{ count: 1 }]);
      throw thrown;
    });
    expect(await failure(call)).toBe(thrown);
    expect(await db.rows(sql`select id from moves where id in (1, 2)`)).toEqual([{ id: 1 }]);
  });

  test("others wait until a transaction ends, and see nothing of it before", async () => {
    const order: string[] = [];
    let outside: Promise<unknown> | undefined;
    await db.transaction(async (tx) => {
      await tx.rows(sql`insert into moves values (10)`);
      outside = db.rows(sql`select count(*) as count from moves where id = 10`).then((rows) => {
        order.push("outside");
        return rows;
      });
      for (let turn = 0; turn < 20; turn++) await nextTurn();
      await tx.rows(sql`delete from moves where id = 10`);
      order.push("inside");
    });
    expect(await outside).toEqual([{ count: 0 }]);
    expect(order).toEqual(["inside", "outside"]);
  });

  test("transactions that are started together run one after the other", async () => {
    await db.script("create table counter (value int); insert into counter values (0)");
    const increments = Array.from({ length: 20 }, () =>
      db.transaction(async (tx) => {
        const [row] = await tx.rows<{ value: number }>(sql`select value from counter`);
        await nextTurn();
        await tx.rows(sql`update counter set value = ${row!.value + 1}`);
      }),
    );
    await Promise.all(increments);
    expect(await db.rows(sql`select value from counter`)).toEqual([{ value: 20 }]);
  });

  test("after a failed statement a transaction takes no other and is not committed, even when the failure was caught", async () => {
    const call = db.transaction(async (tx) => {
      await tx.rows(sql`insert into moves values (20)`);
      expect(await failure(tx.rows(sql`select 1 / 0`))).toMatchObject({ code: "22012" });
      expect(await failure(tx.rows(sql`select 1`))).toMatchObject({ code: "25P02" });
    });
    const error = await failure(call);
    expect(error).toMatchObject({ code: "25P02", cause: { code: "22012" } });
    expect(await db.rows(sql`select id from moves where id = 20`)).toEqual([]);
  });

  test("a transaction that has ended refuses further statements", async () => {
    let kept: Tx | undefined;
    await db.transaction(async (tx) => {
      kept = tx;
      await tx.rows(sql`select 1`);
    });
    expect(await failure(kept!.query("insert into moves values (30)"))).toMatchObject({ code: "not_a_transaction" });
    const byItself = db.transaction(async (tx) => {
      await tx.query("commit");
      await tx.query("insert into moves values (31)");
    });
    expect(await failure(byItself)).toMatchObject({ code: "not_a_transaction" });
    expect(await db.rows(sql`select id from moves where id in (30, 31)`)).toEqual([]);
  });

  test("a transaction that waits for a call outside itself is warned about, and given up in the end", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const warnings: string[] = [];
    const warned = await openPglite({ folder: "memory", snapshot, onWarning: (text) => warnings.push(text) });
    opened.push(warned);
    let outside: Promise<unknown> | undefined;
    const call = failure(
      warned.transaction(async (tx) => {
        await tx.rows(sql`insert into acked values (1)`);
        outside = warned.rows(sql`select id from acked`);
        void nextTurn().then(() => vi.advanceTimersByTime(61_000));
        await outside; // It waits for us.
      }),
    );
    expect(await call).toMatchObject({ code: "25P03" });
    expect(await outside).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining("use its own `tx`")]);
    vi.useRealTimers();
  });

  test("a statement outside a transaction cannot begin one that swallows the others", async () => {
    const begun = failure(db.rows({ text: "begin", name: "", values: [] }));
    const next = db.rows(sql`insert into moves values (40)`);
    expect((await begun).code).toBe("invariant_broken");
    await next;
    await failure(db.transaction((tx) => tx.query("rollback")));
    expect(await db.rows(sql`select id from moves where id = 40`)).toEqual([{ id: 40 }]);
  });
});

describe("the thread", () => {
  test("a long query does not block the event loop", async () => {
    let turns = 0;
    const query = db.rows(sql`select count(*) as count from generate_series(1, 500000)`);
    const running = new AbortController();
    void query.finally(() => running.abort());
    while (!running.signal.aborted) {
      await nextTurn();
      turns++;
    }
    expect(await query).toEqual([{ count: 500_000 }]);
    expect(turns).toBeGreaterThan(100);
  });

  test("an open database does not keep a process from ending, but an answer that is awaited does", async () => {
    const child = run(
      `const db = await openPglite({ folder: "memory", snapshot: folder });
       db.rows(sql\`select count(*) as count from generate_series(1, 100000)\`).then(([row]) => say("counted " + row.count));`,
      snapshot,
    );
    expect(await child.exit).toBe(0);
    expect(child.lines).toEqual(["counted 100000"]);
  });

  test("a closed database refuses every call, after it has answered those made before", async () => {
    const closing = await openPglite({ folder: "memory", snapshot });
    const before = [closing.rows(sql`select 1 as one`), closing.transaction((tx) => tx.rows(sql`select 2 as two`))];
    const closed = closing.close();
    const after = failure(closing.rows(sql`select 3`));
    expect(await Promise.all(before)).toEqual([[{ one: 1 }], [{ two: 2 }]]);
    await closed;
    await closing.close();
    const calls = [
      after,
      failure(closing.rows(sql`select 1`)),
      failure(closing.transaction(async () => {})),
      failure(closing.script("select 1")),
      failure(closing.dump()),
      failure(closing.upkeep()),
    ];
    for (const error of await Promise.all(calls)) expect(error.code).toBe("closed");
  });

  test("a database whose disk fails ends at once, says so, and loses nothing that it had acknowledged", async () => {
    const folder = newFolder();
    const failing = await open(folder);
    await failing.rows(sql`insert into acked values (1)`);
    renameSync(join(folder, "pg_wal"), join(folder, "gone"));
    const sent = failure(failing.rows(sql`select pg_switch_wal(), pg_logical_emit_message(false, '', 'x', true)`));
    const alsoSent = failure(failing.rows(sql`insert into acked values (2)`));
    expect(await sent).toMatchObject({ code: "outcome_unknown", message: expect.stringContaining("PANIC") });
    expect(await alsoSent).toMatchObject({ code: "outcome_unknown" });
    expect(await failure(failing.rows(sql`select 1`))).toMatchObject({ code: "database_unreachable" });
    expect(await failure(failing.transaction(async () => {}))).toMatchObject({ code: "database_unreachable" });
    await failing.close();
    expect(await failure(failing.rows(sql`select 1`))).toMatchObject({ code: "closed" });
    renameSync(join(folder, "gone"), join(folder, "pg_wal"));
    const again = await open(folder);
    expect(await again.rows(sql`select id from acked where id = 1`)).toEqual([{ id: 1 }]);
  });

  test("a database can begin with the dump of another", async () => {
    const first = await openPglite({ folder: "memory", snapshot });
    await first.rows(sql`insert into acked values (7)`);
    const dump = await first.dump({ gzip: true });
    await first.close();
    const second = await openPglite({ folder: "memory", snapshot: dump });
    expect(await second.rows(sql`select id from acked`)).toEqual([{ id: 7 }]);
    await second.close();
    expect(await failure(openPglite({ folder: newFolder(), snapshot: Buffer.from("no dump") }))).toMatchObject({
      code: "folder_unusable",
      message: expect.stringContaining("the snapshot is not one"),
    });
  });

  test("it tells which PGlite and which Postgres it is", async () => {
    const info = await db.info();
    expect(info.postgres).toMatch(new RegExp(`^${bundledMajor}\\.\\d+$`));
    expect(info.pglite).toMatch(/^\d+\.\d+\.\d+$/);
  });
});

describe("durability", () => {
  test("a commit is answered after its sync, a read needs none, and commits that wait together share theirs", async () => {
    const folder = newFolder();
    const synced = await open(folder);
    const settings = await synced.rows(sql`
      select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
        current_setting('full_page_writes') as pages`);
    expect(settings).toEqual([{ fsync: "on", commit: "on", pages: "on" }]);
    const count = async () => (await synced.info()).syncs.wal;

    const start = await count();
    for (let id = 0; id < 10; id++) await synced.rows(sql`insert into acked values (${id})`);
    expect(await count()).toBe(start + 10);
    await synced.transaction(async (tx) => {
      for (let id = 10; id < 20; id++) await tx.rows(sql`insert into acked values (${id})`);
    });
    expect(await count()).toBe(start + 11);
    for (let id = 0; id < 10; id++) await synced.rows(sql`select note from acked where id = ${id}`);
    expect(await count()).toBe(start + 11);
    await Promise.all(Array.from({ length: 100 }, (_, id) => synced.rows(sql`insert into acked values (${100 + id})`)));
    const shared = (await count()) - start - 11;
    expect(shared).toBeGreaterThan(0);
    expect(shared).toBeLessThan(100);
  });

  test("a folder whose last holder was cut off in the middle of signing it opens again", async () => {
    const folder = newFolder();
    cpSync(template, folder, { recursive: true });
    writeFileSync(join(folder, "postmaster.pid"), "");
    expect(await (await open(folder)).rows(sql`select 1 as fine`)).toEqual([{ fine: 1 }]);
  });

  test("a checkpoint brings the data files to the disk", async () => {
    const synced = await open();
    await synced.rows(sql`insert into acked values (1)`);
    const before = (await synced.info()).syncs.other;
    await synced.rows(sql`checkpoint`);
    expect((await synced.info()).syncs.other).toBeGreaterThan(before);
  });

  test("a process that is killed while it writes loses no acknowledged row", { timeout: 120_000 }, async () => {
    const folder = newFolder();
    cpSync(template, folder, { recursive: true });
    const write = `
      const db = await openPglite({ folder });
      const [row] = await db.rows(sql\`select coalesce(max(id), 0) as last from acked\`);
      let id = row.last;
      const writer = async () => {
        for (;;) {
          const mine = ++id;
          await db.rows(sql\`insert into acked values (\${mine}, repeat('x', 500))\`);
          say(String(mine));
        }
      };
      await Promise.all([writer(), writer(), writer()]);`;
    for (const acknowledged of [1, 150, 700]) {
      const child = run(write, folder);
      await child.line(() => child.lines.length >= acknowledged);
      await child.kill();
      const recovered = await openPglite({ folder });
      const kept = await recovered.rows<{ id: number }>(sql`select id from acked`);
      await recovered.close();
      const ids = new Set(kept.map((row) => row.id));
      expect(child.lines.filter((line) => !ids.has(Number(line)))).toEqual([]);
    }
  });

  test("a process that is killed at any point of its first start leaves a folder that the next start makes anew", {
    timeout: 120_000,
  }, async () => {
    const fromSnapshot = [[], ["global"], ["pg_xact"], ["postmaster.pid"]];
    const fromNothing = [
      ["base", "4"],
      ["base", "5"],
    ];
    const states: string[] = [];
    const rounds = [...fromSnapshot, ...fromNothing].map(async (point) => {
      const folder = newFolder();
      const begin = fromNothing.includes(point) ? "{ folder }" : "{ folder, snapshot }";
      const child = run(`await openPglite(${begin}); say('open');`, folder, snapshot);
      await Promise.race([appears(folder, ...point), child.exit]);
      await child.kill();
      states.push(inspectFolder(folder));
      const recovered = await openPglite({ folder, snapshot });
      await recovered.rows(sql`insert into acked values (1)`);
      await recovered.close();
      expect(leftBeside(folder)).toEqual([]);
    });
    await Promise.all(rounds);
    expect(states).toContain("unfinished");
  });
});

describe("upkeep", () => {
  test("tables with many dead rows are vacuumed, and much WAL brings a checkpoint", async () => {
    const folder = newFolder();
    const kept = await open(folder);
    await kept.script(
      "create table hot (id int primary key, value int); insert into hot select n, 0 from generate_series(1, 5000) n",
    );
    await kept.rows(sql`update hot set value = 1`);
    expect(await kept.upkeep()).toEqual({ checkpointed: false, vacuumed: ["public.hot"] });
    expect(await kept.upkeep()).toEqual({ checkpointed: false, vacuumed: [] });
    const bulk = "select pg_logical_emit_message(false, '', repeat('x', 1000000), true) from generate_series(1, 80)";
    // Asked for by the WAL itself; whoever asks meanwhile gets the same report.
    await kept.rows({ text: bulk, name: "", values: [] });
    expect(await kept.upkeep()).toMatchObject({ checkpointed: true });
    await kept.close();
    const again = await open(folder);
    await again.rows(sql`select 1`);
    expect(await again.upkeep()).toEqual({ checkpointed: false, vacuumed: [] });
  });

  test("it waits for a transaction that is open", async () => {
    const kept = await openPglite({ folder: "memory", snapshot });
    opened.push(kept);
    let round: Promise<unknown> | undefined;
    let ended = false;
    await kept.transaction(async (tx) => {
      await tx.rows(sql`insert into acked values (1)`);
      round = kept.upkeep().then(() => expect(ended).toBe(true));
      for (let turn = 0; turn < 20; turn++) await nextTurn();
      await tx.rows(sql`delete from acked`);
      ended = true;
    });
    await round;
  });
});

describe("the lock", () => {
  const dead = { pid: 2 ** 22 - 3, startedAt: "1", host: hostname() };

  test("a second process is refused and told who has the folder, and a killed holder's lock is taken over", async () => {
    const folder = newFolder();
    const holder = run(
      "await openPglite({ folder, snapshot }); say('open'); setInterval(() => {}, 1000);",
      folder,
      snapshot,
    );
    await holder.line((line) => line === "open");
    const refused = await failure(openPglite({ folder }));
    expect(refused).toMatchObject({ code: "folder_locked", details: { pid: holder.pid } });
    expect(refused.message).toContain(`process ${holder.pid}`);
    expect(refused.message).toContain("Stop that process");
    expect(await readLock(folder)).toMatchObject({ pid: holder.pid, host: hostname(), liveness: "alive" });
    await holder.kill();
    expect(await readLock(folder)).toMatchObject({ pid: holder.pid, liveness: "dead" });
    await open(folder);
    expect(await readLock(folder)).toMatchObject({ pid: process.pid });
  });

  test("the same process cannot open a folder twice, also not by another name of it", async () => {
    const folder = newFolder();
    const first = await open(folder);
    symlinkSync(folder, `${folder}-link`);
    for (const name of [folder, `${folder}/`, `${folder}-link`]) {
      expect(await failure(openPglite({ folder: name }))).toMatchObject({ code: "folder_locked" });
    }
    expect((await failure(openPglite({ folder }))).message).toContain("this very process");
    expect(await first.rows(sql`select 1 as fine`)).toEqual([{ fine: 1 }]);
    await first.close();
    expect(existsSync(`${folder}.lock`)).toBe(false);
  });

  test("a folder that was copied together with its lock is not open, and the original stays so", async () => {
    const folder = newFolder();
    const original = await open(folder);
    const copy = newFolder();
    cpSync(`${folder}.lock`, `${copy}.lock`);
    expect(await readLock(copy)).toMatchObject({ pid: process.pid, liveness: "dead" });
    const other = await open(copy);
    expect(await readLock(folder)).toMatchObject({ liveness: "alive" });
    expect(await readLock(copy)).toMatchObject({ liveness: "alive" });
    expect(await failure(openPglite({ folder: copy }))).toMatchObject({ code: "folder_locked" });
    await other.close();
    await original.close();
  });

  test("the CLI learns where the holder listens", async () => {
    const folder = newFolder();
    const holder = await open(folder);
    await holder.announce(`${folder}.socket`);
    expect(await readLock(folder)).toMatchObject({ pid: process.pid, socket: `${folder}.socket`, liveness: "alive" });
    await holder.close();
    expect(await readLock(folder)).toBeUndefined();
    expect(await readLock(join(folder, "no", "such", "place"))).toBeUndefined();
  });

  test.runIf(process.platform === "linux")(
    "a number that was given to another process since is not taken for the holder",
    async () => {
      const folder = newFolder();
      writeFileSync(`${folder}.lock`, JSON.stringify({ ...dead, id: "reused", pid: process.ppid }));
      await (await lockFolder(folder)).release();
      expect(existsSync(`${folder}.lock`)).toBe(false);
    },
  );

  test("a holder on another machine is never robbed", async () => {
    const folder = newFolder();
    writeFileSync(`${folder}.lock`, JSON.stringify({ ...dead, id: "far", host: "elsewhere" }));
    const refused = await failure(lockFolder(folder));
    expect(refused.code).toBe("folder_locked");
    expect(refused.message).toContain("elsewhere");
    expect(refused.message).toContain(`delete ${folder}.lock`);
  });

  test("a lock that cannot be read is respected while it may be in the making, and replaced later", async () => {
    for (const content of ["", '{"pid": 1', "[]", "not ours"]) {
      const folder = newFolder();
      writeFileSync(`${folder}.lock`, content);
      expect(await failure(lockFolder(folder))).toMatchObject({ code: "folder_locked" });
      utimesSync(`${folder}.lock`, 0, 0);
      await (await lockFolder(folder)).release();
    }
  });

  test("of many who find a dead holder, exactly one takes over, also after one that died while it did", async () => {
    for (let round = 0; round < 60; round++) {
      const folder = newFolder();
      writeFileSync(`${folder}.lock`, JSON.stringify({ ...dead, id: "first" }));
      if (round % 3 > 0) writeFileSync(`${folder}.lock-after-first`, JSON.stringify({ ...dead, id: "second" }));
      if (round % 3 > 1) writeFileSync(`${folder}.lock-after-second`, JSON.stringify({ ...dead, id: "third" }));
      const results = await Promise.allSettled(Array.from({ length: 8 }, () => lockFolder(folder)));
      const won = results.filter((result) => result.status === "fulfilled");
      expect(won).toHaveLength(1);
      await won[0]!.value.release();
      expect(leftBeside(folder)).toEqual([]);
    }
  });

  test("a draft is never taken for a claim, which whoever wins removes", async () => {
    const folder = newFolder();
    writeFileSync(`${folder}.lock`, JSON.stringify({ ...dead, id: "gone" }));
    const seen = new Set<string>();
    const watcher = watch(place, (_, name) => seen.add(name ?? ""));
    const lock = await lockFolder(folder);
    const claim = `${basename(folder)}.lock-after-gone`;
    await vi.waitFor(() => expect(seen).toContain(claim));
    await lock.release();
    await vi.waitFor(() => expect(leftBeside(folder)).toEqual([]));
    watcher.close();
    expect([...seen].filter((name) => name.startsWith(claim))).toEqual([claim]);
  });

  test("of several processes that find a dead holder at once, exactly one takes over", async () => {
    const folder = newFolder();
    const go = `${folder}-go`;
    writeFileSync(`${folder}.lock`, JSON.stringify({ ...dead, id: "gone" }));
    const take = `
      import { existsSync } from "node:fs";
      say("ready");
      while (!existsSync(snapshot)) await new Promise(setImmediate);
      say(await lockFolder(folder).then(() => "taken", (error) => error.code));
      setInterval(() => {}, 1000);`;
    const takers = Array.from({ length: 4 }, () => run(take, folder, go));
    await Promise.all(takers.map((taker) => taker.line((line) => line === "ready")));
    writeFileSync(go, "");
    const outcomes = await Promise.all(takers.map((taker) => taker.line((line) => line !== "ready")));
    expect(outcomes.sort()).toEqual(["folder_locked", "folder_locked", "folder_locked", "taken"]);
  });
});

/** Why a folder is refused. */
async function refused(folder: string): Promise<string> {
  const error = await failure(openPglite({ folder }));
  expect(error.code).toBe("folder_unusable");
  expect(existsSync(`${folder}.lock`)).toBe(false);
  return error.message;
}

describe("folders that are not for us", () => {
  test("a folder with other things in it is refused and left untouched", async () => {
    const folder = newFolder();
    mkdirSync(folder);
    writeFileSync(join(folder, "thesis.txt"), "precious");
    expect(await refused(folder)).toContain("thesis.txt");
    expect(readdirSync(folder)).toEqual(["thesis.txt"]);
  });

  test("a folder of another version of Postgres is refused with both versions", async () => {
    const folder = newFolder();
    mkdirSync(folder);
    writeFileSync(join(folder, "PG_VERSION"), "17\n");
    const message = await refused(folder);
    expect(message).toContain("PostgreSQL 17");
    expect(message).toContain(`PostgreSQL ${bundledMajor}`);
    expect(readdirSync(folder)).toEqual(["PG_VERSION"]);
  });

  test("the folder of a running server is refused", async () => {
    const folder = newFolder();
    mkdirSync(folder);
    writeFileSync(join(folder, "PG_VERSION"), `${bundledMajor}\n`);
    writeFileSync(join(folder, "postmaster.pid"), "4711\n");
    expect(await refused(folder)).toContain("PostgreSQL server");
    expect(readFileSync(join(folder, "postmaster.pid"), "utf8")).toBe("4711\n");
  });

  test("a folder with a damaged database is refused with what the database says", async () => {
    const folder = newFolder();
    cpSync(template, folder, { recursive: true });
    writeFileSync(join(folder, "global", "pg_control"), "");
    const message = await refused(folder);
    expect(message).toContain("did not start");
    expect(message).toContain('PANIC:  could not read file "global/pg_control"');
  });

  test("a file in the place of the folder, or of one above it, is refused", async () => {
    const file = newFolder();
    writeFileSync(file, "");
    expect(await refused(file)).toContain("it is a file");
    expect(await refused(join(file, "below"))).toContain(join(file, "below"));
  });

  test("a place where nothing can be written is refused", async () => {
    expect(await refused("/proc/pawl")).toContain("/proc/pawl");
    if (process.getuid?.() === 0) return; // Nothing is closed to root.
    const closed = newFolder();
    mkdirSync(closed, { mode: 0o500 });
    expect(await refused(join(closed, "data"))).toContain(closed);
  });
});
