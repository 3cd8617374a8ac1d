import type { PawlError } from "../../base/errors.ts";
import { decide, decideRename } from "../../definition/decide/decide.ts";
import { planRecovery } from "../../definition/decide/recover.ts";
import { failed, type LifecycleModel } from "../../definition/model.ts";
import { type InstanceRow, readInstances } from "../../store/move/instances.ts";
import { readMovesOfRequests } from "../../store/move/journal.ts";
import { modelOf } from "../commit/rows.ts";
import { asPawlError, refusedError } from "../errors.ts";
import { type Kernel, lifecycleOf } from "../kernel.ts";
import { isRecover } from "../recovery/recover.ts";
import { checkedPatch } from "../recovery/requeue.ts";
import type { Send } from "../types/send.ts";
import type { Verbs } from "../verbs.ts";

/** What a bulk operation sends to each of its instances. */
export interface BulkEvent {
  readonly decision: "send" | "recover" | "restart" | "discard";
  /** The event of `send`. */
  readonly event: string | null;
  readonly payload: unknown;
  /** Keys of the data to change first. */
  readonly data: Readonly<Record<string, unknown>> | undefined;
  readonly actor: string | null;
  readonly reason: string | null;
}

/** An instance of a bulk operation, in the visit in which it was listed. */
export interface BulkTarget {
  readonly id: string;
  /** The mark by which its move is found again. */
  readonly requestId: string;
  readonly run: number;
  readonly visit: number;
}

/** The result for an instance; `gone` if it was deleted. */
export type BulkResult =
  | { readonly id: string; readonly kind: "moved" | "gone" }
  | { readonly id: string; readonly kind: "refused"; readonly error: PawlError };

/**
 * Sends the event to each instance that is still in the visit in which it was listed. At most once: one that has the
 * mark of an earlier attempt in its journal counts as moved, and is left alone.
 */
export async function sendToEach(
  kernel: Kernel,
  verbs: Verbs,
  targets: readonly BulkTarget[],
  wanted: BulkEvent,
): Promise<BulkResult[]> {
  const rows = new Map(
    (
      await readInstances(
        kernel.db,
        targets.map((one) => one.id),
      )
    ).map((row) => [row.id, row]),
  );
  const results = new Map<string, BulkResult>();
  const sends: { target: BulkTarget; send: Send }[] = [];
  const unfit: { target: BulkTarget; error: PawlError }[] = [];
  for (const target of targets) {
    const row = rows.get(target.id);
    if (row === undefined) results.set(target.id, { id: target.id, kind: "gone" });
    else {
      try {
        sends.push({ target, send: sendFor(lifecycleOf(kernel, row), row, target, wanted) });
      } catch (thrown) {
        unfit.push({ target, error: asPawlError(thrown) });
      }
    }
  }
  const sent =
    sends.length === 0
      ? []
      : await verbs.sendMany(
          sends.map((one) => one.send),
          undefined,
        );
  for (const [index, one] of sent.entries()) {
    const { id } = sends[index]!.target;
    results.set(id, one.ok ? { id, kind: "moved" } : { id, kind: "refused", error: one.error });
  }
  if (unfit.length > 0) {
    const marks = unfit.map(({ target: { id, requestId } }) => ({ id, requestId, afterVersion: 0 }));
    const moved = new Set((await readMovesOfRequests(kernel.db, marks)).map((move) => move.request_id));
    for (const { target, error } of unfit) {
      const { id, requestId } = target;
      results.set(id, moved.has(requestId) ? { id, kind: "moved" } : { id, kind: "refused", error });
    }
  }
  return targets.map((one) => results.get(one.id)!);
}

function sendFor(
  lifecycle: LifecycleModel,
  row: InstanceRow,
  { id, requestId, run, visit }: BulkTarget,
  wanted: BulkEvent,
): Send {
  return {
    lifecycle,
    ref: { id },
    event: eventFor(lifecycle, row, wanted),
    payload: wanted.payload,
    patch: checkedPatch(lifecycle, row, wanted.data),
    renewsDeadline: renewsDeadline(wanted),
    actor: wanted.actor,
    reason: wanted.reason,
    expectedVersion: undefined,
    idempotency: undefined,
    delay: undefined,
    during: { run, visit },
    mayBeKnown: true,
    requestId,
  };
}

/** Why an instance would refuse it at present; undefined if it would not. Changes nothing. */
export function refusalOfBulkEvent(kernel: Kernel, row: InstanceRow, wanted: BulkEvent): PawlError | undefined {
  try {
    const lifecycle = lifecycleOf(kernel, row);
    const instance = decideRename(lifecycle, modelOf(row), row.now_ms)?.instance ?? modelOf(row);
    const { actor, reason, payload } = wanted;
    const name = eventFor(lifecycle, row, wanted);
    const cause = {
      actor,
      reason,
      patch: checkedPatch(lifecycle, row, wanted.data),
      renewsDeadline: renewsDeadline(wanted),
    };
    const decided = isRecover(lifecycle, name)
      ? planRecovery(lifecycle, instance, cause, row.now_ms)
      : decide(lifecycle, instance, { name, payload, ...cause }, row.now_ms);
    return decided.kind === "refused"
      ? refusedError({ lifecycle, row, instance }, { event: name }, decided)
      : undefined;
  } catch (thrown) {
    return asPawlError(thrown);
  }
}

/** A person's recovery or restart gives an instance its whole time again, as a requeue does. */
function renewsDeadline({ decision }: BulkEvent): boolean {
  return decision === "recover" || decision === "restart";
}

/** A recovery is the event that the requeue of its dead letter would send. */
function eventFor(lifecycle: LifecycleModel, row: InstanceRow, { decision, event }: BulkEvent): string {
  if (decision === "send") return event!;
  if (decision !== "recover") return decision;
  // A job that ended in error has no place to resume from.
  if (lifecycle.job && row.outcome === "failure") return "restart";
  const isRetriable = !(row.state === failed && lifecycle.builtIns) && lifecycle.retriable.has(row.state);
  return isRetriable ? "retry" : "recover";
}
