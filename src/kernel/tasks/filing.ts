import { PawlError } from "../../base/errors.ts";
import type { RecoveryCause } from "../../definition/decide/recover.ts";
import type { Executor } from "../../store/port/db.ts";
import { readHeldLeases, type Setback } from "../../store/tasks/tasks.ts";
import type { Granting, Said } from "../commit/course.ts";
import type { Delivered } from "../family/deliver.ts";
import type { Failing } from "./failing.ts";
import type { Taken } from "./take.ts";

/** What became of a task in a worker's hands. */
export type Outcome =
  | ({
      readonly kind: "event";
      readonly event: string;
      readonly payload: unknown;
      readonly patch: Readonly<Record<string, unknown>>;
    } & Said)
  /** An effect that was carried out. */
  | ({ readonly kind: "done" } & Pick<Said, "starts" | "sends">)
  /** A delivery in a worker's hands: what it carries is sent with the report. */
  | { readonly kind: "deliver" }
  /** What comes before a failed instance's recovery is done: it may be taken up again. */
  | ({ readonly kind: "recover"; readonly cause: RecoveryCause } & Said)
  | { readonly kind: "failed"; readonly error: unknown }
  /** It ended in a way that its definition does not allow: the author has to mend one of them. */
  | { readonly kind: "faulty"; readonly error: PawlError }
  | { readonly kind: "gave_up"; readonly reason: string; readonly error?: unknown }
  | { readonly kind: "retry_later"; readonly afterMs: number; readonly reason: string | null }
  /** Given back unused: the worker stops. */
  | { readonly kind: "released" }
  /** Its worker fell silent. Why that spends no attempt, where it does not. */
  | { readonly kind: "lapsed"; readonly unspent?: "database_away" | "not_started" };

export interface Report {
  readonly taken: Taken;
  readonly outcome: Outcome;
  /** A worker that would stay with the instance: whether it gets the next step, and what it does with it. */
  readonly stay?: { readonly grant: Granting; readonly take: (next: Taken) => unknown };
  /** An earlier try of it failed, and may have been written all the same. */
  readonly again?: boolean;
}

/** Whether a report was taken down, or came too late: the lease has passed to someone else, or the state was left. */
export type Reported = "written" | "lease_lost";

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
