import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { messageOf, PawlError } from "../../base/errors.ts";
import { type Db, type Executor, sql } from "./db.ts";
import { sqlState } from "./failures.ts";

/** One step of the schema's way. Released ones are history: the next file corrects them. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  readonly text: string;
  /** Whether processes of the version before must not run on the migrated schema. */
  readonly breaking: boolean;
}

const folder = new URL("../../../src/store/migrations/", import.meta.url);

export function knownMigrations(): Migration[] {
  return readdirSync(folder)
    .filter((file) => /^\d{4}_[a-z_]+\.sql$/.test(file))
    .sort()
    .map((file) => {
      const text = readFileSync(new URL(file, folder), "utf8");
      const checksum = createHash("sha256").update(text).digest("hex").slice(0, 16);
      return { version: Number(file.slice(0, 4)), name: file.slice(5, -4), checksum, text, breaking: isBreaking(text) };
    });
}

/** A file says in a comment line of its own whether it is `-- Additive: …` or `-- Breaking: …`; breaking if it does not. */
function isBreaking(text: string): boolean {
  return !/^-- Additive: \S/m.test(text);
}

interface Applied {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  readonly breaking: boolean;
}

/** "PAWL" on a phone pad: the lock under which the schema is changed, one process at a time. */
const lockKey = 7295;
const someoneElse = "PW100";

/**
 * A migration may take long, and waits for others that migrate as long as they take. For the lock of a table it waits only
 * shortly, since all that comes after it waits meanwhile; then it is tried again.
 */
const begin = `
      set local statement_timeout = 0;
      set local lock_timeout = 0;
      select pg_advisory_xact_lock(${lockKey});
      set local lock_timeout = '3s';`;
const lockNotAvailable = "55P03";
const lockTries = 10;
const lockPauseMs = 1_000;

/**
 * Migrates the schema and returns the names of the applied migrations. Each migration is one transaction under one
 * lock, so any number of processes may start at the same time; a schema newer than this program is not changed, and used if
 * everything that is newer is additive.
 */
export async function migrate(db: Db, migrations = knownMigrations()): Promise<string[]> {
  const applied: string[] = [];
  await ensureTable(db);
  for (;;) {
    const next = pending(await readApplied(db), migrations)[0];
    if (next === undefined) return applied;
    if (await applyOnceUnlocked(db, next)) applied.push(next.name);
  }
}

/** The missing migrations; throws if the schema is too new for this program, or a released migration was changed. */
export async function pendingMigrations(db: Db, migrations = knownMigrations()): Promise<Migration[]> {
  return pending(await readApplied(db), migrations);
}

function pending(applied: readonly Applied[], migrations: readonly Migration[]): Migration[] {
  const known = new Map(migrations.map((one) => [one.version, one]));
  for (const one of applied) {
    const mine = known.get(one.version);
    if (mine === undefined) {
      if (!one.breaking) continue; // Of a newer Pawl, and made so that this one can go on: during a deploy, or after a rollback.
      throw new PawlError(
        "migration_newer",
        `The database was migrated by a newer Pawl, and its migration ${one.version} (${one.name}) is breaking; this Pawl knows up to ${migrations.length}. Upgrade this process, or restore a backup from before that migration.`,
        { database: one.version, known: migrations.length },
      );
    }
    if (mine.checksum !== one.checksum) {
      throw new PawlError(
        "migration_changed",
        `Migration ${one.version} (${one.name}) was applied with another text than this Pawl carries. A released migration is never edited: use the version of Pawl that applied it, or restore its file.`,
        { version: one.version, applied: one.checksum, known: mine.checksum },
      );
    }
  }
  const newest = Math.max(0, ...applied.map((one) => one.version));
  return migrations.filter((one) => one.version > newest);
}

async function readApplied(db: Executor): Promise<Applied[]> {
  if (!(await hasTable(db))) return [];
  // Read through JSON: a database that an earlier Pawl migrated does not have the column yet.
  return db.rows<Applied>(sql`
    select version, name, checksum, coalesce((pg_catalog.to_jsonb(applied) ->> 'breaking')::boolean, true) as breaking
    from pawl.migrations as applied order by version`);
}

/** The migrations of a newer Pawl that this one can run on. */
export async function newerMigrations(db: Db): Promise<string[]> {
  const newest = knownMigrations().length;
  return (await readApplied(db)).filter((one) => one.version > newest).map((one) => one.name);
}

async function hasTable(db: Executor): Promise<boolean> {
  const [row] = await db.rows<{ found: boolean }>(sql`select to_regclass('pawl.migrations') is not null as found`);
  return row!.found;
}

async function ensureTable(db: Db): Promise<void> {
  if (await hasTable(db)) return; // Checked first: a role without the right to create schemas can still use one.
  await db.script(`${begin}
    create schema if not exists pawl;
    create table if not exists pawl.migrations (
      version    int primary key,
      name       text not null,
      checksum   text not null,
      applied_at timestamptz not null default clock_timestamp(),
      breaking   boolean not null default true
    );`);
}

/** Tries again while others hold a table that it has to lock. */
async function applyOnceUnlocked(db: Db, migration: Migration): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      return await apply(db, migration);
    } catch (error) {
      if (stateOf(error) !== lockNotAvailable) throw error;
      if (tries === lockTries) throw lockedOut(migration, error);
      await pause(lockPauseMs);
    }
  }
}

function lockedOut({ version, name }: Migration, cause: unknown): PawlError {
  return new PawlError(
    "busy",
    `Migration ${version} (${name}) could not lock its tables in ${lockTries} tries of 3 s: another session has them in use. Nothing was changed. End long transactions (\`pawl doctor\` lists the oldest), then migrate again.`,
    { version, name },
    { cause },
  );
}

/** False when another process applied it first. */
async function apply(db: Db, migration: Migration): Promise<boolean> {
  try {
    await db.script(`${begin}
      do $check$ begin
        if exists (select from pawl.migrations where version >= ${migration.version}) then
          raise exception 'already applied' using errcode = '${someoneElse}';
        end if;
        if not exists (
          select from pg_attribute where attrelid = 'pawl.migrations'::regclass and attname = 'breaking' and not attisdropped
        ) then
          alter table pawl.migrations add column breaking boolean not null default true;
        end if;
      end $check$;
      ${migration.text}
      insert into pawl.migrations (version, name, checksum, breaking)
      values (${migration.version}, '${migration.name}', '${migration.checksum}', ${migration.breaking});`);
    return true;
  } catch (error) {
    if (stateOf(error) === someoneElse) return false;
    // A lost connection, a missing permission or a full disk has its own message; other errors name the migration.
    if (error instanceof PawlError && error.fault === "environment" && error.code !== "not_migrated") throw error;
    throw new PawlError(
      "migration_failed",
      `Migration ${migration.version} (${migration.name}) failed, and was rolled back: ${messageOf(error)}`,
      { version: migration.version, name: migration.name },
      { cause: error },
    );
  }
}

function stateOf(error: unknown): string | undefined {
  return sqlState(error) ?? sqlState((error as { cause?: unknown }).cause);
}
