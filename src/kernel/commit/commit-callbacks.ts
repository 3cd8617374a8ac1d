import { insertCallbacks, type NewCallback, reopenCallbacks } from "../../store/callbacks/callbacks.ts";
import type { InstanceRow } from "../../store/move/instances.ts";
import type { Executor } from "../../store/port/db.ts";
import type { Kernel } from "../kernel.ts";
import { retryUntilKnown } from "../retry-unknown-outcome.ts";

/**
 * Puts callbacks into the inboxes of their instances, without a move. Free instances are written together; a locked one
 * is waited for alone. Returns the instances that were found. After a lost reply the caller simply repeats it, since
 * each callback is stored once.
 */
export async function commitCallbacks(kernel: Kernel, callbacks: readonly NewCallback[]): Promise<InstanceRow[]> {
  const stored = await retryUntilKnown(kernel, () => insertCallbacks(kernel.db, callbacks, false));
  const rows = new Map(stored.map((row) => [row.id, row]));
  for (const one of callbacks) {
    if (rows.has(one.instanceId)) continue;
    const [row] = await retryUntilKnown(kernel, () => insertCallbacks(kernel.db, [one], true));
    if (row !== undefined) rows.set(row.id, row);
  }
  return [...rows.values()];
}

/** The same for one, within the caller's own transaction. */
export async function commitCallback(tx: Executor, callback: NewCallback): Promise<void> {
  await insertCallbacks(tx, [callback], true);
}

/** Returns refused callbacks to the inboxes of their instances, without a move. */
export function commitReopened(
  kernel: Kernel,
  callbacks: readonly { readonly id: string; readonly attempts: number }[],
): Promise<InstanceRow[]> {
  return retryUntilKnown(kernel, () => reopenCallbacks(kernel.db, callbacks));
}
