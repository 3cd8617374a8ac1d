import { PawlError } from "../../base/errors.ts";
import { cleanText } from "../../base/json.ts";
import type { InstanceModel } from "../../definition/decide/instance.ts";
import { failedFromOf } from "../../definition/decide/move.ts";
import { acceptLate, failed } from "../../definition/model.ts";
import type { SettledCallback, WaitingCallback } from "../../store/callbacks/callbacks.ts";
import { payloadIn } from "../../store/move/payloads.ts";
import type { InstanceUpdate } from "../commit/instance-update.ts";
import type { MoveOrigin } from "../types/move-origin.ts";
import type { AcceptedCallback } from "../types/send.ts";
import { applyEvent } from "./apply-event.ts";
import { failCallback, stillWaiting } from "./failed-callbacks.ts";

type Settled = Pick<SettledCallback, "status" | "accepted" | "isLate" | "reason" | "version">;

/**
 * Applies callbacks of an instance: waiting ones, and some that arrive now, each as soon as the instance is in a state
 * that accepts its event. One whose guard, `set` or hook throws blocks no other of the instance: it is retried by its
 * own policy, in a round of maintenance.
 */
export function matchCallbacks(update: InstanceUpdate, arriving: readonly WaitingCallback[] = []): void {
  if (arriving.length > 0) update.waiting = [...update.waiting, ...arriving];
  if (update.waiting.length === 0) return;
  for (let version = -1; version !== update.instance.version; ) {
    version = update.instance.version;
    for (const callback of failedLast(update.waiting)) {
      const settled = tryToSettle(update, callback);
      if (settled === undefined) continue;
      update.waiting = update.waiting.filter((one) => one !== callback);
      update.settleCallback({ id: callback.id, looked: true, wasWaiting: true, ...settled });
      // It may have led to where an earlier one is waited for.
      if (update.instance.version !== version) break;
    }
  }
}

function failedLast(waiting: readonly WaitingCallback[]): readonly WaitingCallback[] {
  if (waiting.length === 1) return waiting;
  return [...waiting.filter((one) => one.reason === null), ...waiting.filter((one) => one.reason !== null)];
}

/** Its outcome, or undefined if it keeps waiting. */
function tryToSettle(update: InstanceUpdate, callback: WaitingCallback): Settled | undefined {
  if (callback.reason !== null && !isRetried(update, callback)) return undefined;
  const thrownBefore = update.failedTimers.get(callback.id);
  if (thrownBefore !== undefined) {
    failCallback(update, callback, thrownBefore);
    return undefined;
  }
  if (update.matching === "passing" && hasHook(update, callback)) {
    if (callback.looked) noteWaiting(update, callback, { looked: false, reason: null });
    return undefined;
  }
  const hooked = update.hooked.length;
  try {
    const settled = settle(update, callback);
    for (const decision of update.hooked.slice(hooked)) update.timersOfHooks.set(decision, callback.id);
    if (settled === undefined && !callback.looked) noteWaiting(update, callback, { looked: true, reason: null });
    return settled;
  } catch (thrown) {
    failCallback(update, callback, thrown);
    return undefined;
  }
}

/** A failed one is retried alone, when its pause has ended. */
function isRetried({ matching, decisions, row }: InstanceUpdate, { retry_ms: retryMs }: WaitingCallback): boolean {
  return matching === "looking" && decisions.length === 0 && (retryMs === null || retryMs <= row.now_ms);
}

/** Whether its move has a `before` or an `onMove`, which run in a transaction, and may throw. */
function hasHook(update: InstanceUpdate, callback: WaitingCallback): boolean {
  const { lifecycle, instance } = update;
  const { state } = instance;
  const { event, error } = callback;
  if (lifecycle.onMove !== undefined) return true;
  if (lifecycle.edgesFrom(state, event).length === 0) {
    if (!canComplete(update, callback)) return false;
    return lifecycle.edgesFrom(failed, acceptLate).some(({ accepts, before }) => accepts?.event === event && before);
  }
  return lifecycle.edgesFrom(state, error === null ? event : "fail").some((edge) => edge.before !== undefined);
}

/** It keeps waiting: because no state accepts it yet, or because its edge has a hook, which needs a transaction. */
function noteWaiting(
  update: InstanceUpdate,
  { id }: WaitingCallback,
  said: Pick<SettledCallback, "looked" | "reason">,
): void {
  update.settleCallback({ id, wasWaiting: true, ...stillWaiting, isLate: false, version: null, ...said });
}

function settle(update: InstanceUpdate, callback: WaitingCallback): Settled | undefined {
  const { lifecycle, instance } = update;
  if (callback.run !== instance.run) return refused("it was meant for an earlier run");
  const isLate = isAfterDeadline(instance, callback.received_ms);
  if (isLate && instance.state === failed && lifecycle.builtIns) return settleLate(update, callback);
  if (instance.outcome !== null) return { ...refused(`it came when all had ended in \`${instance.state}\``), isLate };
  if (lifecycle.edgesFrom(instance.state, callback.event).length === 0)
    return canComplete(update, callback) ? completeInTime(update, callback) : undefined;
  const { event: name, actor, error } = callback;
  const event =
    error === null
      ? { name, payload: payloadIn(callback), actor, reason: null, patch: callback.patch ?? undefined }
      : // Never a completion: the instance fails by it, and its recovery is what comes next.
        { name: "fail", payload: { reason: "callback_error", error }, actor, reason: "callback_error" };
  const refusal = applyEvent(update, event, originOfCallback(callback));
  if (refusal !== undefined) return refused(refusal.blockers.map((one) => one.reason).join("; "));
  return { status: "applied", accepted: true, isLate: false, reason: null, version: update.instance.version };
}

/**
 * Whether a result that came in time completes an instance that has failed since, or had failed before: one that failed
 * by the deadline in any state, or for another reason where it waited for this very result. A result for a later state
 * completes nothing: states in between must not be skipped while the instance can recover. And an instance that a
 * caller has failed on purpose stays failed.
 */
function canComplete(update: InstanceUpdate, { event, error, failed_by_call }: WaitingCallback): boolean {
  const { lifecycle, instance, failedMove } = update;
  if (error !== null || instance.state !== failed || !lifecycle.builtIns || lifecycle.deadline === undefined)
    return false;
  if (instance.timedOutAtMs !== null) return true;
  if (failedMove === undefined ? failed_by_call : failedMove.origin.source === "call") return false;
  const where = failedFromOf(lifecycle, instance);
  return where !== null && lifecycle.edgesFrom(where, event).length > 0;
}

function completeInTime(update: InstanceUpdate, callback: WaitingCallback): Settled {
  const { event: accepts, patch, actor } = callback;
  const event = { name: acceptLate, accepts, payload: payloadIn(callback), patch: patch ?? undefined };
  const refusal = applyEvent(update, { ...event, actor, reason: "in_time" }, originOfCallback(callback));
  if (refusal !== undefined) return refused(refusal.blockers.map((one) => one.reason).join("; "));
  return { status: "applied", accepted: true, isLate: false, reason: null, version: update.instance.version };
}

/** A callback that came too late for a failed instance: by the rule of its lifecycle. */
function settleLate(update: InstanceUpdate, callback: WaitingCallback): Settled {
  const kept: Settled = { status: "kept", accepted: true, isLate: true, reason: null, version: null };
  const rule = update.lifecycle.deadline?.late ?? "keep";
  if (rule === "reject") return { ...kept, status: "rejected", accepted: false, reason: "it came after the deadline" };
  // Only the deadline is made up for: what failed of something else has failed.
  if (rule === "keep" || callback.error !== null || update.instance.timedOutAtMs === null) return kept;
  const { event: accepts, patch, actor } = callback;
  const late = { name: acceptLate, accepts, payload: payloadIn(callback), patch: patch ?? undefined };
  const refusal = applyEvent(update, { ...late, actor, reason: "late" }, originOfCallback(callback));
  if (refusal !== undefined) return { ...kept, reason: refusal.blockers.map((one) => one.reason).join("; ") };
  return { ...kept, status: "accepted", version: update.instance.version };
}

/** Past the deadline. At the very moment of it, the first one written comes first. */
function isAfterDeadline({ deadlineAtMs, timedOutAtMs }: InstanceModel, receivedMs: number): boolean {
  if (deadlineAtMs === null) return false;
  return timedOutAtMs === null ? receivedMs > deadlineAtMs : receivedMs >= deadlineAtMs;
}

function refused(reason: string): Settled {
  return { status: "refused", accepted: false, isLate: false, reason: cleanText(reason, 500), version: null };
}

function originOfCallback({ id }: WaitingCallback): MoveOrigin {
  return { source: "callback", requestId: id, lease: null };
}

/** Before the move: throws when it was settled otherwise in the meantime. */
export function refuseSettled(update: InstanceUpdate, { callbackId: id, wasWaiting }: AcceptedCallback): void {
  if (!wasWaiting || update.waiting.some((one) => one.id === id)) return;
  const message = `Callback ${id} was settled in the meantime. Read it again.`;
  throw new PawlError("callback_decided", message, { callback: id });
}

/** Settles it with the latest move. */
export function settleAccepted(update: InstanceUpdate, { callbackId: id, wasWaiting }: AcceptedCallback): void {
  update.waiting = update.waiting.filter((one) => one.id !== id);
  const { version } = update.instance;
  const status = wasWaiting ? "applied" : "accepted";
  update.settleCallback({
    id,
    status,
    looked: true,
    wasWaiting,
    accepted: true,
    isLate: !wasWaiting,
    reason: null,
    version,
  });
}
