import type { Kernel } from "../kernel/kernel.ts";
import { renew } from "../kernel/take.ts";
import type { KeeperOptions, LeaseKeeper } from "../store/db.ts";

/** By a thread of its own where the database has one to give, else from here. */
export function keepLeases(kernel: Kernel, options: KeeperOptions): LeaseKeeper {
  return kernel.db.keepLeases?.(options) ?? keepLeasesHere(kernel, options);
}

/**
 * Renews from this process's own loop: for the embedded database, where whoever could take a task away lives on the same
 * loop and is held up just as long.
 */
function keepLeasesHere(kernel: Kernel, options: KeeperOptions): LeaseKeeper {
  const held = new Map<string, number>();
  let renewing: Promise<void> = Promise.resolve();
  const round = async (): Promise<void> => {
    if (held.size === 0) return;
    try {
      const leases = [...held].map(([taskId, token]) => ({ taskId, token }));
      const lost = await renew(kernel, leases, options.leaseMs);
      if (lost.length > 0) options.onLost(lost.filter((id) => held.has(id)));
    } catch (error) {
      options.onFailure(error);
    }
  };
  const timer = setInterval(() => {
    renewing = renewing.then(round, round);
  }, options.everyMs);
  timer.unref();
  return {
    keep: (leases) => {
      for (const { taskId, token } of leases) held.set(taskId, token);
    },
    drop: (taskIds) => {
      for (const taskId of taskIds) held.delete(taskId);
    },
    async stop() {
      clearInterval(timer);
      await renewing;
    },
  };
}
