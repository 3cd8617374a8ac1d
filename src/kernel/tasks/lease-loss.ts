import { readLeavings, readMovesOfTasks } from "../../store/move/journal.ts";
import { readEndedAttempts } from "../../store/tasks/attempts.ts";
import type { Kernel } from "../kernel.ts";
import type { ClaimedTask } from "../types/claimed-task.ts";

/** Why a task is no longer its worker's: an event or a timer made the instance leave, or the lease ran out. */
export type LeaseLossReason = "superseded" | "timeout" | "lapsed";

/** Why leases no longer hold, by the ids of their tasks. */
export async function leaseLossReasons(
  kernel: Kernel,
  lost: readonly ClaimedTask[],
): Promise<Map<string, LeaseLossReason>> {
  const { db } = kernel;
  const leases = lost.map(({ lease, row }) => ({ id: row.id, ...lease, afterVersion: row.version }));
  const ended = await readEndedAttempts(db, leases);
  // At its last attempt, a lapse moves the instance.
  const moves = await readMovesOfTasks(db, leases);
  const lapsed = new Set([...ended, ...moves].map((one) => one.task_id));
  const left = new Map(
    (
      await readLeavings(
        db,
        lost.map(({ row, visit }) => ({ id: row.id, visit })),
      )
    ).map((one) => [one.id, one.source]),
  );
  return new Map(
    lost.map(({ lease: { taskId }, row }) => {
      if (lapsed.has(taskId)) return [taskId, "lapsed"];
      return [taskId, left.get(row.id) === "timer" ? "timeout" : "superseded"];
    }),
  );
}
