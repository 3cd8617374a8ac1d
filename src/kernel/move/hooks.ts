import { isPawlError, messageOf, PawlError } from "../../base/errors.ts";
import { type Decision, isRename, moveOf } from "../../definition/decide/move.ts";
import type { LifecycleModel } from "../../definition/model.ts";
import type { Tx } from "../../store/port/db.ts";
import { forHook, inTurnOn } from "../../store/port/foreign-tx.ts";
import type { InstanceUpdate } from "../commit/instance-update.ts";
import type { Kernel } from "../kernel.ts";
import { settleWithin } from "../time-limit.ts";
import type { PlannedStart } from "../types/start.ts";

/** The `before` hook of a due event, or of a callback, threw: that fails, and not the call that came after it. */
export class HookOfTimerError extends Error {
  readonly timerId: string;

  constructor(timerId: string, cause: PawlError) {
    super(cause.message, { cause });
    this.timerId = timerId;
  }
}

/**
 * Runs the `before` hooks of decisions and the `onMove` of their lifecycle, inside their transaction. A throw leaves nothing
 * behind: the owner of the transaction rolls it back.
 */
export async function runHooks(kernel: Kernel, tx: Tx, updates: readonly InstanceUpdate[]): Promise<void> {
  for (const update of updates) {
    for (const decision of update.hooked) {
      try {
        await runHooksOf(kernel, tx, update.lifecycle, decision);
      } catch (error) {
        throw ofTimer(update, decision, error);
      }
    }
  }
}

/** Runs `onMove` for the instances that were started, inside the transaction that started them. */
export async function runStartHooks(
  kernel: Kernel,
  tx: Tx,
  starts: readonly PlannedStart[],
  written: ReadonlyMap<string, number>,
): Promise<void> {
  for (const { start, row, decision } of starts) {
    if (start.lifecycle.onMove !== undefined && written.has(row.id))
      await runHooksOf(kernel, tx, start.lifecycle, decision);
  }
}

async function runHooksOf(kernel: Kernel, tx: Tx, lifecycle: LifecycleModel, decision: Decision): Promise<void> {
  const { before, event, from, context } = decision;
  const place = from === null ? `\`${event}\`` : `\`${event}\` in \`${from}\``;
  const run = async (what: string, hook: (tx: Tx) => unknown) => {
    try {
      await inTurnOn(tx, () =>
        settleWithin(kernel.hookLimitMs, "It", () => kernel.inside.run(what, async () => hook(await forHook(tx)))),
      );
    } catch (thrown) {
      // A lost connection or a busy database is not the hook's fault, and may be gone at the next try.
      if (isPawlError(thrown) && thrown.fault === "environment") throw thrown;
      throw new PawlError(
        "hook_failed",
        `${what[0]!.toUpperCase()}${what.slice(1)} of \`${lifecycle.name}\` threw: ${messageOf(thrown)}. Nothing was changed.`,
        { lifecycle: lifecycle.name, event, from },
        { cause: thrown },
      );
    }
  };
  if (before !== undefined) await run(`the \`before\` hook of ${place}`, (own) => before({ ...context, tx: own }));
  const { onMove } = lifecycle;
  if (onMove !== undefined && !isRename(decision))
    await run(`the \`onMove\` hook for ${place}`, (own) => onMove({ ...moveOf(decision), tx: own }));
}

/** A hook of the update moved its instance, in the transaction that holds its lock: the decision cannot be written. */
export function movedInHook(update: InstanceUpdate): unknown {
  const message = `Instance ${update.instance.id} was moved inside the hook that is moving it; a hook moves other instances only.`;
  return ofTimer(update, update.hooked.at(-1), new PawlError("hook_failed", message));
}

function ofTimer({ timersOfHooks }: InstanceUpdate, decision: Decision | undefined, error: unknown): unknown {
  const timerId = decision === undefined ? undefined : timersOfHooks.get(decision);
  const isHooks = isPawlError(error, "hook_failed");
  return timerId === undefined || !isHooks ? error : new HookOfTimerError(timerId, error);
}
