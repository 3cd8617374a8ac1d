import { logFailure } from "../../telemetry/log.ts";
import type { Kernel } from "../kernel.ts";
import type { PendingReport } from "../tasks/pending-report.ts";
import type { StepOutput } from "../types/move-origin.ts";
import {
  type CallbackError,
  type IncomingCallback,
  type PlannedCallback,
  planCallback,
  receiveAll,
} from "./receive.ts";

/**
 * A step's result that lost to the deadline is not thrown away: it is a callback that came late, by whichever rule its
 * lifecycle has for those. What the step published, started or sent beside it goes with its lease, and so the result
 * cannot be accepted without: it would lead to a state that waits for what was never asked for.
 */
export async function keepLateResults(kernel: Kernel, batch: readonly PendingReport[]): Promise<void> {
  try {
    const lost = batch.flatMap((pending) => lateResultOf(kernel, pending));
    if (lost.length > 0) await receiveAll(kernel, lost);
  } catch (error) {
    // The deadline has struck all the same, and its worker has nothing more to say.
    logFailure(kernel.telemetry.log, error);
  }
}

function lateResultOf(kernel: Kernel, { result, move, report: { task } }: PendingReport): PlannedCallback[] {
  if (result !== "lease_lost" || move?.kind !== "event" || task.lifecycle.deadline === undefined) return [];
  const { lifecycle, row, lease, visit } = task;
  const incoming: IncomingCallback = {
    lifecycle,
    ref: { id: row.id },
    event: move.event,
    payload: move.payload,
    patch: Object.keys(move.patch).length === 0 ? undefined : move.patch,
    error: isWhole(move) ? null : incomplete(move.event),
    dedupe: `step:${lease.taskId}:${lease.token}`,
    actor: null,
    source: "step",
    lateVisit: visit,
    tokenId: null,
  };
  return [planCallback(kernel, incoming)];
}

function isWhole({ messages = [], starts = [], sends = [] }: StepOutput): boolean {
  return messages.length + starts.length + sends.length === 0;
}

function incomplete(event: string): CallbackError {
  const message = `the step came to \`${event}\` after the deadline, and what it published, started or sent with it was not kept; restart the instance instead`;
  return { name: "ResultIncomplete", message };
}
