import { cleanText } from "../../base/json.ts";
import type { Decision } from "../../definition/decide/move.ts";
import type { LifecycleModel } from "../../definition/model.ts";
import type { FailureColumn } from "../../store/move/instances.ts";
import type { DeadLetterRow } from "../../store/recovery/dead-letters.ts";
import type { Failing } from "../tasks/attempt-failure.ts";
import type { Taken } from "../types/claimed-task.ts";
import type { Maker } from "../types/move-origin.ts";

/** What a move tells of why it was made: the payload of `fail`, or that of whichever event led there. */
export interface Told {
  readonly reason: string;
  readonly error: { readonly name: string; readonly message: string } | null;
  readonly attempts: number;
}

export function toldBy(move: Pick<Decision, "event" | "payload" | "reason">): Told {
  const given = (move.payload ?? {}) as Partial<Told>;
  const isFail = move.event === "fail";
  return {
    reason: (isFail ? given.reason : undefined) ?? move.reason ?? move.event,
    error: (isFail ? given.error : undefined) ?? null,
    attempts: (isFail ? given.attempts : undefined) ?? 0,
  };
}

/** What an instance failed of, for its own row. The reason is cut, since lists find it by an index. */
export function failureColumn(decision: Decision): FailureColumn {
  const { reason, error } = toldBy(decision);
  return {
    reason: cleanText(reason, 500),
    error: error === null ? null : { name: cleanText(error.name, 200), message: cleanText(error.message, 2_000) },
    state: decision.from ?? decision.instance.state,
  };
}

/** What is left of an instance's work that is given up with a move, for a person to decide. */
export function letterOfMove(
  id: string,
  lifecycle: LifecycleModel,
  decision: Decision,
  maker: Maker,
  because: { readonly reason?: string; readonly details?: unknown } = {},
): DeadLetterRow {
  const { instance } = decision;
  const told = toldBy(decision);
  return {
    id,
    instanceId: instance.id,
    lifecycle: lifecycle.name,
    kind: "instance",
    origin: decision.from ?? instance.state,
    reason: because.reason ?? told.reason,
    errorText: told.error === null ? null : JSON.stringify(told.error),
    attempts: told.attempts,
    payloadText: decision.payload === undefined ? null : JSON.stringify(decision.payload),
    detailsText: because.details === undefined ? null : JSON.stringify(because.details),
    workText: null,
    cause: `move:${instance.id}:${instance.version}`,
    version: instance.version,
    lease: maker.lease === null ? null : { taskId: maker.lease.taskId, token: maker.lease.token },
  };
}

/** What is left of a task that was given up without a move: an after-effect, a delivery, the recovery of a failed instance. */
export function letterOfTask(id: string, taken: Taken, { payload }: Pick<Failing, "payload">): DeadLetterRow {
  const { row, lease } = taken;
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
    ...aboutOf(taken),
  };
}

function aboutOf(taken: Taken): Pick<DeadLetterRow, "kind" | "origin" | "payloadText" | "workText"> {
  const { row, work, delivery } = taken;
  if (delivery !== undefined) {
    const payloadText = JSON.stringify(delivery.letters ?? null);
    return { kind: "effect", origin: taken.lane, payloadText, workText: JSON.stringify({ delivery }) };
  }
  if (work === null) {
    return { kind: "instance", origin: row.failed_from ?? row.state, payloadText: null, workText: null };
  }
  const payloadText = JSON.stringify(work.payload ?? null);
  return { kind: "effect", origin: work.event, payloadText, workText: JSON.stringify(work) };
}
