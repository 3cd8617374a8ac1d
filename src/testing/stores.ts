import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PawlError } from "../base/errors.ts";
import { shippedDatabase } from "../store/pglite/new-database.ts";
import { openPglite } from "../store/pglite/open.ts";
import { type Db, type Statement, sql, type Tx } from "../store/port/db.ts";
import { migrate } from "../store/port/migrate.ts";
import { openPostgres } from "../store/postgres/open.ts";

/** The database of one test, and how to be rid of it. */
export interface TestStore {
  readonly db: Db;
  /** The URL, for a second connection; undefined in memory. */
  readonly url: string | undefined;
  dispose(): Promise<void>;
}

const templateVariable = "PAWL_TEST_TEMPLATE";
const snapshotVariable = "PAWL_TEST_SNAPSHOT";

/**
 * Prepares test databases, once per run: a migrated template on the PostgreSQL server, and a snapshot of a migrated
 * embedded database. Returns a function that removes both.
 */
export async function prepareTestStores(options: { postgresUrl?: string } = {}): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "pawl-test-"));
  const snapshot = join(folder, "snapshot.tar");
  const embedded = await openPglite({ folder: "memory" });
  await migrate(embedded);
  await writeFile(snapshot, await embedded.dump());
  await embedded.close();
  process.env[snapshotVariable] = snapshot;
  const server = options.postgresUrl;
  if (server !== undefined) {
    const template = newName("pawl_template");
    await onServer(server, `create database ${template}`);
    const db = await openPostgres({ url: withDatabase(server, template) });
    await migrate(db);
    await db.close();
    process.env[templateVariable] = template;
  }
  return async () => {
    await rm(folder, { recursive: true, force: true });
    if (server !== undefined) await dropAll(server, process.env[templateVariable]!);
  };
}

/** The template, and every database that was made from it. */
async function dropAll(server: string, template: string): Promise<void> {
  const db = await openPostgres({ url: server, connections: 1 });
  try {
    const made = await db.rows<{ name: string }>(
      sql`select datname::text as name from pg_database where starts_with(datname, ${template}::text)`,
    );
    for (const { name } of made) {
      await db.rows({ text: `drop database if exists ${name} with (force)`, name: "", values: [] });
    }
  } finally {
    await db.close();
  }
}

interface OnServer {
  /** A pooler in front of the server, through which the test talks. */
  readonly pooler?: string | undefined;
}

/** A new database on this server, from the prepared template if there is one. */
export async function newPostgresStore(serverUrl: string, { pooler }: OnServer = {}): Promise<TestStore> {
  const template = process.env[templateVariable];
  const name = newName(template ?? "pawl_test");
  await onServer(serverUrl, `create database ${name}${template === undefined ? "" : ` template ${template}`}`);
  const url = withDatabase(pooler ?? serverUrl, name);
  const db = await openPostgres({ url });
  return {
    db,
    url,
    async dispose() {
      await db.close();
      await onServer(serverUrl, `drop database if exists ${name} with (force)`);
    },
  };
}

/** Stores that tests have returned, by kind. */
const idle = new Map<string, TestStore[]>();

/**
 * A database on this server that the tests of this process use one after the other: to make one and drop it takes longer
 * than most tests. Only in a prepared run, at whose end all are dropped.
 */
export async function borrowPostgresStore(serverUrl: string, { pooler }: OnServer = {}): Promise<TestStore> {
  const make = () => newPostgresStore(serverUrl, { pooler });
  return process.env[templateVariable] === undefined ? make() : borrow(pooler ?? serverUrl, make);
}

/** An embedded database in memory, likewise: opening one takes seconds. */
export function borrowMemoryStore(): Promise<TestStore> {
  return borrow("memory", async () => {
    const snapshot = process.env[snapshotVariable] ?? shippedDatabase();
    const db = await openPglite({ folder: "memory", snapshot });
    return { db, url: undefined, dispose: () => db.close() };
  });
}

async function borrow(what: string, make: () => Promise<TestStore>): Promise<TestStore> {
  const shelf = idle.get(what) ?? [];
  idle.set(what, shelf);
  const store = (await borrowFrom(shelf)) ?? (await make());
  const db = new LentDb(store.db);
  return {
    db,
    url: store.url,
    async dispose() {
      await db.close();
      if (await db.isQuiet()) shelf.push(store);
      else await store.dispose();
    },
  };
}

/** Emptied on the next use, not on return: what was in progress then has ended by now. */
async function borrowFrom(shelf: TestStore[]): Promise<TestStore | undefined> {
  const store = shelf.pop();
  try {
    if (store !== undefined) await emptyStore(store.db);
    return store;
  } catch {
    await store!.dispose();
    return undefined;
  }
}

/** Much longer than any statement of a test that has ended should take. */
const patienceMs = 5_000;

/** A borrowed database, which its user can close without effect on others. */
class LentDb implements Db {
  readonly kind: Db["kind"];
  readonly keepLeases?: NonNullable<Db["keepLeases"]>;
  readonly listen?: NonNullable<Db["listen"]>;
  readonly limited?: NonNullable<Db["limited"]>;
  readonly #db: Db;
  readonly #underWay = new Set<Promise<unknown>>();
  #closed = false;

  constructor(db: Db) {
    this.kind = db.kind;
    this.#db = db;
    if (db.keepLeases !== undefined) this.keepLeases = (options) => this.#open().keepLeases!(options);
    if (db.listen !== undefined) this.listen = (options) => this.#open().listen!(options);
    if (db.limited !== undefined) this.limited = (limits, work) => this.#open().limited!(limits, work);
  }

  rows<Row>(statement: Statement): Promise<Row[]> {
    return this.#noted(async () => this.#open().rows<Row>(statement));
  }

  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#noted(async () => this.#open().transaction(work));
  }

  script(text: string): Promise<void> {
    return this.#noted(async () => this.#open().script(text));
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  /** Whether all work in progress has ended; otherwise the database is not reused. */
  async isQuiet(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, patienceMs, false);
    });
    const quiet = Promise.allSettled(this.#underWay).then(() => true);
    return Promise.race([quiet, tooLong]).finally(() => clearTimeout(timer));
  }

  #open(): Db {
    if (this.#closed) throw new PawlError("closed", "This Pawl is closed. Create a new one.");
    return this.#db;
  }

  #noted<T>(call: () => Promise<T>): Promise<T> {
    const answer = call();
    this.#underWay.add(answer);
    const forget = () => this.#underWay.delete(answer);
    answer.then(forget, forget);
    return answer;
  }
}

/** What every new database has, too. */
const kept = "'migrations', 'shards', 'test_clock'";

/**
 * Deletes all data, bypassing the triggers that guard the history. A few rows are deleted faster than many tables are
 * truncated. Objects that the test has created outside of Pawl's schema are dropped.
 */
export async function emptyStore(db: Db): Promise<void> {
  await db.script(`
    set local session_replication_role = replica;
    do $$
    declare name text;
    begin
      for name in select tablename from pg_tables where schemaname = 'pawl' and tablename not in (${kept}) loop
        execute format('delete from pawl.%I', name);
      end loop;
      for name in
        select nspname from pg_namespace
        where nspname not in ('pawl', 'public', 'information_schema') and not starts_with(nspname::text, 'pg_')
      loop
        execute format('drop schema %I cascade', name);
      end loop;
      if exists (select from pg_depend where refobjid = 'public'::regnamespace) then
        drop schema public cascade;
        create schema public authorization pg_database_owner;
        grant usage on schema public to public;
      end if;
    end $$;
    update pawl.shards set relay = null, leased_until = null where relay is not null;`);
}

function newName(what: string): string {
  return `${what}_${randomBytes(6).toString("hex")}`;
}

async function onServer(url: string, text: string): Promise<void> {
  const server = await openPostgres({ url, connections: 1 });
  try {
    await server.rows({ text, name: "", values: [] });
  } finally {
    await server.close();
  }
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}
