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
 * A step's result that came after the deadline is not dropped: it becomes a late callback, by the rule of its
 * lifecycle. Messages, children and events of the step are lost with its lease, so the result cannot be accepted if
 * there are any: it would lead to a state that waits for something that was never requested.
 */
export async function keepLateResults(kernel: Kernel, batch: readonly PendingReport[]): Promise<void> {
  try {
    const lost = batch.flatMap((pending) => lateResultOf(kernel, pending));
    if (lost.length > 0) await receiveAll(kernel, lost);
  } catch (error) {
    // The deadline has fired all the same, and its worker has nothing more to report.
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
  const message = `the step ended with \`${event}\` after the deadline, and what it published, started or sent with it is lost; restart the instance instead`;
  return { name: "ResultIncomplete", message };
}
