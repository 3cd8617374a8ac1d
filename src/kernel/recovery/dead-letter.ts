import { cleanText } from "../../base/json.ts";
import type { Decision } from "../../definition/decide/move.ts";
import type { LifecycleModel } from "../../definition/model.ts";
import type { FailureColumn } from "../../store/move/instances.ts";
import type { DeadLetterRow } from "../../store/recovery/dead-letters.ts";
import type { AttemptFailure } from "../tasks/attempt-failure.ts";
import type { ClaimedTask } from "../types/claimed-task.ts";
import type { Delivery } from "../types/delivery.ts";
import type { MoveOrigin } from "../types/move-origin.ts";

/** The data of a move's cause: the payload of `fail`, or that of the event. */
export interface StatedFailure {
  readonly reason: string;
  readonly error: { readonly name: string; readonly message: string } | null;
  readonly attempts: number;
}

export function statedFailure(move: Pick<Decision, "event" | "payload" | "reason">): StatedFailure {
  const given = (move.payload ?? {}) as Partial<StatedFailure>;
  const isFail = move.event === "fail";
  return {
    reason: (isFail ? given.reason : undefined) ?? move.reason ?? move.event,
    error: (isFail ? given.error : undefined) ?? null,
    attempts: (isFail ? given.attempts : undefined) ?? 0,
  };
}

/** The failure of an instance, for its own row. The reason is cut, since lists find it by an index. */
export function failureColumn(decision: Decision): FailureColumn {
  const { reason, error } = statedFailure(decision);
  return {
    reason: cleanText(reason, 500),
    error: error === null ? null : { name: cleanText(error.name, 200), message: cleanText(error.message, 2_000) },
    state: decision.from ?? decision.instance.state,
  };
}

/** The dead letter of an instance that failed permanently with a move. */
export function deadLetterOfMove(
  id: string,
  lifecycle: LifecycleModel,
  decision: Decision,
  origin: MoveOrigin,
  because: { readonly reason?: string; readonly details?: unknown } = {},
): DeadLetterRow {
  const { instance } = decision;
  const failure = statedFailure(decision);
  return {
    id,
    instanceId: instance.id,
    lifecycle: lifecycle.name,
    kind: "instance",
    origin: decision.from ?? instance.state,
    reason: because.reason ?? failure.reason,
    errorText: failure.error === null ? null : JSON.stringify(failure.error),
    attempts: failure.attempts,
    payloadText: decision.payload === undefined ? null : JSON.stringify(decision.payload),
    detailsText: because.details === undefined ? null : JSON.stringify(because.details),
    workText: null,
    cause: `move:${instance.id}:${instance.version}`,
    version: instance.version,
    lease: origin.lease === null ? null : { taskId: origin.lease.taskId, token: origin.lease.token },
  };
}

/**
 * The dead letter of a task that failed permanently without a move: an after-effect, a delivery, the recovery of a
 * failed instance.
 */
export function deadLetterOfTask(
  id: string,
  task: ClaimedTask,
  { payload }: Pick<AttemptFailure, "payload">,
): DeadLetterRow {
  const { row, lease } = task;
  return {
    id,
    instanceId: row.id,
    lifecycle: row.lifecycle,
    reason: payload.reason,
    errorText: payload.error === null ? null : JSON.stringify(payload.error),
    attempts: payload.attempts,
    detailsText: null,
    cause: `task:${lease.taskId}:${lease.token}`,
    version: row.version,
    lease,
    ...aboutOf(task),
  };
}

/** Whether it is about an event that belongs to a visit, or to a run at least. */
export function isOfEvent({ kind, workText }: DeadLetterRow, about: "visit" | "run"): boolean {
  if (kind !== "effect" || workText === null) return false;
  const { delivery } = JSON.parse(workText) as { delivery?: Delivery };
  const during = delivery?.letters?.[0]?.during;
  return during !== undefined && (about === "run" || during.visit !== null);
}

function aboutOf(task: ClaimedTask): Pick<DeadLetterRow, "kind" | "origin" | "payloadText" | "workText"> {
  const { row, work, delivery } = task;
  if (delivery !== undefined) {
    const payloadText = JSON.stringify(delivery.letters ?? null);
    return { kind: "effect", origin: task.lane, payloadText, workText: JSON.stringify({ delivery }) };
  }
  if (work === null) {
    return { kind: "instance", origin: row.failed_from ?? row.state, payloadText: null, workText: null };
  }
  const payloadText = JSON.stringify(work.payload ?? null);
  return { kind: "effect", origin: work.event, payloadText, workText: JSON.stringify(work) };
}
