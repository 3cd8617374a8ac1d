import { errorFields } from "../../telemetry/log.ts";
import type { LaneMeters } from "../../telemetry/meters.ts";
import type { Kernel } from "../kernel.ts";
import type { ClaimedTask } from "../types/claimed-task.ts";
import type { Outcome } from "../types/outcome.ts";
import type { PendingReport } from "./pending-report.ts";

/** Counts the outcomes of reported tasks, and logs the failures. */
export function countOutcomes(kernel: Kernel, batch: readonly PendingReport[]): void {
  if (batch.length === 0) return;
  kernel.telemetry.meters.batch("report", batch.length);
  for (const pending of batch) count(kernel, pending);
}

function count(kernel: Kernel, pending: PendingReport): void {
  const { result, move, returned, delivered } = pending;
  const { task, outcome } = pending.report;
  const lane = kernel.telemetry.meters.lane(task.lane);
  if (result === "lease_lost") {
    // A lapse that was not written met a renewal by its worker: nothing was lost.
    if (outcome.kind !== "lapsed") lane.leasesLost += 1;
  } else if (returned !== undefined) {
    countReturned(kernel, lane, task, outcome, returned);
  } else if (hasSucceeded(pending)) {
    lane.done += 1;
  } else {
    const reason =
      move?.kind === "attempt_failed" ? move.payload.reason : (delivered?.undelivered[0]?.error.code ?? outcome.kind);
    countGivenUp(kernel, lane, { ...fieldsOf(task, outcome), reason }, pending);
  }
}

function hasSucceeded({ report: { outcome }, move, delivered }: PendingReport): boolean {
  if (outcome.kind === "deliver") return delivered?.undelivered.length === 0;
  return move?.kind === "event" || move?.kind === "recover" || outcome.kind === "done";
}

/** The last attempt: it left a dead letter, or its instance will recover, or has a failure edge of its own. */
function countGivenUp(
  { telemetry: { log } }: Kernel,
  lane: LaneMeters,
  fields: ReturnType<typeof fieldsOf> & { readonly reason: string },
  { report: { task }, leftDeadLetter, recovers }: PendingReport,
): void {
  lane.failed += 1;
  if (task.kind === "step" && !leftDeadLetter) {
    const next = recovers ? "its instance is recovered later" : "its instance follows its `fail` edge, or its parent";
    log.warn(fields, `${fields.lane} failed; ${next}.`);
    return;
  }
  lane.deadLetters += 1;
  log.error(fields, `${fields.lane} failed and left a dead letter.`);
}

function countReturned(
  { telemetry: { log } }: Kernel,
  lane: LaneMeters,
  task: ClaimedTask,
  outcome: Outcome,
  { what, retryAfterMs }: NonNullable<PendingReport["returned"]>,
): void {
  if (what === "deferred") lane.deferred += 1;
  if (what === "released") lane.released += 1;
  if (what !== "failed" && what !== "lapsed") return;
  lane.retried += 1;
  lane[what] += 1;
  const said = what === "failed" ? "failed and is retried" : "lost its lease: its worker fell silent";
  log.warn({ ...fieldsOf(task, outcome), retryAfterMs }, `${task.lane} ${said}.`);
}

/** The task, and its error. The data of the instance is not logged. */
function fieldsOf({ row, lane, attempt }: ClaimedTask, outcome: Outcome) {
  const fields = { lifecycle: row.lifecycle, state: row.state, lane, instance: row.id, attempt };
  return outcome.kind === "failed" ? { ...fields, ...errorFields(outcome.error) } : fields;
}
