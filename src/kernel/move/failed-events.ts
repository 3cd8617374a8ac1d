import { messageOf } from "../../base/errors.ts";
import { cleanText } from "../../base/json.ts";
import { sendLaneOf } from "../../definition/model.ts";
import { nextAttemptMs, standardRetry } from "../../policy/retry.ts";
import { payloadIn } from "../../store/move/payloads.ts";
import type { DueTimer } from "../../store/move/timers.ts";
import type { DeadLetterRow } from "../../store/recovery/dead-letters.ts";
import { errorFields } from "../../telemetry/log.ts";
import type { InstanceUpdate } from "../commit/instance-update.ts";
import type { Kernel } from "../kernel.ts";
import { describeError } from "../tasks/attempt-failure.ts";
import type { Delivery, OutgoingEvent } from "../types/delivery.ts";
import { HookOfTimerError } from "./hooks.ts";

/** Why an event of a timer, a release or a callback ended as a dead letter. */
export const eventFailed = "event_failed";

/**
 * A due event threw. It must not block other events of its instance, so its timer is delayed by the standard retry
 * policy, and in the end it becomes a dead letter. Each failure is noted in the history.
 */
export function failEvent(update: InstanceUpdate, timer: DueTimer, thrown: unknown): void {
  const attempt = timer.attempts + 1;
  const retryAfterMs = nextAttemptMs(standardRetry, attempt, Math.random()) ?? null;
  const error = describeError(thrown);
  const detail = { event: timer.event, ...originOf(timer), reason: eventFailed, error, retryAfterMs };
  update.noteFailure({ requestId: timer.request_id, attempt, detail });
  update.failedEvents = [...update.failedEvents, { event: timer.event, attempt, retryAfterMs, thrown }];
  if (retryAfterMs !== null) {
    update.retryEvent(timer, retryAfterMs);
    return;
  }
  const { event } = timer;
  const during = { run: update.instance.run, visit: timer.visit };
  const letter = deadLetterOfEvent(
    update,
    { id: update.newId(), event, payload: payloadIn(timer), during },
    { attempt, error },
  );
  update.failures.giveUp("event_failed", {
    ...letter,
    cause: `timer:${timer.request_id}`,
    detailsText: JSON.stringify({ event, ...originOf(timer) }),
  });
}

/** Whether Pawl itself sent the event: then it belongs to a visit, which a delayed event does not. */
export function isOwn({ kind, visit }: DueTimer): boolean {
  return kind === "send" && visit !== null;
}

function originOf(timer: DueTimer) {
  return isOwn(timer) ? { source: "pawl", visit: timer.visit } : { source: timer.kind };
}

/** The dead letter of an event that was not applied. A requeue delivers the event again. */
export function deadLetterOfEvent(
  { instance, lifecycle }: InstanceUpdate,
  event: Omit<OutgoingEvent, "to">,
  failure: { readonly attempt: number; readonly error: unknown },
): Omit<DeadLetterRow, "cause" | "detailsText"> {
  const letters: OutgoingEvent[] = [{ ...event, to: { id: instance.id } }];
  const delivery: Delivery = { lifecycle: lifecycle.name, run: instance.run, letters };
  return {
    id: event.id,
    instanceId: instance.id,
    lifecycle: lifecycle.name,
    kind: "effect",
    origin: sendLaneOf(lifecycle),
    reason: eventFailed,
    errorText: failure.error === null ? null : JSON.stringify(failure.error),
    attempts: failure.attempt,
    payloadText: JSON.stringify(letters),
    workText: JSON.stringify({ delivery }),
    version: instance.version,
    lease: null,
  };
}

/** Logs what failed, once that is written. */
export function logFailedEvents(kernel: Kernel, { failedEvents, lifecycle, instance }: InstanceUpdate): void {
  for (const { event, attempt, retryAfterMs, thrown } of failedEvents) {
    // A permanent failure has an alert, which is logged with it.
    if (retryAfterMs === null) continue;
    const fields = { lifecycle: lifecycle.name, instance: instance.id, event, attempt, retryAfterMs };
    const message = `Event \`${event}\` of \`${lifecycle.name}\` was due and failed; it is retried: ${cleanText(messageOf(thrown), 500)}`;
    kernel.telemetry.log.warn({ ...fields, ...errorFields(thrown) }, message);
  }
}

/**
 * Runs a transaction, and again without those due events and callbacks whose `before` hook threw in it. A hook may have
 * written something, so its transaction is rolled back first; the next one retries the event later.
 */
export async function withoutFailedEvents<T>(
  transaction: (failedTimers: ReadonlyMap<string, unknown>) => Promise<T>,
): Promise<T> {
  const failed = new Map<string, unknown>();
  for (;;) {
    try {
      return await transaction(failed);
    } catch (error) {
      if (!(error instanceof HookOfTimerError) || failed.has(error.timerId)) throw error;
      failed.set(error.timerId, error.cause);
    }
  }
}
