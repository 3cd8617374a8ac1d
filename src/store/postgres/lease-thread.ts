import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../../base/errors.ts";
import type { Db } from "../db.ts";
import { ownSearchPath } from "../search-path.ts";
import { renewLeases } from "../tasks.ts";
import { type KeptLease, LeaseTable } from "./lease-table.ts";
import { openPostgres } from "./open.ts";

/** What the process tells the thread. Leases come and go in the tables, without a word. */
export type ToThread = { readonly table: SharedArrayBuffer } | { readonly stop: true };

/** What the thread tells the process. */
export type FromThread =
  | { readonly lost: readonly KeptLease[] }
  | { readonly failure: string }
  | { readonly stopped: true };

const { url, leaseMs, everyMs } = workerData as { url: string; leaseMs: number; everyMs: number };
const port = parentPort!;
const tables: LeaseTable[] = [];
let db: Db | undefined;
// Connected before anything is held: a first lease must not wait for that.
let underWay: Promise<void> = connect();

async function connect(): Promise<void> {
  try {
    db ??= await openPostgres({ url, connections: 1, usersPath: ownSearchPath });
  } catch (error) {
    port.postMessage({ failure: messageOf(error) } satisfies FromThread);
  }
}

/** One round: all leases in one statement, on a connection that no step can use up. */
async function renew(): Promise<void> {
  const leases = tables.flatMap((table) => table.read());
  if (leases.length === 0) return;
  await connect();
  if (db === undefined) return; // The next round tries again.
  try {
    const renewed = new Set((await renewLeases(db, leases, leaseMs)).map((one) => one.task_id));
    const lost = leases.filter(({ taskId }) => !renewed.has(taskId));
    if (lost.length > 0) port.postMessage({ lost } satisfies FromThread);
  } catch (error) {
    port.postMessage({ failure: messageOf(error) } satisfies FromThread);
  }
}

const timer = setInterval(() => {
  underWay = underWay.then(renew);
}, everyMs);

port.on("message", (message: ToThread) => {
  if ("table" in message) tables.push(new LeaseTable(message.table));
  else void stop();
});

async function stop(): Promise<void> {
  clearInterval(timer);
  await underWay;
  await db?.close();
  port.postMessage({ stopped: true } satisfies FromThread);
  port.close();
}
