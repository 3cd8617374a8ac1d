import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../../base/errors.ts";
import type { Db } from "../port/db.ts";
import { ownSearchPath } from "../port/search-path.ts";
import { LeaseRenewal } from "../tasks/lease-renewal.ts";
import { type Lease, type Renewal, renewLeases } from "../tasks/tasks.ts";
import type { FromThread, LeaseThreadData, ToThread } from "./lease-messages.ts";
import { LeaseTable } from "./lease-table.ts";
import { openPostgres } from "./open.ts";
import type { PostgresTarget } from "./target.ts";

type PasswordAnswer = Extract<ToThread, { password: number }>;

const { leaseMs, everyMs, timeoutMs, ...given } = workerData as LeaseThreadData;
const port = parentPort!;
const tables = given.tables.map((memory) => new LeaseTable(memory));
const passwords = new Map<number, (message: PasswordAnswer) => void>();
let passwordsAsked = 0;
let db: Db | undefined;

const send = (message: FromThread): void => port.postMessage(message);

/** The user's function stays in the process: it cannot be passed to a thread. */
function askPassword(): Promise<string> {
  return new Promise((resolve, reject) => {
    const number = ++passwordsAsked;
    passwords.set(number, ({ answer }) => {
      if ("text" in answer) resolve(answer.text);
      else reject(new Error(answer.failure));
    });
    send({ password: number });
  });
}

const target: PostgresTarget = given.asksPassword
  ? { ...given.target, settings: { ...given.target.settings, password: askPassword } }
  : given.target;

/** A connection that no step can use up. One that does not answer in time is replaced for the next statement. */
async function connected(): Promise<Db> {
  db ??= await openPostgres({ target, connections: 1, usersPath: ownSearchPath, answerWithinMs: timeoutMs });
  return db;
}

const renew = async (leases: readonly Lease[]): Promise<Renewal> => renewLeases(await connected(), leases, leaseMs);

// Connected before anything is held: a first lease must not wait for that. If it fails, the first renewal connects.
const opening = connected().catch((error: unknown) => send({ failure: messageOf(error) }));
const renewal = new LeaseRenewal({
  everyMs,
  read: () => tables.flatMap((table) => table.read()),
  renew,
  onLost: (lost) => send({ lost }),
  onFailure: (error) => send({ failure: messageOf(error) }),
});

port.on("message", (message: ToThread) => {
  if ("table" in message) tables.push(new LeaseTable(message.table));
  else if ("password" in message) {
    passwords.get(message.password)?.(message);
    passwords.delete(message.password);
  } else void stop();
});

async function stop(): Promise<void> {
  await renewal.stop();
  await opening;
  await db?.close();
  send({ stopped: true });
  port.close();
}
