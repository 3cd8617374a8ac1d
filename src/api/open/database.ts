import type { Db } from "../../store/port/db.ts";
import { knownMigrations, migrate, pendingMigrations } from "../../store/port/migrate.ts";
import { readNow } from "../../views/now.ts";
import { type OpenSchema, readOpenSchemas } from "../../views/open-schemas.ts";
import { type Replication, readReplication } from "../../views/replication.ts";

/** A database itself, for commands that look after it instead of running a Pawl on it. */
export type Database = Db;

/** How far the schema is: every migration of this Pawl, in order, and whether the database has it. */
export async function migrationStatus(db: Database): Promise<{ version: number; name: string; applied: boolean }[]> {
  const pending = new Set((await pendingMigrations(db)).map((one) => one.version));
  return knownMigrations().map(({ version, name }) => ({ version, name, applied: !pending.has(version) }));
}

/** Brings the schema up to date; gives back the names of what was applied. */
export function migrateDatabase(db: Database): Promise<string[]> {
  return migrate(db);
}

/** The time that the database has, in milliseconds; it needs Pawl's schema. */
export function databaseTime(db: Database): Promise<number> {
  return readNow(db);
}

/** The schemas near Pawl's in which other roles may create. */
export function openSchemas(db: Database): Promise<OpenSchema[]> {
  return readOpenSchemas(db);
}

/** Standbys, commits that wait for them, and transactions that have been open for long. */
export function replication(db: Database): Promise<Replication> {
  return readReplication(db);
}

export interface DatabaseVersions {
  readonly postgres: string;
  readonly pglite: string | undefined;
}

/** Versions of the engine, where the database can tell. */
export async function databaseVersions(db: Database): Promise<DatabaseVersions | undefined> {
  return hasInfo(db) ? await db.info() : undefined;
}

/** Leaves word in the lock file of an embedded database where this process listens for the `pawl` command. */
export async function announceSocket(db: Database, path: string): Promise<void> {
  if (canAnnounce(db)) await db.announce(path);
}

function hasInfo(db: Database): db is Database & { info(): Promise<DatabaseVersions> } {
  return "info" in db;
}

function canAnnounce(db: Database): db is Database & { announce(path: string): Promise<void> } {
  return "announce" in db;
}
