import { Worker } from "node:worker_threads";
import { messageOf, PawlError } from "../../base/errors.ts";
import type { KeeperOptions, LeaseKeeper } from "../port/db.ts";
import { threadFile } from "../port/thread-file.ts";
import type { FromThread, LeaseThreadData, ToThread } from "./lease-messages.ts";
import { LeaseTable } from "./lease-table.ts";
import type { ConnectionSettings, PostgresTarget } from "./target.ts";

/** How long a server may take where a third of the lease is less than twice that. */
const shortestTimeoutMs = 500;
/** A thread that ended by itself is replaced after this pause. */
const restartMs = 1_000;

/**
 * Renews leases from a thread with a connection of its own: a step that computes for a minute blocks this process's event
 * loop, and steps that use every connection of the pool exhaust the pool, but neither makes a lease expire.
 */
export function keepLeasesInThread(target: PostgresTarget, options: KeeperOptions): LeaseKeeper {
  const tables: LeaseTable[] = [];
  const places = new Map<string, { readonly table: LeaseTable; readonly slot: number }>();
  const thread = new LeaseThread(target, options, () => tables.map((table) => table.memory));
  const note = (taskId: string, token: number): { readonly table: LeaseTable; readonly slot: number } => {
    for (const table of tables) {
      const slot = table.note(taskId, token);
      if (slot !== undefined) return { table, slot };
    }
    const table = new LeaseTable();
    tables.push(table);
    thread.send({ table: table.memory });
    return { table, slot: table.note(taskId, token)! };
  };
  const strikeOut = (taskId: string): void => {
    const place = places.get(taskId);
    if (place === undefined) return;
    place.table.strikeOut(place.slot);
    places.delete(taskId);
  };
  return {
    keep: (leases) => {
      for (const { taskId, token } of leases) {
        const place = places.get(taskId);
        if (place === undefined) places.set(taskId, note(taskId, token));
        else place.table.change(place.slot, token);
      }
    },
    drop: (taskIds) => {
      for (const taskId of taskIds) strikeOut(taskId);
    },
    stop: () => thread.stop(),
  };
}

/** The thread, restarted when it ends by itself: without it every lease would expire. */
class LeaseThread {
  readonly #target: PostgresTarget;
  readonly #options: KeeperOptions;
  readonly #tables: () => SharedArrayBuffer[];
  #worker: Worker;
  #restart: NodeJS.Timeout | undefined;
  #isStopping = false;
  #stopped: () => void = () => {};

  constructor(target: PostgresTarget, options: KeeperOptions, tables: () => SharedArrayBuffer[]) {
    this.#target = target;
    this.#options = options;
    this.#tables = tables;
    this.#worker = this.#start();
  }

  send(message: ToThread): void {
    this.#worker.postMessage(message);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#restart);
    const worker = this.#worker;
    if (this.#restart === undefined) {
      worker.ref(); // The process must live until it has stopped.
      const stopped = new Promise<void>((resolve) => {
        this.#stopped = resolve;
      });
      this.send({ stop: true });
      await stopped;
    }
    await worker.terminate(); // A dead connection would keep the process alive.
  }

  #start(): Worker {
    const { leaseMs, everyMs, onLost, onFailure } = this.#options;
    const { file, execArgv } = threadFile(new URL("./lease-thread.ts", import.meta.url));
    const timeoutMs = Math.max(everyMs / 2, Math.min(everyMs, shortestTimeoutMs));
    const tables = this.#tables();
    const workerData: LeaseThreadData = { ...forThread(this.#target), leaseMs, everyMs, timeoutMs, tables };
    const worker = new Worker(file, { name: "pawl-leases", workerData, execArgv });
    worker.on("message", (message: FromThread) => {
      if ("lost" in message) onLost(message.lost);
      else if ("failure" in message) onFailure(notRenewed(message.failure));
      else if ("password" in message) void this.#answerPassword(message.password);
      else this.#stopped();
    });
    worker.on("error", (error) => onFailure(notRenewed(error.message)));
    worker.on("exit", () => this.#exited());
    worker.unref();
    return worker;
  }

  async #answerPassword(number: number): Promise<void> {
    const { password } = this.#target.settings;
    try {
      const text = typeof password === "function" ? await password() : (password ?? "");
      this.send({ password: number, answer: { text } });
    } catch (error) {
      this.send({ password: number, answer: { failure: messageOf(error) } });
    }
  }

  #exited(): void {
    this.#stopped();
    if (this.#isStopping) return;
    this.#options.onFailure(notRenewed("The thread that renews them ended; it is started again."));
    this.#restart = setTimeout(
      () => {
        this.#restart = undefined;
        this.#worker = this.#start();
      },
      Math.min(restartMs, this.#options.everyMs),
    );
    this.#restart.unref();
  }
}

/** What of a target a thread can be given; a function that returns the password stays behind. */
function forThread(target: PostgresTarget): Pick<LeaseThreadData, "target" | "asksPassword"> {
  const { password, ...settings } = target.settings;
  if (typeof password !== "function") return { target, asksPassword: false };
  return { target: { ...target, settings }, asksPassword: true };
}

/** Whether a thread can connect with these settings: no function except the password's can be passed to one. */
export function fitsThread({ password: _password, ...settings }: ConnectionSettings): boolean {
  try {
    structuredClone(settings);
    return true;
  } catch {
    return false;
  }
}

function notRenewed(why: string): PawlError {
  return new PawlError("busy", `Leases could not be renewed: ${why}`);
}
