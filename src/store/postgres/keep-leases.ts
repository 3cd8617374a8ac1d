import { Worker } from "node:worker_threads";
import { PawlError } from "../../base/errors.ts";
import type { KeeperOptions, LeaseKeeper } from "../db.ts";
import { threadFile } from "../thread-file.ts";
import { LeaseTable } from "./lease-table.ts";
import type { FromThread, ToThread } from "./lease-thread.ts";

/**
 * Renews leases from a thread with a connection of its own: a step that computes for a minute holds up this process's
 * loop, and steps that use every connection of the pool hold up the pool, but neither lets a lease lapse.
 */
export function keepLeasesInThread(url: string, options: KeeperOptions): LeaseKeeper {
  const { file, execArgv } = threadFile(new URL("./lease-thread.ts", import.meta.url));
  const thread = new Worker(file, {
    name: "pawl-leases",
    workerData: { url, leaseMs: options.leaseMs, everyMs: options.everyMs },
    execArgv,
  });
  const tables: LeaseTable[] = [];
  const places = new Map<string, { readonly table: LeaseTable; readonly slot: number }>();
  const stopped = new Promise<void>((resolve) => {
    thread.on("exit", () => resolve());
    thread.on("message", (message: FromThread) => {
      if ("lost" in message) {
        // Only those that are still held under the same token: others were reported meanwhile.
        const lost = message.lost.filter(({ taskId, token }) => {
          const place = places.get(taskId);
          return place !== undefined && place.table.tokenIn(place.slot) === token;
        });
        if (lost.length > 0) options.onLost(lost.map(({ taskId }) => taskId));
      } else if ("failure" in message)
        options.onFailure(new PawlError("busy", `Leases could not be renewed: ${message.failure}`));
      else resolve();
    });
    thread.on("error", (error) => {
      options.onFailure(error);
      resolve();
    });
  });
  thread.unref();
  const tell = (message: ToThread): void => thread.postMessage(message);
  const note = (taskId: string, token: number): { readonly table: LeaseTable; readonly slot: number } => {
    for (const table of tables) {
      const slot = table.note(taskId, token);
      if (slot !== undefined) return { table, slot };
    }
    const table = new LeaseTable();
    tables.push(table);
    tell({ table: table.memory });
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
    async stop() {
      thread.ref(); // Whoever waits for its end must live to see it.
      tell({ stop: true });
      await stopped;
    },
  };
}
