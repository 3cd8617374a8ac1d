import { readUnknownLeases, returnTasks } from "../../store/tasks/tasks.ts";
import type { Kernel } from "../kernel.ts";

/** A worker, and the ids of the tasks that it knows. */
export interface KnownTasks {
  readonly worker: string;
  readonly known: readonly string[];
}

/**
 * Puts back what a claim has leased to a worker that never got its reply: no worker would run it before the lease has lapsed,
 * and the lapse would spend an attempt of a step that has not begun.
 */
export async function returnLostClaims(kernel: Kernel, given: KnownTasks): Promise<void> {
  const leases = await readUnknownLeases(kernel.db, given);
  if (leases.length === 0) return;
  const released = { what: "released", retryAfterMs: null, refund: true, detailText: null } as const;
  const returned = await returnTasks(
    kernel.db,
    leases.map(({ task_id: taskId, token }) => ({ taskId, token, ...released })),
  );
  kernel.telemetry.log.warn(
    { worker: given.worker, tasks: returned.length },
    "Tasks were returned: the reply to their claim was lost.",
  );
  for (const { lane } of returned) kernel.signals.hint(lane);
}
