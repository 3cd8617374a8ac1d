import type { Db } from "../../store/port/db.ts";
import { knownMigrations, migrate, newerMigrations, pendingMigrations } from "../../store/port/migrate.ts";
import { readNow } from "../../views/now.ts";
import { type OpenSchema, readOpenSchemas } from "../../views/open-schemas.ts";
import { type Replication, readReplication } from "../../views/replication.ts";
import { type DatabaseRole, readRole } from "../../views/role.ts";

/** A database, for commands that maintain it without running a Pawl. */
export type Database = Db;

interface MigrationStatus {
  readonly version: number;
  readonly name: string;
  readonly applied: boolean;
  /** Whether processes of the version before must be stopped first. */
  readonly breaking: boolean;
}

/** Lists all migrations, in order, and whether the database has them. */
export async function migrationStatus(db: Database): Promise<MigrationStatus[]> {
  const pending = new Set((await pendingMigrations(db)).map((one) => one.version));
  return knownMigrations().map(({ version, name, breaking }) => ({
    version,
    name,
    applied: !pending.has(version),
    breaking,
  }));
}

/** Names the migrations of a newer Pawl, all of which are additive: this Pawl runs on them. */
export function newerSchema(db: Database): Promise<string[]> {
  return newerMigrations(db);
}

/** Applies pending migrations; returns their names. */
export function migrateDatabase(db: Database): Promise<string[]> {
  return migrate(db);
}

/** Returns the database's time in milliseconds; needs Pawl's schema. */
export function databaseTime(db: Database): Promise<number> {
  return readNow(db);
}

/** Lists the schemas on the search path in which other roles can create objects. */
export function openSchemas(db: Database): Promise<OpenSchema[]> {
  return readOpenSchemas(db);
}

/** Standbys, commits that wait for them, and what keeps the server from cleaning up. */
export function replication(db: Database): Promise<Replication> {
  return readReplication(db);
}

/** The role that this process connects as, and what it may do; needs Pawl's schema. */
export function databaseRole(db: Database): Promise<DatabaseRole> {
  return readRole(db);
}

export interface DatabaseVersions {
  readonly postgres: string;
  readonly pglite: string | undefined;
}

/** Returns the versions of the database engine, if known. */
export async function databaseVersions(db: Database): Promise<DatabaseVersions | undefined> {
  return hasInfo(db) ? await db.info() : undefined;
}

/** Records in the lock file of an embedded database where this process listens for the `pawl` command. */
export async function announceSocket(db: Database, path: string): Promise<void> {
  if (canAnnounce(db)) await db.announce(path);
}

function hasInfo(db: Database): db is Database & { info(): Promise<DatabaseVersions> } {
  return "info" in db;
}

function canAnnounce(db: Database): db is Database & { announce(path: string): Promise<void> } {
  return "announce" in db;
}
