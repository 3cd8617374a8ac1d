import { Worker } from "node:worker_threads";
import { PawlError } from "../../base/errors.ts";
import type { KeeperOptions, LeaseKeeper } from "../db.ts";
import { threadFile } from "../thread-file.ts";
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
  const stopped = new Promise<void>((resolve) => {
    thread.on("exit", () => resolve());
    thread.on("message", (message: FromThread) => {
      if ("lost" in message) options.onLost(message.lost);
      else if ("failure" in message)
        options.onFailure(new PawlError("busy", `Leases could not be renewed: ${message.failure}`));
      else resolve();
    });
    thread.on("error", (error) => {
      options.onFailure(error);
      resolve();
    });
  });
  thread.unref();
  const dropped: string[] = [];
  const tell = (message: ToThread): void => thread.postMessage(message);
  return {
    keep: (leases) => {
      if (leases.length > 0) tell({ keep: leases.map(({ taskId, token }) => [taskId, token] as const) });
    },
    drop: (taskIds) => {
      // Together with those that end in the same breath: a lease that is renewed once too often harms nobody.
      if (dropped.length === 0) queueMicrotask(() => tell({ drop: dropped.splice(0) }));
      dropped.push(...taskIds);
    },
    async stop() {
      thread.ref(); // Whoever waits for its end must live to see it.
      tell({ stop: true });
      await stopped;
    },
  };
}
