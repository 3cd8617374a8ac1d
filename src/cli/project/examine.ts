import { existsSync } from "node:fs";
import { openDatabase } from "../../api/open/create.ts";
import {
  type Database,
  databaseRole,
  databaseTime,
  databaseVersions,
  migrationStatus,
  newerSchema,
  openSchemas,
  replication,
} from "../../api/open/database.ts";
import { isPawlError, messageOf } from "../../base/errors.ts";
import { visible } from "../show/terminal.ts";
import { holderOf, reach } from "../transport/reach.ts";
import { examineStandbys, examineTransactions } from "./examine-replication.ts";
import { examineRole } from "./examine-role.ts";
import type { Finding } from "./finding.ts";
import { type Settings, shownLocation } from "./settings.ts";

const oldestNode = [20, 19] as const;
/** With a larger difference, times such as "3 min ago" mislead; what is due never depends on this machine's clock. */
const skewMs = 5_000;

export function examineNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const ok = major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
  const remedy = ok ? undefined : `Pawl needs Node ${oldestNode.join(".")} or newer.`;
  return { what: "Node", ok, found: version, ...(remedy === undefined ? {} : { remedy }) };
}

export function examineConsole(): Finding {
  const ok = existsSync(new URL("../../console/index.html", import.meta.url));
  if (ok) return { what: "Console", ok, found: "is built" };
  return { what: "Console", ok, found: "was not built", remedy: "Run `npm run build` in Pawl's folder." };
}

/** Checks the database of the settings: its connection, version, clock and schema. */
export async function* examineDatabase({ database, folder }: Settings): AsyncGenerator<Finding> {
  const place = database === undefined ? folder : shownLocation(database);
  if (database === undefined && !existsSync(`${folder}/db`)) {
    yield { what: "Database", ok: true, found: `embedded, in ${place}, not created yet; \`pawl start\` creates it` };
    return;
  }
  let db: Database;
  try {
    db = await openDatabase({ database, folder, migrate: false });
  } catch (error) {
    const holder = holderOf(error);
    if (holder !== undefined) {
      yield { what: "Database", ok: true, found: `embedded, in ${place}, open in process ${holder.pid}` };
      return;
    }
    const remedy = isReadOnlyServer(error)
      ? "Connect to the primary, or name all hosts in DATABASE_URL. See the guide on failover."
      : "Fix DATABASE_URL, or start the server.";
    yield { what: "Database", ok: false, found: messageOf(error), remedy };
    return;
  }
  try {
    const versions = await databaseVersions(db);
    const kind = database === undefined ? `PGlite ${versions?.pglite}` : `PostgreSQL ${versions?.postgres}`;
    yield { what: "Database", ok: true, found: `${kind}, ${place}` };
    const schema = await examineSchema(db);
    yield schema;
    if (schema.ok) yield await examineClock(db);
    if (database === undefined) return;
    if (schema.ok) yield examineRole(await databaseRole(db));
    yield await examineRights(db);
    const found = await replication(db);
    yield examineStandbys(found);
    yield examineTransactions(found);
  } catch (error) {
    yield { what: "Database", ok: false, found: messageOf(error) };
  } finally {
    await db.close();
  }
}

function isReadOnlyServer(error: unknown): boolean {
  return isPawlError(error, "database_unreachable") && error.details.sqlState === "25006";
}

/** Stuck instances, as warnings: the setup itself is in order. */
export async function* examineStuck(settings: Settings): AsyncGenerator<Finding> {
  if (settings.database === undefined && !existsSync(`${settings.folder}/db`)) return;
  const what = "Stuck";
  try {
    const pawl = await reach(settings);
    try {
      const groups = await pawl.call("stuck", { limit: 1 });
      if (groups.length === 0) yield { what, ok: true, found: "nothing is stuck" };
      const remedy = "Which instances: pawl stuck";
      for (const { sentence } of groups) yield { what, ok: true, warning: true, found: visible(sentence), remedy };
    } finally {
      await pawl.close();
    }
  } catch (error) {
    yield { what, ok: true, warning: true, found: `what is stuck could not be read: ${messageOf(error)}` };
  }
}

/** A warning only: Pawl's own statements do not use this schema, but an application's may. */
async function examineRights(db: Database): Promise<Finding> {
  const open = await openSchemas(db);
  if (open.length === 0)
    return { what: "Rights", ok: true, found: "no other role can create objects in `public` or `pawl`" };
  const [first] = open;
  return {
    what: "Rights",
    ok: true,
    warning: true,
    found: open.map(({ name, roles }) => `${roles.join(", ")} can create objects in schema ${name}`).join("; "),
    remedy: `A function created there can shadow a built-in one. Run: revoke create on schema ${first!.name} from ${first!.roles.join(", ")};`,
  };
}

async function examineClock(db: Database): Promise<Finding> {
  const askedAt = Date.now();
  const offMs = (await databaseTime(db)) - (askedAt + Date.now()) / 2;
  const found = `${(Math.abs(offMs) / 1_000).toFixed(1)} s ${offMs < 0 ? "behind" : "ahead of"} this machine`;
  if (Math.abs(offMs) <= skewMs) return { what: "Clock", ok: true, found: `the database is ${found}` };
  const remedy =
    "Synchronize both clocks (NTP). Timers use the database's clock; times shown as \"ago\" use this machine's.";
  return { what: "Clock", ok: false, found: `the database is ${found}`, remedy };
}

async function examineSchema(db: Database): Promise<Finding> {
  const migrations = await migrationStatus(db);
  const missing = migrations.filter((one) => !one.applied);
  const last = migrations.at(-1)!;
  const newer = await newerSchema(db);
  if (newer.length > 0) {
    const found = `newer than this Pawl by ${newer.join(", ")}; all of it is additive, so this Pawl runs on it`;
    return { what: "Schema", ok: true, found };
  }
  if (missing.length === 0) return { what: "Schema", ok: true, found: `up to date, at ${last.version} (${last.name})` };
  const found = `lacks ${missing.map((one) => one.name).join(", ")}`;
  return { what: "Schema", ok: false, found, remedy: "Run `pawl migrate`." };
}
