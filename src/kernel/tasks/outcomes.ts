import { parseDuration } from "../../base/duration.ts";
import { isPawlError, messageOf, type PawlError } from "../../base/errors.ts";
import { cleanText } from "../../base/json.ts";
import type { RetryRule } from "../../definition/model.ts";
import { nextAttemptMs, ruleFor, standardRetry, underRule } from "../../policy/retry.ts";
import type { Setback } from "../../store/tasks/tasks.ts";
import type { Kernel } from "../kernel.ts";
import { isRecovery } from "../recovery/recover.ts";
import type { Taken } from "../types/claimed-task.ts";
import type { Delivered } from "../types/delivery.ts";
import { type Failing, failingOf } from "./attempt-failure.ts";
import type { Filing } from "./pending-report.ts";

const faultPauseMs = 600_000;
const laterMs = 10_000;

/** What kind of writing a report asks for. */
export function sort(kernel: Kernel, filing: Filing): void {
  const { taken, outcome } = filing.report;
  switch (outcome.kind) {
    case "event":
    case "recover":
      filing.move = outcome;
      return;
    case "done":
    case "deliver":
      return;
    case "retry_later":
      filing.setback = setbackOf(taken, "deferred", outcome.afterMs, true, {
        reason: outcome.reason === null ? null : cleanText(messageOf(outcome.reason), 500),
      });
      return;
    case "released":
      filing.setback = setbackOf(taken, "released", null, true, null);
      return;
    case "faulty":
      setAside(filing, outcome.error);
      return;
    case "lapsed":
      if (outcome.unspent !== undefined) {
        filing.setback = setbackOf(taken, "lapsed", null, true, { reason: outcome.unspent });
        return;
      }
      fail(kernel, filing, failingOf(taken, outcome));
      return;
    case "failed":
    case "gave_up":
      fail(kernel, filing, failingOf(taken, outcome));
  }
}

/**
 * An attempt that failed: again after a pause, or, when attempts are used up or the pause would outlast the instance's
 * deadline, the end of the step.
 */
export function fail(kernel: Kernel, filing: Filing, given: Failing): void {
  const { taken } = filing.report;
  const retry = taken.lifecycle.states.get(taken.row.state)?.retry ?? standardRetry;
  const general = taken.kind === "step" ? retry : standardRetry;
  const rule = given.thrown === undefined ? undefined : ruleFor(general, given.thrown);
  const failing = rule === undefined ? given : underItsType(given, rule);
  const policy = underRule(general, rule);
  const pauseMs = failing.final ? undefined : nextAttemptMs(policy, taken.attempt, Math.random());
  if (pauseMs === undefined) {
    if (taken.kind === "step") filing.move = failing;
    return;
  }
  const wantedMs = parseDuration(failing.retryAfterMs ?? pauseMs);
  const afterMs = failing.what === "lapsed" ? null : typeof wantedMs === "number" ? wantedMs : pauseMs;
  const deadlineMs = taken.kind === "step" && !isRecovery(taken) ? taken.row.deadline_ms : null;
  if (afterMs !== null && deadlineMs !== null && kernel.clock.nowMs() + afterMs >= deadlineMs)
    filing.move = { ...failing, payload: { ...failing.payload, reason: "deadline" } };
  else
    filing.setback = setbackOf(taken, failing.what, afterMs, false, {
      ...failing.payload,
      reason: retriedAs[failing.what],
    });
}

/** What an attempt is called that is followed by another one. */
const retriedAs = { failed: "attempt_failed", lapsed: "lease_expired" } as const;

/** A rule is more than the class of an error: also what is permanent is tried as often as it says. */
function underItsType(failing: Failing, { type = failing.payload.type ?? undefined }: RetryRule): Failing {
  return { ...failing, final: false, payload: { ...failing.payload, type: type ?? null, reason: "attempts_used_up" } };
}

/** A delivery that is not at its end: what was sent is found again at the next try, and is not sent twice. */
export function putOff(kernel: Kernel, filing: Filing, { later, failed }: Delivered): void {
  const { taken } = filing.report;
  if (later !== undefined) {
    filing.setback = setbackOf(taken, "deferred", laterMs, true, { reason: cleanText(later.message, 500) });
  } else if (failed !== undefined) fail(kernel, filing, failingOf(taken, { kind: "failed", error: failed }));
}

export function setbackOf(
  taken: Taken,
  what: Setback["what"],
  afterMs: number | null,
  refund: boolean,
  detail: unknown,
): Setback {
  return {
    ...taken.lease,
    what,
    retryAfterMs: afterMs,
    refund,
    detailText: detail === null ? null : JSON.stringify(detail),
  };
}

/**
 * A step and its definition are at odds. No attempt is spent and nothing fails: the step waits for whoever can mend it, and
 * is tried now and then, so that a new definition finds it.
 */
export function setAside(filing: Filing, fault: PawlError): void {
  filing.fault = fault;
  filing.move = undefined;
  const detail = { reason: "definition", error: { name: fault.name, message: cleanText(fault.message, 2_000) } };
  filing.setback = setbackOf(filing.report.taken, "deferred", faultPauseMs, true, detail);
}

/** A recovery that its instance refuses is not tried again: nothing would change until somebody does something. */
export function refusedRecovery({ report: { taken }, move }: Filing, error: unknown): Failing | undefined {
  if (move?.kind !== "recover" || !isPawlError(error, "transition_refused")) return undefined;
  return failingOf(taken, { kind: "gave_up", reason: "recover_refused", error });
}
