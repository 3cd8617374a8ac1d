import type { KeeperOptions, LeaseKeeper } from "../../store/port/db.ts";
import { LeaseRenewal } from "../../store/tasks/lease-renewal.ts";
import type { Kernel } from "../kernel.ts";
import { renewTaskLeases } from "./claim.ts";

/** By a thread of its own where the database has one to give, else from here. */
export function keepLeases(kernel: Kernel, options: KeeperOptions): LeaseKeeper {
  return kernel.db.keepLeases?.(options) ?? keepLeasesHere(kernel, options);
}

/**
 * Renews from this process's own loop: for the embedded database, where every process that could claim a task is this one
 * and is blocked just as long.
 */
function keepLeasesHere(kernel: Kernel, options: KeeperOptions): LeaseKeeper {
  const held = new Map<string, number>();
  const renewal = new LeaseRenewal({
    ...options,
    read: () => [...held].map(([taskId, token]) => ({ taskId, token })),
    renew: (leases) => renewTaskLeases(kernel, leases, options.leaseMs),
  });
  return {
    keep: (leases) => {
      for (const { taskId, token } of leases) held.set(taskId, token);
    },
    drop: (taskIds) => {
      for (const taskId of taskIds) held.delete(taskId);
    },
    stop: () => renewal.stop(),
  };
}
