import { PawlError } from "../../base/errors.ts";
import type { Executor } from "../../store/port/db.ts";
import { readHeldLeases, type Setback } from "../../store/tasks/tasks.ts";
import type { Taken } from "../types/claimed-task.ts";
import type { Delivered } from "../types/delivery.ts";
import type { Outcome, Report, Reported } from "../types/outcome.ts";
import type { Failing } from "./attempt-failure.ts";

/** A report as the kernel works on it. */
export class Filing {
  readonly report: Report;
  result: Reported | undefined;
  /** A step's outcome that moves the instance. */
  move: Extract<Outcome, { kind: "event" | "recover" }> | Failing | undefined;
  setback: Setback | undefined;
  delivered: Delivered | undefined;
  /** It left a dead letter. */
  isBuried = false;
  /** Its instance failed with it, and is recovered later. */
  recovers = false;
  /** What its definition does not allow. */
  fault: PawlError | undefined;
  /** It may have been written by a try whose reply was lost: its traces are looked for first. */
  unsure: boolean;
  /** What kept it from being written. */
  obstacle: unknown;
  /** The next step, which came with it. */
  granted: Taken | undefined;
  /** A hook has to run, in a transaction of its own. */
  alone = false;

  constructor(report: Report) {
    this.report = report;
    this.unsure = report.again === true;
  }

  get lease() {
    return this.report.taken.lease;
  }
}

/** The tasks among these whose leases still hold. */
export async function heldOf(db: Executor, tasks: readonly Pick<Taken, "lease">[]): Promise<Set<string>> {
  const leases = tasks.map((task) => task.lease);
  return new Set((await readHeldLeases(db, leases)).map((one) => one.task_id));
}

/** The lease holds, and yet its row was passed over: somebody has it in hand for a moment, to renew it for example. */
export function leaseBusy(): PawlError {
  return new PawlError("busy", "A task that was reported is being written by somebody else. Try again.");
}
