import { type ErrorCode, messageOf } from "../../base/errors.ts";
import type { Tx } from "../../store/port/db.ts";
import { withinSavepoint } from "../../store/port/foreign-tx.ts";
import { insertNotesAlone, type NoteRow } from "../../store/tasks/attempts.ts";
import { errorFields } from "../../telemetry/log.ts";
import type { Kernel } from "../kernel.ts";
import { describeError } from "../tasks/attempt-failure.ts";
import type { Send, Sent } from "../types/send.ts";

/** A call with its answer and the instance that it was for. */
interface Answered {
  readonly send: Send;
  readonly outcome: Sent | undefined;
  readonly instanceId: string | undefined;
}

const thrownCodes: readonly ErrorCode[] = ["guard_failed", "set_failed", "hook_failed"];

/**
 * Notes in the histories of their instances which calls failed because the definition threw. The caller gets the error
 * whether or not that can be noted.
 */
export async function noteFailedCalls(kernel: Kernel, calls: readonly Answered[], tx?: Tx): Promise<void> {
  const notes = calls.flatMap(noteOf);
  if (notes.length === 0) return;
  try {
    if (tx === undefined) await insertNotesAlone(kernel.db, notes);
    else await withinSavepoint(tx, () => insertNotesAlone(tx, notes));
  } catch (error) {
    const message = `${notes.length} failed calls could not be noted in the history: ${messageOf(error)}`;
    kernel.telemetry.log.warn(errorFields(error), message);
  }
}

function noteOf({ send, outcome, instanceId }: Answered): NoteRow[] {
  // What Pawl sends has a retry policy, and its notes, of its own.
  if ((send.source ?? "call") !== "call" || instanceId === undefined) return [];
  if (outcome === undefined || outcome.ok || !thrownCodes.includes(outcome.error.code)) return [];
  const { event, actor, requestId: taskId } = send;
  const detail = { event, source: "call", actor, reason: outcome.error.code, error: describeError(outcome.error) };
  const detailText = JSON.stringify(detail);
  // Under token 0, which no lease has: the call of this mark has moved nothing.
  return [{ instanceId, taskId, token: 0, what: "failed", lane: null, attempt: null, detailText }];
}
