import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../../base/errors.ts";
import type { Db } from "../db.ts";
import { renewLeases } from "../tasks.ts";
import { openPostgres } from "./open.ts";

/** What the process tells the thread. */
export type ToThread =
  | { readonly keep: readonly (readonly [taskId: string, token: number])[] }
  | { readonly drop: readonly string[] }
  | { readonly stop: true };

/** What the thread tells the process. */
export type FromThread =
  | { readonly lost: readonly string[] }
  | { readonly failure: string }
  | { readonly stopped: true };

const { url, leaseMs, everyMs } = workerData as { url: string; leaseMs: number; everyMs: number };
const port = parentPort!;
const held = new Map<string, number>();
let db: Db | undefined;
// Connected before anything is held: a first lease must not wait for that.
let underWay: Promise<void> = connect();

async function connect(): Promise<void> {
  try {
    db ??= await openPostgres({ url, connections: 1 });
  } catch (error) {
    port.postMessage({ failure: messageOf(error) } satisfies FromThread);
  }
}

/** One round: all leases in one statement, on a connection that no step can use up. */
async function renew(): Promise<void> {
  if (held.size === 0) return;
  await connect();
  if (db === undefined) return; // The next round tries again.
  try {
    const leases = [...held].map(([taskId, token]) => ({ taskId, token }));
    const renewed = new Set((await renewLeases(db, leases, leaseMs)).map((one) => one.task_id));
    // Only those that are still held under the same token: others were reported meanwhile.
    const lost = leases.filter(({ taskId, token }) => !renewed.has(taskId) && held.get(taskId) === token);
    if (lost.length > 0) port.postMessage({ lost: lost.map(({ taskId }) => taskId) } satisfies FromThread);
  } catch (error) {
    port.postMessage({ failure: messageOf(error) } satisfies FromThread);
  }
}

const timer = setInterval(() => {
  underWay = underWay.then(renew);
}, everyMs);

port.on("message", (message: ToThread) => {
  if ("keep" in message) for (const [taskId, token] of message.keep) held.set(taskId, token);
  else if ("drop" in message) for (const taskId of message.drop) held.delete(taskId);
  else void stop();
});

async function stop(): Promise<void> {
  clearInterval(timer);
  await underWay;
  await db?.close();
  port.postMessage({ stopped: true } satisfies FromThread);
  port.close();
}
