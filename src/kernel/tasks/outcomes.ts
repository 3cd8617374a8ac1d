import { parseDuration } from "../../base/duration.ts";
import { isPawlError, messageOf, type PawlError } from "../../base/errors.ts";
import { cleanText } from "../../base/json.ts";
import type { RetryRule } from "../../definition/model.ts";
import { matchingRule, nextAttemptMs, ruleFor, standardRetry } from "../../policy/retry.ts";
import type { ReturnedTask } from "../../store/tasks/tasks.ts";
import type { Kernel } from "../kernel.ts";
import { isRecovery } from "../recovery/recover.ts";
import type { ClaimedTask } from "../types/claimed-task.ts";
import type { Delivered } from "../types/delivery.ts";
import { type AttemptFailure, attemptFailureOf } from "./attempt-failure.ts";
import type { PendingReport } from "./pending-report.ts";

const faultPauseMs = 600_000;
const laterMs = 10_000;

/** The kind of write that a report needs. */
export function planReport(kernel: Kernel, pending: PendingReport): void {
  const { task, outcome } = pending.report;
  switch (outcome.kind) {
    case "event":
    case "recover":
      pending.move = outcome;
      return;
    case "done":
    case "deliver":
      return;
    case "retry_later":
      pending.returned = returnedTask(task, "deferred", outcome.afterMs, true, {
        reason: outcome.reason === null ? null : cleanText(messageOf(outcome.reason), 500),
      });
      return;
    case "released":
      pending.returned = returnedTask(task, "released", null, true, null);
      return;
    case "faulty":
      deferFaultyStep(pending, outcome.error);
      return;
    case "lapsed":
      if (outcome.unspent !== undefined) {
        pending.returned = returnedTask(task, "lapsed", null, true, { reason: outcome.unspent });
        return;
      }
      fail(kernel, pending, attemptFailureOf(task, outcome));
      return;
    case "failed":
    case "gave_up":
      fail(kernel, pending, attemptFailureOf(task, outcome));
  }
}

/**
 * An attempt that failed: again after a pause, or, when attempts are used up or the pause would outlast the instance's
 * deadline, the end of the step.
 */
export function fail(kernel: Kernel, pending: PendingReport, given: AttemptFailure): void {
  const { task } = pending.report;
  const retry = task.lifecycle.states.get(task.row.state)?.retry ?? standardRetry;
  const general = task.kind === "step" ? retry : standardRetry;
  const rule = given.thrown === undefined ? undefined : ruleFor(general, given.thrown);
  const failure = rule === undefined ? given : ofRetryRule(given, rule);
  const policy = matchingRule(general, rule);
  const pauseMs = failure.final ? undefined : nextAttemptMs(policy, task.attempt, Math.random());
  if (pauseMs === undefined) {
    if (task.kind === "step") pending.move = failure;
    return;
  }
  const wantedMs = parseDuration(failure.retryAfterMs ?? pauseMs);
  const afterMs = failure.what === "lapsed" ? null : typeof wantedMs === "number" ? wantedMs : pauseMs;
  const deadlineMs = task.kind === "step" && !isRecovery(task) ? task.row.deadline_ms : null;
  if (afterMs !== null && deadlineMs !== null && kernel.clock.nowMs() + afterMs >= deadlineMs)
    pending.move = { ...failure, payload: { ...failure.payload, reason: "deadline" } };
  else
    pending.returned = returnedTask(task, failure.what, afterMs, false, {
      ...failure.payload,
      reason: retriedAs[failure.what],
    });
}

/** The name of an attempt that is followed by another one. */
const retriedAs = { failed: "attempt_failed", lapsed: "lease_expired" } as const;

/** A rule applies to more than the class of an error: even permanent errors are retried as often as it says. */
function ofRetryRule(failure: AttemptFailure, { type = failure.payload.type ?? undefined }: RetryRule): AttemptFailure {
  return { ...failure, final: false, payload: { ...failure.payload, type: type ?? null, reason: "attempts_used_up" } };
}

/** An incomplete delivery: events that were sent are found again at the next try, and are not sent twice. */
export function returnDelivery(kernel: Kernel, pending: PendingReport, { later, failed }: Delivered): void {
  const { task } = pending.report;
  if (later !== undefined) {
    pending.returned = returnedTask(task, "deferred", laterMs, true, { reason: cleanText(later.message, 500) });
  } else if (failed !== undefined) fail(kernel, pending, attemptFailureOf(task, { kind: "failed", error: failed }));
}

export function returnedTask(
  task: ClaimedTask,
  what: ReturnedTask["what"],
  afterMs: number | null,
  refund: boolean,
  detail: unknown,
): ReturnedTask {
  return {
    ...task.lease,
    what,
    retryAfterMs: afterMs,
    refund,
    detailText: detail === null ? null : JSON.stringify(detail),
  };
}

/**
 * A step contradicts its definition. No attempt is spent and nothing fails: the step waits for a fix, and is retried
 * now and then, so that a new definition finds it.
 */
export function deferFaultyStep(pending: PendingReport, fault: PawlError): void {
  pending.fault = fault;
  pending.move = undefined;
  const detail = { reason: "definition", error: { name: fault.name, message: cleanText(fault.message, 2_000) } };
  pending.returned = returnedTask(pending.report.task, "deferred", faultPauseMs, true, detail);
}

/** A recovery that its instance refuses is not retried: nothing would change without a person. */
export function refusedRecovery({ report: { task }, move }: PendingReport, error: unknown): AttemptFailure | undefined {
  if (move?.kind !== "recover" || !isPawlError(error, "transition_refused")) return undefined;
  return attemptFailureOf(task, { kind: "gave_up", reason: "recover_refused", error });
}
