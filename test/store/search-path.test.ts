import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createPawl, lifecycle } from "pawl";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Pawl } from "../../src/api/pawl.ts";
import type { Db } from "../../src/store/port/db.ts";
import { openPostgres } from "../../src/store/postgres/open.ts";
import { readReplication } from "../../src/views/replication.ts";
import { readRole } from "../../src/views/role.ts";
import { onPostgres } from "../setup/suites.ts";
import { emptyDatabase } from "../support/empty-database.ts";

const parcel = lifecycle("parcel", {
  data: z.object({ kilos: z.number() }),
  initial: "packed",
  states: {
    packed: {
      forever: true,
      on: { sent: { to: "away", before: ({ tx, key }) => tx.query("insert into notes values ($1)", [key]) } },
    },
    away: { final: "success" },
  },
});

async function asRole<T>(url: string, read: (db: Db) => Promise<T>): Promise<T> {
  const db = await openPostgres({ url, connections: 1 });
  try {
    return await read(db);
  } finally {
    await db.close();
  }
}

/**
 * Overloads that fit a call better than what is built in, in a schema that everybody's search path begins with. Each tells on
 * whoever calls it.
 */
const hostile = `
  create table public.victims (role text, what text);
  create table public.notes (key text);
  create function public.unnest(list text[]) returns setof text language plpgsql as $$
    begin insert into public.victims values (current_user, 'unnest text'); return query select pg_catalog.unnest(list); end $$;
  create function public.unnest(list uuid[]) returns setof uuid language plpgsql as $$
    begin insert into public.victims values (current_user, 'unnest uuid'); return query select pg_catalog.unnest(list); end $$;
  create function public.to_json(given text) returns json language plpgsql as $$
    begin insert into public.victims values (current_user, 'to_json'); return pg_catalog.to_json(given); end $$;
  create function public.round(given float8) returns float8 language plpgsql as $$
    begin insert into public.victims values (current_user, 'round'); return pg_catalog.round(given); end $$;
  create function public.hijack(one float8, other int) returns float8 language plpgsql as $$
    begin insert into public.victims values (current_user, '*'); return one operator(pg_catalog.*) other::float8; end $$;
  create operator public.* (leftarg = float8, rightarg = int, function = public.hijack);
  create function public.joined(one text, other bigint) returns text language plpgsql as $$
    begin insert into public.victims values (current_user, '||'); return one operator(pg_catalog.||) other::text; end $$;
  create operator public.|| (leftarg = text, rightarg = bigint, function = public.joined);`;

onPostgres("where Pawl's statements look for names", () => {
  let database: Awaited<ReturnType<typeof emptyDatabase>>;
  let pawl: Pawl;
  let attacker: pg.Client;
  beforeAll(async () => {
    database = await emptyDatabase();
    attacker = new pg.Client({ connectionString: database.url });
    await attacker.connect();
    pawl = await createPawl({ database: database.url, lifecycles: [parcel], logger: false });
    await attacker.query(hostile);
    // On a path that is not pinned, the attack succeeds.
    await attacker.query("select unnest('{a}'::text[]), to_json('a'::text), 1.5::float8 * 2, 'a' || 1::bigint");
    expect(await victims()).toHaveLength(4);
    await attacker.query("truncate public.victims");
  });
  afterAll(async () => {
    await pawl?.close();
    await attacker?.end();
    await database?.[Symbol.asyncDispose]();
  });

  async function victims(): Promise<unknown[]> {
    return (await attacker.query("select distinct what from public.victims order by what")).rows;
  }

  test("nothing that another role puts on the path is called", async () => {
    const worker = pawl.work({ concurrency: 1 });
    await pawl.startMany(parcel, [
      { key: "a", data: { kilos: 1 } },
      { key: "b", data: { kilos: 2 } },
    ]);
    await pawl.send(parcel, "a", "sent");
    await pawl.list(parcel);
    await pawl.inspect.overview();
    await pawl.lanes.list();
    await pawl.people.createQueue("q", { label: { type: "object" } } as never);
    await pawl.people.addMany("q", [{ data: 1 }, { data: 2 }]);
    await pawl.people.next("q", "ada");
    expect(await pawl.inspect.verify()).toEqual([]);
    await worker.stop();
    expect(await victims()).toEqual([]);
  });

  test("also inside a transaction, where a user's own statements find what is the user's", async () => {
    await pawl.transaction(async (tx) => {
      await tx.query("insert into notes values ('one')");
      await pawl.start(parcel, { key: "d", data: { kilos: 3 }, tx });
      await pawl.send(parcel, "d", "sent", { tx });
      await expect(pawl.send(parcel, "d", "sent", { tx })).rejects.toMatchObject({ code: "transition_refused" });
      await tx.query("insert into notes values ('two')");
      await tx.query("set local search_path = pg_catalog, public");
      expect(await pawl.get(parcel, "d", { tx })).toMatchObject({ state: "away" });
      expect((await tx.query("show search_path")).rows).toEqual([{ search_path: "pg_catalog, public" }]);
    });
    expect(await victims()).toEqual([]);
    const { rows } = await attacker.query("select key from public.notes where key in ('one', 'two', 'd') order by key");
    expect(rows).toEqual([{ key: "d" }, { key: "one" }, { key: "two" }]);
  });

  test("on a connection of the user's own, whose path comes back after each call", async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      await client.query("begin; set local search_path = public, pg_catalog");
      await pawl.start(parcel, { key: "e", data: { kilos: 3 }, tx: client });
      await pawl.send(parcel, "e", "sent", { tx: client });
      expect(await pawl.get(parcel, "e", { tx: client })).toMatchObject({ state: "away" });
      await pawl.trySend(parcel, "e", "sent", { tx: client });
      const { rows } = await client.query("show search_path");
      expect(rows).toEqual([{ search_path: "public, pg_catalog" }]);
      await client.query("commit");
    } finally {
      await client.end();
    }
    expect(await victims()).toEqual([]);
    expect((await attacker.query("select 1 from notes where key = 'e'")).rows).toHaveLength(1);
  });

  test("every connection is pinned, also one whose URL brings settings of its own", async () => {
    const url = new URL(database.url);
    url.searchParams.set("options", "-c search_path=public -c work_mem=8MB");
    const db = await openPostgres({ url: url.href });
    const read = {
      text: "select current_setting('search_path') as path, current_setting('work_mem') as memory",
      name: "",
      values: [],
    };
    expect(await db.rows(read)).toEqual([{ path: "pg_catalog, pg_temp", memory: "8MB" }]);
    await db.transaction(async (tx) => {
      expect(await tx.rows(read)).toEqual([{ path: "pg_catalog, pg_temp", memory: "8MB" }]);
      expect((await tx.query(read.text)).rows).toEqual([{ path: "public", memory: "8MB" }]);
      expect(await tx.rows(read)).toEqual([{ path: "pg_catalog, pg_temp", memory: "8MB" }]);
    });
    await db.close();
  });

  test("a role with no more rights than the guide gives can do everything but migrate", async () => {
    const guide = readFileSync(new URL("../../docs/guides/database-roles.md", import.meta.url), "utf8");
    const grants = [...guide.matchAll(/```sql\n([^`]*)```/g)]
      .map(([, text]) => text)
      .find((text) => text!.startsWith("grant"));
    const role = `pawl_app_${randomBytes(4).toString("hex")}`;
    await attacker.query(`create role ${role} login password 'secret'`);
    try {
      await attacker.query(grants!.replaceAll("pawl_app", role).replaceAll("pawl_owner", "current_user"));
      await attacker.query(`grant insert on public.notes to ${role}`);
      const url = Object.assign(new URL(database.url), { username: role, password: "secret" });
      const app = await createPawl({ database: url.href, lifecycles: [parcel], logger: false });
      const worker = app.work();
      await app.start(parcel, { key: "least", data: { kilos: 1 } });
      await app.send(parcel, "least", "sent");
      await app.people.addMany("q", [{ data: 3 }]);
      expect(await app.people.next("q", "bob")).toMatchObject({ assignment: { labelerId: "bob" } });
      expect(await app.inspect.verify()).toEqual([]);
      await worker.stop();
      await app.close();
      expect(await asRole(url.href, readRole)).toEqual({
        name: role,
        superuser: false,
        owns_schema: false,
        lacks: [],
        search_path: "pg_catalog, pg_temp",
      });
      expect(await asRole(url.href, readReplication)).toMatchObject({ sees: false, role });
      await attacker.query(`revoke update on pawl.tasks from ${role}; grant pg_read_all_stats to ${role}`);
      expect(await asRole(url.href, readRole)).toMatchObject({ lacks: ["table tasks"] });
      expect(await asRole(url.href, readReplication)).toMatchObject({ sees: true, role });
      const client = new pg.Client({ connectionString: url.href });
      await client.connect();
      await expect(client.query("create table pawl.mine (id int)")).rejects.toMatchObject({ code: "42501" });
      await client.end();
    } finally {
      await attacker.query(`drop owned by ${role}; drop role ${role}`);
    }
  });

  test("every function is pinned, or has its names bound", async () => {
    const { rows } = await attacker.query(`
      select oid::regprocedure::text as name from pg_proc
      where pronamespace = 'pawl'::regnamespace and prosqlbody is null
        and not coalesce(array_to_string(proconfig, ';') like '%search_path=pg_catalog, pg_temp%', false)`);
    expect(rows, "Add `set search_path = pg_catalog, pg_temp` to it.").toEqual([]);
  });
});

describe("a statement", () => {
  test("that steers a transaction is told from others", async () => {
    const { isRollback, isTransactionControl } = await import("../../src/store/port/search-path.ts");
    expect(["savepoint a", " RELEASE savepoint a", "rollback to savepoint a"].map(isTransactionControl)).toEqual([
      true,
      true,
      true,
    ]);
    expect(["select 1", "savepoints", "insert into rollback values (1)"].map(isTransactionControl)).toEqual([
      false,
      false,
      false,
    ]);
    expect([isRollback("Rollback to a"), isRollback("release a")]).toEqual([true, false]);
  });
});
