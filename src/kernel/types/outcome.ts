import type { PawlError } from "../../base/errors.ts";
import type { RecoveryCause } from "../../definition/decide/recover.ts";
import type { ClaimedTask } from "./claimed-task.ts";
import type { GrantDecider, StepOutput } from "./move-origin.ts";

/** What became of a task in a worker's hands. */
export type Outcome =
  | ({
      readonly kind: "event";
      readonly event: string;
      readonly payload: unknown;
      readonly patch: Readonly<Record<string, unknown>>;
    } & StepOutput)
  /** An effect that was carried out. */
  | ({ readonly kind: "done" } & Pick<StepOutput, "starts" | "sends">)
  /** A delivery in a worker's hands: what it carries is sent with the report. */
  | { readonly kind: "deliver" }
  /** What comes before a failed instance's recovery is done: it may be taken up again. */
  | ({ readonly kind: "recover"; readonly cause: RecoveryCause } & StepOutput)
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
  readonly task: ClaimedTask;
  readonly outcome: Outcome;
  /** A worker that would stay with the instance: whether it gets the next step, and what it does with it. */
  readonly stay?: { readonly grant: GrantDecider; readonly take: (next: ClaimedTask) => unknown };
  /** An earlier try of it failed, and may have been written all the same. */
  readonly again?: boolean;
}

/** Whether a report was taken down, or came too late: the lease has passed to someone else, or the state was left. */
export type ReportResult = "written" | "lease_lost";
