import { messageOf } from "../../base/errors.ts";
import { cleanText } from "../../base/json.ts";
import { nextAttemptMs, standardRetry } from "../../policy/retry.ts";
import type { SettledCallback, WaitingCallback } from "../../store/callbacks/callbacks.ts";
import { payloadIn } from "../../store/move/payloads.ts";
import type { InstanceUpdate } from "../commit/instance-update.ts";
import { describeError } from "../tasks/attempt-failure.ts";
import { deadLetterOfEvent, eventFailed } from "./failed-events.ts";

/**
 * The guard, `set` or `before` hook of a stored callback threw. The callback is retried by the standard policy, and in
 * the end refused with a dead letter, which can be requeued. Each failure is noted in the history.
 */
export function failCallback(update: InstanceUpdate, callback: WaitingCallback, thrown: unknown): void {
  const { id, event } = callback;
  const attempt = callback.attempts + 1;
  // A requeue grants all attempts again; the count continues, since it identifies the failures in the history.
  const ofBudget = (callback.attempts % standardRetry.maxAttempts) + 1;
  const retryAfterMs = nextAttemptMs(standardRetry, ofBudget, Math.random()) ?? null;
  const error = describeError(thrown);
  const origin = { event, source: "callback", callback: id };
  update.noteFailure({ requestId: id, attempt, detail: { ...origin, reason: eventFailed, error, retryAfterMs } });
  update.failedEvents = [...update.failedEvents, { event, attempt, retryAfterMs, thrown }];
  const reason = cleanText(messageOf(thrown), 500);
  const settled = { id, wasWaiting: true, isLate: false, reason, version: null, attempts: attempt, retryAfterMs };
  if (retryAfterMs !== null) {
    const retryMs = update.row.now_ms + retryAfterMs;
    const failed: WaitingCallback = { ...callback, attempts: attempt, reason, looked: false, retry_ms: retryMs };
    update.waiting = update.waiting.map((one) => (one.id === id ? failed : one));
    update.settleCallback({ ...settled, ...stillWaiting, looked: false });
    return;
  }
  update.waiting = update.waiting.filter((one) => one.id !== id);
  update.settleCallback({ ...settled, status: "refused", accepted: false, looked: true });
  const during = { run: update.instance.run, visit: null };
  const letter = {
    id: update.newId(),
    event,
    payload: payloadIn(callback),
    during,
    callback: { id, attempts: attempt },
  };
  update.failures.giveUp("event_failed", {
    ...deadLetterOfEvent(update, letter, { attempt, error }),
    cause: `callback:${id}:${attempt}`,
    detailsText: JSON.stringify(callback.error === null ? origin : { ...origin, reported: callback.error }),
  });
}

/** The status of a callback that keeps waiting. */
export const stillWaiting = { status: "waiting", accepted: true } as const satisfies Partial<SettledCallback>;
