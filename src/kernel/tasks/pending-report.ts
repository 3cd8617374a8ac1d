import { PawlError } from "../../base/errors.ts";
import type { Executor } from "../../store/port/db.ts";
import { type ReturnedTask, readHeldLeases } from "../../store/tasks/tasks.ts";
import type { ClaimedTask } from "../types/claimed-task.ts";
import type { Delivered } from "../types/delivery.ts";
import type { Outcome, Report, ReportResult } from "../types/outcome.ts";
import type { AttemptFailure } from "./attempt-failure.ts";

/** A report as the kernel works on it. */
export class PendingReport {
  report: Report;
  result: ReportResult | undefined;
  /** A step's outcome that moves the instance. */
  move: Extract<Outcome, { kind: "event" | "recover" }> | AttemptFailure | undefined;
  returned: ReturnedTask | undefined;
  delivered: Delivered | undefined;
  /** It left a dead letter. */
  leftDeadLetter = false;
  /** Its instance failed with it, and is recovered later. */
  recovers = false;
  /** What its definition does not allow. */
  fault: PawlError | undefined;
  /** It may have been written by a try whose reply was lost: its traces are searched for first. */
  mayBeWritten: boolean;
  /** What kept it from being written. */
  error: unknown;
  /** The next step, which was leased with it. */
  granted: ClaimedTask | undefined;
  /** A hook has to run, in a transaction of its own. */
  needsTransaction = false;

  constructor(report: Report) {
    this.report = report;
    this.mayBeWritten = report.again === true;
  }

  get lease() {
    return this.report.task.lease;
  }
}

/** The tasks among these whose leases still hold. */
export async function heldTaskIds(db: Executor, tasks: readonly Pick<ClaimedTask, "lease">[]): Promise<Set<string>> {
  const leases = tasks.map((task) => task.lease);
  return new Set((await readHeldLeases(db, leases)).map((one) => one.task_id));
}

/**
 * The lease holds, but its row was skipped: another transaction has it locked for a moment, to renew it for example.
 */
export function leaseBusy(): PawlError {
  return new PawlError("busy", "Another transaction is writing the reported task. Try again.");
}
