import type { PawlError } from "../../base/errors.ts";
import type { RecoveryCause } from "../../definition/decide/recover.ts";
import type { ClaimedTask } from "./claimed-task.ts";
import type { GrantDecider, StepOutput } from "./move-origin.ts";

/** The outcome of a task that a worker holds. */
export type Outcome =
  | ({
      readonly kind: "event";
      readonly event: string;
      readonly payload: unknown;
      readonly patch: Readonly<Record<string, unknown>>;
    } & StepOutput)
  /** An effect that was carried out. */
  | ({ readonly kind: "done" } & Pick<StepOutput, "starts" | "sends">)
  /** A delivery that a worker holds: its events are sent with the report. */
  | { readonly kind: "deliver" }
  /** The step before a failed instance's recovery is done: the instance may recover. */
  | ({ readonly kind: "recover"; readonly cause: RecoveryCause } & StepOutput)
  | { readonly kind: "failed"; readonly error: unknown }
  /** It ended in a way that its definition does not allow: the author has to fix one of them. */
  | { readonly kind: "faulty"; readonly error: PawlError }
  | { readonly kind: "gave_up"; readonly reason: string; readonly error?: unknown }
  | { readonly kind: "retry_later"; readonly afterMs: number; readonly reason: string | null }
  /** Returned unused: the worker stops. */
  | { readonly kind: "released" }
  /** Its worker fell silent. Why that spends no attempt, where it does not. */
  | { readonly kind: "lapsed"; readonly unspent?: "database_away" | "not_started" };

export interface Report {
  readonly task: ClaimedTask;
  readonly outcome: Outcome;
  /** A worker that offers to run the next step of the instance: whether it gets it, and what it does with it. */
  readonly stay?: { readonly grant: GrantDecider; readonly take: (next: ClaimedTask) => unknown };
  /** An earlier try of it failed, and may have been written all the same. */
  readonly again?: boolean;
}

/** Whether a report was written, or came too late: the lease was lost, or the state was left. */
export type ReportResult = "written" | "lease_lost";
