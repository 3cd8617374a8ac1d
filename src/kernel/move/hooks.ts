import { isPawlError, messageOf, PawlError } from "../../base/errors.ts";
import type { Decision } from "../../definition/decide/move.ts";
import type { Tx } from "../../store/port/db.ts";
import { forHook, inTurnOn } from "../../store/port/foreign-tx.ts";
import type { InstanceUpdate } from "../commit/instance-update.ts";
import type { Kernel } from "../kernel.ts";
import { settleWithin } from "../time-limit.ts";

/** The `before` hook of a due event, or of a callback, threw: that fails, and not the call that came after it. */
export class HookOfTimerError extends Error {
  readonly timerId: string;

  constructor(timerId: string, cause: PawlError) {
    super(cause.message, { cause });
    this.timerId = timerId;
  }
}

/**
 * Runs the `before` hooks of decisions inside their transaction. A throw leaves nothing behind: the owner of the
 * transaction rolls it back.
 */
export async function runHooks(kernel: Kernel, tx: Tx, updates: readonly InstanceUpdate[]): Promise<void> {
  for (const update of updates) {
    for (const decision of update.hooked) {
      const what = `the \`before\` hook of \`${decision.event}\` in \`${decision.from}\``;
      try {
        await inTurnOn(tx, () =>
          settleWithin(kernel.hookLimitMs, "It", () =>
            kernel.inside.run(what, async () => decision.before!({ ...decision.context, tx: await forHook(tx) })),
          ),
        );
      } catch (thrown) {
        // A lost connection or a busy database is not the hook's fault, and may be gone at the next try.
        if (isPawlError(thrown) && thrown.fault === "environment") throw thrown;
        const error = new PawlError(
          "hook_failed",
          `${what[0]!.toUpperCase()}${what.slice(1)} of \`${update.lifecycle.name}\` threw: ${messageOf(thrown)}. Nothing was changed.`,
          { lifecycle: update.lifecycle.name, event: decision.event, from: decision.from },
          { cause: thrown },
        );
        throw ofTimer(update, decision, error);
      }
    }
  }
}

/** A hook of the update moved its instance, in the transaction that holds its lock: the decision cannot be written. */
export function movedInHook(update: InstanceUpdate): Error {
  const message = `Instance ${update.instance.id} was moved inside the hook that is moving it; a hook moves other instances only.`;
  return ofTimer(update, update.hooked.at(-1), new PawlError("hook_failed", message));
}

function ofTimer({ timersOfHooks }: InstanceUpdate, decision: Decision | undefined, error: PawlError): Error {
  const timerId = decision === undefined ? undefined : timersOfHooks.get(decision);
  return timerId === undefined ? error : new HookOfTimerError(timerId, error);
}
