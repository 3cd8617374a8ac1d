import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { messageOf, PawlError } from "../../base/errors.ts";
import { type Db, type Executor, sql } from "./db.ts";
import { sqlState } from "./failures.ts";

/** One step of the schema's way. Released ones are history: the next file corrects them. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  readonly text: string;
}

const folder = new URL("../../../src/store/migrations/", import.meta.url);

export function knownMigrations(): Migration[] {
  return readdirSync(folder)
    .filter((file) => /^\d{4}_[a-z_]+\.sql$/.test(file))
    .sort()
    .map((file) => {
      const text = readFileSync(new URL(file, folder), "utf8");
      const checksum = createHash("sha256").update(text).digest("hex").slice(0, 16);
      return { version: Number(file.slice(0, 4)), name: file.slice(5, -4), checksum, text };
    });
}

interface Applied {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
}

/** "PAWL" on a phone pad: the lock under which the schema is changed, one process at a time. */
const lockKey = 7295;
const someoneElse = "PW100";

/**
 * Migrates the schema and returns the names of the applied migrations. Each migration is one transaction under one
 * lock, so any number of processes may start at the same time; a schema newer than this program is not changed.
 */
export async function migrate(db: Db, migrations = knownMigrations()): Promise<string[]> {
  const applied: string[] = [];
  await ensureTable(db);
  for (;;) {
    const next = pending(await readApplied(db), migrations)[0];
    if (next === undefined) return applied;
    if (await apply(db, next)) applied.push(next.name);
  }
}

/** The missing migrations; throws if the schema is newer than this program, or a released migration was changed. */
export async function pendingMigrations(db: Db, migrations = knownMigrations()): Promise<Migration[]> {
  return pending(await readApplied(db), migrations);
}

function pending(applied: readonly Applied[], migrations: readonly Migration[]): Migration[] {
  const known = new Map(migrations.map((one) => [one.version, one]));
  for (const one of applied) {
    const mine = known.get(one.version);
    if (mine === undefined) {
      throw new PawlError(
        "migration_newer",
        `The database was migrated by a newer Pawl (to ${one.version}, ${one.name}); this one knows up to ${migrations.length}. Upgrade this process.`,
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
  return db.rows<Applied>(sql`select version, name, checksum from pawl.migrations order by version`);
}

async function hasTable(db: Executor): Promise<boolean> {
  const [row] = await db.rows<{ found: boolean }>(sql`select to_regclass('pawl.migrations') is not null as found`);
  return row!.found;
}

async function ensureTable(db: Db): Promise<void> {
  if (await hasTable(db)) return; // Checked first: a role without the right to create schemas can still use one.
  await db.script(`
    select pg_advisory_xact_lock(${lockKey});
    create schema if not exists pawl;
    create table if not exists pawl.migrations (
      version    int primary key,
      name       text not null,
      checksum   text not null,
      applied_at timestamptz not null default clock_timestamp()
    );`);
}

/** False when another process applied it first. */
async function apply(db: Db, migration: Migration): Promise<boolean> {
  try {
    await db.script(`
      select pg_advisory_xact_lock(${lockKey});
      do $check$ begin
        if exists (select from pawl.migrations where version >= ${migration.version}) then
          raise exception 'already applied' using errcode = '${someoneElse}';
        end if;
      end $check$;
      ${migration.text}
      insert into pawl.migrations (version, name, checksum)
      values (${migration.version}, '${migration.name}', '${migration.checksum}');`);
    return true;
  } catch (error) {
    const state = sqlState(error) ?? sqlState((error as { cause?: unknown }).cause);
    if (state === someoneElse) return false;
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
