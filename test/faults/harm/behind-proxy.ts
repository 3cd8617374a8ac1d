import { openOn, type PawlOptions } from "../../../src/api/open/create.ts";
import { laneOf } from "../../../src/definition/model.ts";
import { lanesOf } from "../../../src/kernel/lanes/lanes.ts";
import { claimFromLanes } from "../../../src/kernel/tasks/claim.ts";
import type { ClaimedTask } from "../../../src/kernel/types/claimed-task.ts";
import { type Db, sql } from "../../../src/store/port/db.ts";
import { migrate } from "../../../src/store/port/migrate.ts";
import { openPostgres } from "../../../src/store/postgres/open.ts";
import { PlantedFaults } from "../../../src/testing/faults.ts";
import { Ledger } from "../checks/ledger.ts";
import { createBooked, errand } from "../worlds/errand.ts";
import { TcpProxy } from "./tcp-proxy.ts";

let databases = 0;
/** A database with Pawl's schema on each server, of which the others are copies: migrating takes a second. */
const templates = new Map<string, Promise<string>>();

async function createDatabase(serverUrl: string, template?: string): Promise<string> {
  const admin = await openPostgres({ url: serverUrl, connections: 1 });
  const name = `faults_${++databases}`;
  const like = template === undefined ? "" : ` template ${template}`;
  await admin.rows({ text: `create database ${name}${like}`, name: "", values: [] });
  await admin.close();
  return name;
}

async function makeTemplate(serverUrl: string): Promise<string> {
  const name = await createDatabase(serverUrl);
  const db = await openPostgres({ url: urlOf(serverUrl, name).href, connections: 1 });
  await migrate(db);
  await createBooked(db);
  await db.close();
  return name;
}

function urlOf(serverUrl: string, name: string): URL {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url;
}

export type BehindProxy = Awaited<ReturnType<typeof openBehindProxy>>;

/**
 * A Pawl on a database of its own, behind a proxy; and a direct connection to the same database, to read and to
 * interfere.
 */
export async function openBehindProxy(
  serverUrl: string,
  change: (db: Db) => Db = (db) => db,
  options: Partial<PawlOptions> = {},
) {
  const template = templates.get(serverUrl) ?? makeTemplate(serverUrl);
  templates.set(serverUrl, template);
  const url = urlOf(serverUrl, await createDatabase(serverUrl, await template));
  const proxy = new TcpProxy({ host: url.hostname, port: Number(url.port) });
  const faults = new PlantedFaults();
  const behind = await openPostgres({ url: await proxy.listen(url.href) });
  const { pawl, kernel } = await openOn(
    change(behind),
    { lifecycles: [errand], logger: false, ...options },
    { faults },
  );
  const db = await openPostgres({ url: url.href });
  return {
    pawl,
    kernel,
    proxy,
    faults,
    db,
    lanes: await lanesOf(kernel),
    ledger: new Ledger(),
    /** One task of a state, or of the after-effects. */
    async claim(state: "working" | "after"): Promise<ClaimedTask> {
      const lane = state === "after" ? "errand@1:after" : laneOf(errand, state);
      const tasks = await claimFromLanes(kernel, { lanes: [lane], limit: 1, share: 1, worker: "w", leaseMs: 30_000 });
      return tasks[0]!;
    },
    /** Closes this Pawl, and waits for what its cut connections still do at the server. */
    async end(): Promise<void> {
      proxy.cutAll();
      await pawl.close();
      for (;;) {
        const [others] = await db.rows<{ busy: number }>(sql`
          select count(*)::int as busy from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`);
        if (others!.busy === 0) return;
      }
    },
    async [Symbol.asyncDispose]() {
      await pawl.close();
      await proxy.close();
      await db.close();
    },
  };
}
