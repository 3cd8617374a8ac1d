import { PawlError } from "../../base/errors.ts";
import type { LeaseLossReason } from "../../kernel/tasks/lease-loss.ts";
import type { ClaimedTask } from "../../kernel/types/claimed-task.ts";

/**
 * Why a step's result would no longer count: an event or a timer made its instance leave the state, its lease ran out, or
 * its worker stops.
 */
export type AbortReason = LeaseLossReason | "stopping";

const sentences: Record<AbortReason, string> = {
  superseded: "Its instance left the state because of an event.",
  timeout: "Its instance left the state because of a timeout.",
  lapsed: "Its lease expired, and another worker may run it.",
  stopping: "Its worker is stopping, and its shutdown grace has ended.",
};

/** Why a step's `signal` was aborted: `signal.reason.details.reason`. */
export function stepAborted(reason: AbortReason, { lease: { taskId }, lane }: ClaimedTask): PawlError {
  return new PawlError("step_aborted", `The step of ${lane} was aborted. ${sentences[reason]}`, {
    reason,
    taskId,
    lane,
  });
}

/** Aborts a step early. Its signal is created on first use, since most steps never use it. */
export class StepAbort {
  #controller: AbortController | undefined;
  #reason: unknown;
  #aborted = false;

  get aborted(): boolean {
    return this.#aborted;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** The first reason stays. */
  abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
