import { readUnknownLeases, returnTasks } from "../../store/tasks/tasks.ts";
import type { Kernel } from "../kernel.ts";

/** A worker, and what it knows of its tasks. */
export interface KnownClaims {
  readonly worker: string;
  /** The newest lease that it had before the claim whose reply was lost. */
  readonly newerThan: number;
  readonly inHand: readonly string[];
}

/**
 * Puts back what a claim has leased to a worker that never got its reply: nobody would run it before the lease has lapsed,
 * and the lapse would spend an attempt of a step that has not begun.
 */
export async function returnLostClaims(kernel: Kernel, known: KnownClaims): Promise<void> {
  const leases = await readUnknownLeases(kernel.db, known);
  if (leases.length === 0) return;
  const released = { what: "released", retryAfterMs: null, refund: true, detailText: null } as const;
  const returned = await returnTasks(
    kernel.db,
    leases.map(({ task_id: taskId, token }) => ({ taskId, token, ...released })),
  );
  kernel.telemetry.log.warn(
    { worker: known.worker, tasks: returned.length },
    "Tasks were returned: the reply to their claim was lost.",
  );
  for (const { lane } of returned) kernel.signals.hint(lane);
}
