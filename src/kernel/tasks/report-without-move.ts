import { isPawlError, PawlError } from "../../base/errors.ts";
import { endDeliveries } from "../../store/family/deliveries.ts";
import type { Executor } from "../../store/port/db.ts";
import { readEndedAttempts } from "../../store/tasks/attempts.ts";
import { endEffects, returnTasks } from "../../store/tasks/tasks.ts";
import { endEffectsWithOutput } from "../commit/commit-families.ts";
import { asPawlError } from "../errors.ts";
import { deliveryRecord, refusedEvents, undeliveredDeadLetter } from "../family/deliver.ts";
import type { Kernel } from "../kernel.ts";
import { deadLetterOfTask } from "../recovery/dead-letter.ts";
import { retryUntilKnown } from "../retry-unknown-outcome.ts";
import { checksTopic } from "../signals/signals.ts";
import type { StepOutput } from "../types/move-origin.ts";
import { attemptFailureOf } from "./attempt-failure.ts";
import { planReport } from "./outcomes.ts";
import { heldTaskIds, leaseBusy, type PendingReport } from "./pending-report.ts";

export async function returnAll(kernel: Kernel, batch: readonly PendingReport[]): Promise<void> {
  const lanes = new Map<string, string>();
  await writeWhileLeased(kernel, batch, {
    async write(open) {
      const tasks = open.map((pending) => pending.returned!);
      const written = await returnTasks(kernel.db, tasks);
      for (const { task_id, lane } of written) lanes.set(task_id, lane);
      return written;
    },
    isRecordOf: (pending, what) => what === pending.returned!.what,
  });
  for (const pending of batch) {
    const lane = lanes.get(pending.lease.taskId);
    if (lane !== undefined && pending.returned!.retryAfterMs === null) kernel.signals.hint(lane);
  }
}

/** Effects that are done, or that failed permanently after their last attempt. */
export async function endTasks(kernel: Kernel, given: readonly PendingReport[]): Promise<void> {
  for (const pending of given) if (pending.report.task.kind !== "effect") pending.error = notAnEffect();
  const batch = given.filter((pending) => pending.error === undefined);
  const made = batch.filter((pending) => pending.delivered !== undefined && pending.report.outcome.kind === "deliver");
  await endDeliveryTasks(kernel, made);
  const saying = batch.filter(({ report: { outcome } }) => outcome.kind === "done" && hasOutput(outcome));
  await endWithOutput(kernel, saying);
  const others = batch.filter((pending) => pending.result === undefined);
  await writeWhileLeased(kernel, others, {
    write: (open) =>
      endEffects(
        kernel.db,
        open.map(({ lease, report: { task, outcome } }) => {
          const given = outcome.kind === "done" ? null : attemptFailureOf(task, outcome as { kind: "lapsed" });
          const failure = given === null ? null : JSON.stringify(given.payload);
          return { ...lease, failure, lapsed: outcome.kind === "lapsed" };
        }),
        open.flatMap(({ report: { task, outcome } }) =>
          outcome.kind === "done"
            ? []
            : [deadLetterOfTask(kernel.newId(), task, attemptFailureOf(task, outcome as { kind: "lapsed" }))],
        ),
      ),
    // An effect that is done leaves nothing; its row goes in no other way without a word.
    isRecordOf: ({ report }, what) => what === (report.outcome.kind === "done" ? undefined : "failed"),
  });
}

function notAnEffect(): PawlError {
  return new PawlError(
    "option_invalid",
    "A step ends with an event of its state; only an after-effect is simply done.",
  );
}

/** Whether it is an effect that starts a child whose lifecycle has an `onMove`, which may throw. */
export function startsHooked({ report: { outcome } }: PendingReport): boolean {
  const { starts = [] } = outcome.kind === "done" ? outcome : {};
  return starts.some(({ planned }) => planned.start.lifecycle.onMove !== undefined);
}

/** Ends such effects, each alone. One for which a hook throws is an attempt that failed. */
export async function endEachHooked(kernel: Kernel, batch: readonly PendingReport[]): Promise<void> {
  for (const pending of batch) {
    try {
      await endWithOutput(kernel, [pending]);
    } catch (error) {
      if (asPawlError(error).fault === "environment") throw error;
      pending.report = { ...pending.report, outcome: { kind: "failed", error } };
      planReport(kernel, pending);
    }
  }
}

function endWithOutput(kernel: Kernel, batch: readonly PendingReport[]): Promise<void> {
  return writeWhileLeased(kernel, batch, {
    write: (open) => endEffectsWithOutput(kernel, open),
    isRecordOf: (_pending, what) => what === undefined,
  });
}

function hasOutput({ starts = [], sends = [] }: StepOutput): boolean {
  return starts.length > 0 || sends.length > 0;
}

/** Completed deliveries, with refused events and those that can never arrive. */
async function endDeliveryTasks(kernel: Kernel, batch: readonly PendingReport[]): Promise<void> {
  await writeWhileLeased(kernel, batch, {
    write: (open) =>
      endDeliveries(
        kernel.db,
        open.map(({ lease, delivered }) => ({ ...lease, what: null, detailText: null, ...deliveryRecord(delivered!) })),
        open.flatMap((pending) => refusedEvents(pending)),
        open.flatMap((pending) => undeliveredDeadLetter(kernel, pending)),
      ),
    isRecordOf: ({ delivered }, what) => what === deliveryRecord(delivered!)?.what,
  });
  // A join waits for what its parent has sent.
  if (batch.length > 0) kernel.signals.hint(checksTopic);
}

interface LeasedWrite {
  /** Writes those whose row is free and whose lease holds. */
  readonly write: (open: readonly PendingReport[]) => Promise<readonly { task_id: string }[]>;
  /** Whether a record shows that the report was written: how the lease ended, undefined without one. */
  readonly isRecordOf: (pending: PendingReport, what: string | undefined) => boolean;
}

/**
 * Writes reports without a move. A locked row is skipped, so a lease that still holds is tried again; one that is gone
 * may have been ended by an earlier try of ours that lost its reply, which its record shows.
 */
async function writeWhileLeased(
  kernel: Kernel,
  batch: readonly PendingReport[],
  { write, isRecordOf }: LeasedWrite,
): Promise<void> {
  if (batch.length === 0) return;
  const open = () => batch.filter((pending) => pending.result === undefined);
  let unsure = batch.some((pending) => pending.mayBeWritten);
  await retryUntilKnown(
    kernel,
    async () => {
      const written = await write(open()).catch((error: unknown) => {
        unsure ||= isPawlError(error, "outcome_unknown");
        throw error;
      });
      const done = new Set(written.map((one) => one.task_id));
      for (const pending of open()) if (done.has(pending.lease.taskId)) pending.result = "written";
      if (open().length === 0) return;
      const held = await heldTaskIds(kernel.db, open());
      const traces = unsure ? await endedAttempts(kernel.db, open()) : undefined;
      for (const pending of open()) {
        const { taskId } = pending.lease;
        // A lapse that was not written has met a worker that renewed.
        if (held.has(taskId) && pending.report.outcome.kind !== "lapsed") continue;
        pending.result = traces !== undefined && isRecordOf(pending, traces.get(taskId)) ? "written" : "lease_lost";
      }
      if (open().length > 0) throw leaseBusy();
    },
    unsure,
  );
}

async function endedAttempts(db: Executor, batch: readonly PendingReport[]): Promise<Map<string, string>> {
  const leases = batch.map(({ report, lease }) => ({ id: report.task.row.id, ...lease }));
  return new Map((await readEndedAttempts(db, leases)).map((one) => [one.task_id, one.what]));
}
