import { PawlError } from "../../base/errors.ts";
import { cleanText } from "../../base/json.ts";
import type { InstanceModel } from "../../definition/decide/instance.ts";
import { failedFromOf } from "../../definition/decide/move.ts";
import { acceptLate, failed } from "../../definition/model.ts";
import type { SettledCallback, WaitingCallback } from "../../store/callbacks/callbacks.ts";
import { payloadIn } from "../../store/move/payloads.ts";
import type { Course } from "../commit/instance-update.ts";
import type { Maker } from "../types/move-origin.ts";
import type { AcceptedCallback } from "../types/send.ts";
import { happen } from "./apply-event.ts";
import { failCallback, stillWaiting } from "./failed-callbacks.ts";

type Settled = Pick<SettledCallback, "status" | "accepted" | "isLate" | "reason" | "version">;

/**
 * Lets callbacks happen that have come for an instance: those that wait, and some that come now, each as soon as the
 * instance stands in a state that takes its event. One whose guard, `set` or hook throws keeps no other from the instance:
 * it is retried by its own policy, in a round of maintenance.
 */
export function match(course: Course, arriving: readonly WaitingCallback[] = []): void {
  if (arriving.length > 0) course.waiting = [...course.waiting, ...arriving];
  if (course.waiting.length === 0) return;
  for (let version = -1; version !== course.instance.version; ) {
    version = course.instance.version;
    for (const callback of failedLast(course.waiting)) {
      const settled = tryToSettle(course, callback);
      if (settled === undefined) continue;
      course.waiting = course.waiting.filter((one) => one !== callback);
      course.settleCallback({ id: callback.id, looked: true, wasWaiting: true, ...settled });
      // It may have led to where an earlier one is waited for.
      if (course.instance.version !== version) break;
    }
  }
}

function failedLast(waiting: readonly WaitingCallback[]): readonly WaitingCallback[] {
  if (waiting.length === 1) return waiting;
  return [...waiting.filter((one) => one.reason === null), ...waiting.filter((one) => one.reason !== null)];
}

/** What becomes of it, or undefined when it waits on. */
function tryToSettle(course: Course, callback: WaitingCallback): Settled | undefined {
  if (callback.reason !== null && !isRetried(course, callback)) return undefined;
  const thrownBefore = course.failedTimers.get(callback.id);
  if (thrownBefore !== undefined) {
    failCallback(course, callback, thrownBefore);
    return undefined;
  }
  if (course.matching === "passing" && meetsHook(course, callback)) {
    if (callback.looked) note(course, callback, { looked: false, reason: null });
    return undefined;
  }
  const hooked = course.hooked.length;
  try {
    const settled = settle(course, callback);
    for (const decision of course.hooked.slice(hooked)) course.timersOfHooks.set(decision, callback.id);
    if (settled === undefined && !callback.looked) note(course, callback, { looked: true, reason: null });
    return settled;
  } catch (thrown) {
    failCallback(course, callback, thrown);
    return undefined;
  }
}

/** One that has failed is tried alone, when its pause is over. */
function isRetried({ matching, decisions, row }: Course, { retry_ms: retryMs }: WaitingCallback): boolean {
  return matching === "looking" && decisions.length === 0 && (retryMs === null || retryMs <= row.now_ms);
}

/** Whether its edge has a `before`, which runs in a transaction, and may throw. */
function meetsHook(course: Course, callback: WaitingCallback): boolean {
  const { lifecycle, instance } = course;
  const { state } = instance;
  const { event, error } = callback;
  if (lifecycle.edgesFrom(state, event).length === 0) {
    if (!canMakeUp(course, callback)) return false;
    return lifecycle.edgesFrom(failed, acceptLate).some(({ accepts, before }) => accepts?.event === event && before);
  }
  return lifecycle.edgesFrom(state, error === null ? event : "fail").some((edge) => edge.before !== undefined);
}

/** It waits on: because no state takes it yet, or because its edge has a hook, which needs a transaction. */
function note(course: Course, { id }: WaitingCallback, said: Pick<SettledCallback, "looked" | "reason">): void {
  course.settleCallback({ id, wasWaiting: true, ...stillWaiting, isLate: false, version: null, ...said });
}

function settle(course: Course, callback: WaitingCallback): Settled | undefined {
  const { lifecycle, instance } = course;
  if (callback.run !== instance.run) return refused("it was meant for an earlier run");
  const isLate = isPast(instance, callback.received_ms);
  if (isLate && instance.state === failed && lifecycle.builtIns) return keep(course, callback);
  if (instance.outcome !== null) return { ...refused(`it came when all had ended in \`${instance.state}\``), isLate };
  if (lifecycle.edgesFrom(instance.state, callback.event).length === 0)
    return canMakeUp(course, callback) ? makeUp(course, callback) : undefined;
  const { event: name, actor, error } = callback;
  const event =
    error === null
      ? { name, payload: payloadIn(callback), actor, reason: null, patch: callback.patch ?? undefined }
      : // Never a completion: the instance fails by it, and its recovery is what comes next.
        { name: "fail", payload: { reason: "callback_error", error }, actor, reason: "callback_error" };
  const refusal = happen(course, event, makerOf(callback));
  if (refusal !== undefined) return refused(refusal.blockers.map((one) => one.reason).join("; "));
  return { status: "applied", accepted: true, isLate: false, reason: null, version: course.instance.version };
}

/**
 * Whether a result that came in time completes an instance that has failed since, or had failed before: of the deadline in
 * whatever state that found it, of anything else where the instance waited for this very result. A result for a state that
 * is still to come completes nothing else: what lies between must not be skipped while the instance can recover. And what a
 * caller has failed on purpose stays failed.
 */
function canMakeUp(course: Course, { event, error, failed_by_call }: WaitingCallback): boolean {
  const { lifecycle, instance, failing } = course;
  if (error !== null || instance.state !== failed || !lifecycle.builtIns || lifecycle.deadline === undefined)
    return false;
  if (instance.timedOutAtMs !== null) return true;
  if (failing === undefined ? failed_by_call : failing.maker.source === "call") return false;
  const where = failedFromOf(lifecycle, instance);
  return where !== null && lifecycle.edgesFrom(where, event).length > 0;
}

function makeUp(course: Course, callback: WaitingCallback): Settled {
  const { event: accepts, patch, actor } = callback;
  const event = { name: acceptLate, accepts, payload: payloadIn(callback), patch: patch ?? undefined };
  const refusal = happen(course, { ...event, actor, reason: "in_time" }, makerOf(callback));
  if (refusal !== undefined) return refused(refusal.blockers.map((one) => one.reason).join("; "));
  return { status: "applied", accepted: true, isLate: false, reason: null, version: course.instance.version };
}

/** What came too late for an instance that has failed: by the rule of its lifecycle. */
function keep(course: Course, callback: WaitingCallback): Settled {
  const kept: Settled = { status: "kept", accepted: true, isLate: true, reason: null, version: null };
  const rule = course.lifecycle.deadline?.late ?? "keep";
  if (rule === "reject") return { ...kept, status: "rejected", accepted: false, reason: "it came after the deadline" };
  // Only the deadline is made up for: what failed of something else has failed.
  if (rule === "keep" || callback.error !== null || course.instance.timedOutAtMs === null) return kept;
  const { event: accepts, patch, actor } = callback;
  const late = { name: acceptLate, accepts, payload: payloadIn(callback), patch: patch ?? undefined };
  const refusal = happen(course, { ...late, actor, reason: "late" }, makerOf(callback));
  if (refusal !== undefined) return { ...kept, reason: refusal.blockers.map((one) => one.reason).join("; ") };
  return { ...kept, status: "accepted", version: course.instance.version };
}

/** Past the deadline. At the very moment of it, whatever was written first has come first. */
function isPast({ deadlineAtMs, timedOutAtMs }: InstanceModel, receivedMs: number): boolean {
  if (deadlineAtMs === null) return false;
  return timedOutAtMs === null ? receivedMs > deadlineAtMs : receivedMs >= deadlineAtMs;
}

function refused(reason: string): Settled {
  return { status: "refused", accepted: false, isLate: false, reason: cleanText(reason, 500), version: null };
}

function makerOf({ id }: WaitingCallback): Maker {
  return { source: "callback", requestId: id, lease: null };
}

/** Before the move: throws when it was settled otherwise in the meantime. */
export function refuseSettled(course: Course, { callbackId: id, wasWaiting }: AcceptedCallback): void {
  if (!wasWaiting || course.waiting.some((one) => one.id === id)) return;
  const message = `Callback ${id} was settled in the meantime. Read it again.`;
  throw new PawlError("callback_decided", message, { callback: id });
}

/** Settles it with the latest move. */
export function settleAccepted(course: Course, { callbackId: id, wasWaiting }: AcceptedCallback): void {
  course.waiting = course.waiting.filter((one) => one.id !== id);
  const { version } = course.instance;
  const status = wasWaiting ? "applied" : "accepted";
  course.settleCallback({
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
