import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PawlError } from "../base/errors.ts";
import type { Db } from "../store/db.ts";
import { migrate } from "../store/migrate.ts";
import { openPglite } from "../store/pglite/open.ts";
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
 * Prepares what makes test databases quick, once a run: a migrated template on the PostgreSQL server, and a snapshot of a
 * migrated embedded database. Gives back how to remove both.
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
    const template = newName("template");
    await onServer(server, `create database ${template}`);
    const db = await openPostgres({ url: withDatabase(server, template) });
    await migrate(db);
    await db.close();
    process.env[templateVariable] = template;
  }
  return async () => {
    await rm(folder, { recursive: true, force: true });
    if (server !== undefined)
      await onServer(server, `drop database if exists ${process.env[templateVariable]} with (force)`);
  };
}

/** A database of its own on this server, from the prepared template where there is one; talked to through a pooler if given. */
export async function newPostgresStore(
  serverUrl: string,
  options: { pooler?: string | undefined } = {},
): Promise<TestStore> {
  const name = newName("test");
  const template = process.env[templateVariable];
  await onServer(serverUrl, `create database ${name}${template === undefined ? "" : ` template ${template}`}`);
  const url = withDatabase(options.pooler ?? serverUrl, name);
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

const idle: Db[] = [];

/** An embedded database in memory. One that a test gave back is emptied and used again: opening takes a second. */
export async function newMemoryStore(): Promise<TestStore> {
  const db = idle.pop() ?? (await openPglite({ folder: "memory", snapshot: process.env[snapshotVariable] }));
  return {
    db: lent(db),
    url: undefined,
    async dispose() {
      try {
        await empty(db);
        idle.push(db);
      } catch {
        await db.close();
      }
    },
  };
}

/** A database that whoever borrowed it can close for himself only. */
function lent(db: Db): Db {
  let closed = false;
  const open = (): Db => {
    if (closed) throw new PawlError("closed", "This Pawl is closed; create a new one.");
    return db;
  };
  return {
    kind: db.kind,
    rows: async (statement) => open().rows(statement),
    transaction: async (work) => open().transaction(work),
    script: async (text) => open().script(text),
    close: async () => {
      closed = true;
    },
  };
}

/** Takes everything out, past the triggers that guard the history: they are there for users, and this is a test's end. */
async function empty(db: Db): Promise<void> {
  await db.script(`
    set session_replication_role = replica;
    truncate pawl.instances, pawl.journal, pawl.attempts, pawl.tasks, pawl.timers, pawl.messages, pawl.requests, pawl.counts,
      pawl.edges, pawl.lifecycles, pawl.dead_letters, pawl.alerts, pawl.releases, pawl.memos, pawl.schedules, pawl.sweeps, pawl.pauses,
      pawl.begun, pawl.workers, pawl.checks, pawl.progress, pawl.pruned, pawl.queues, pawl.labelers, pawl.samples, pawl.slots,
      pawl.assignments, pawl.labels, pawl.labeler_hours, pawl.breakers, pawl.breaker_counts, pawl.breaker_flips;
    update pawl.shards set relay = null, leased_until = null;
    set session_replication_role = origin;`);
}

function newName(what: string): string {
  return `pawl_${what}_${randomBytes(6).toString("hex")}`;
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
