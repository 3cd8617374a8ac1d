import { type InstanceRow, lockInstances } from "../../store/move/instances.ts";
import type { Executor, Tx } from "../../store/port/db.ts";
import { commit } from "../commit/commit.ts";
import { InstanceUpdate } from "../commit/instance-update.ts";
import { asPawlError } from "../errors.ts";
import { inTransaction, type Kernel, lifecycleOf } from "../kernel.ts";
import { withoutFailedEvents } from "./failed-events.ts";
import { movedInHook, runHooks } from "./hooks.ts";
import { matchCallbacks } from "./match-callbacks.ts";

/** The results for the instances of one page. */
export interface SweepResult {
  readonly written: ReadonlySet<string>;
  /** Those that could not be moved: locked, or moved by another process first. */
  readonly missed: ReadonlySet<string>;
  /** `decided`: the decision could not be written; otherwise there was none. */
  readonly failures: readonly { readonly id: string; readonly error: unknown; readonly decided: boolean }[];
}

/** Decides about instances, based on what was read. */
export type Decide = (db: Executor, updates: readonly InstanceUpdate[]) => Promise<void>;

/**
 * Moves instances without a call: decides about a page of them together and writes those that are free. Those with a
 * hook get a transaction of their own, and one that cannot be moved blocks no other.
 */
export async function sweep(kernel: Kernel, rows: readonly InstanceRow[], decide: Decide): Promise<SweepResult> {
  const updates = rows.map((row) => new InstanceUpdate(lifecycleOf(kernel, row), row, kernel.newId));
  await decide(kernel.db, updates);
  for (const update of updates) update.decide(() => matchCallbacks(update));
  const failures = updates.flatMap(({ row, error }) =>
    error === undefined ? [] : [{ id: row.id, error: error, decided: false }],
  );
  const good = updates.filter((update) => update.error === undefined && update.changes);
  const free = good.filter((update) => update.hooked.length === 0);
  const together = await writeTogether(kernel, free);
  const written = new Set(together?.keys());
  for (const { hooked, row } of good) {
    if (hooked.length === 0 && together !== undefined) continue;
    try {
      if (await writeAlone(kernel, row.id, decide)) written.add(row.id);
    } catch (error) {
      failures.push({ id: row.id, error: asPawlError(error), decided: true });
    }
  }
  const missed = good.filter(({ row }) => !written.has(row.id));
  return { written, missed: new Set([...missed.map(({ row }) => row.id), ...failures.map(({ id }) => id)]), failures };
}

/** Undefined when the database refused one of them, which is not to keep its neighbours from being moved. */
async function writeTogether(
  kernel: Kernel,
  updates: readonly InstanceUpdate[],
): Promise<Map<string, number> | undefined> {
  if (updates.length === 0) return new Map();
  try {
    const written = await commit(kernel, kernel.db, updates);
    for (const update of updates) if (written.has(update.row.id)) hint(kernel, update);
    return written;
  } catch (error) {
    if (asPawlError(error).fault === "environment") throw error;
    return undefined;
  }
}

/** One instance in a transaction of its own: it has a hook to run. */
export function writeAlone(kernel: Kernel, id: string, decide: Decide): Promise<boolean> {
  return withoutFailedEvents((failedTimers) =>
    inTransaction(kernel, (tx) => writeLocked(kernel, tx, id, decide, failedTimers)),
  );
}

/** The same within the caller's own transaction. */
export async function writeLocked(
  kernel: Kernel,
  tx: Tx,
  id: string,
  decide: Decide,
  failedTimers: ReadonlyMap<string, unknown>,
): Promise<boolean> {
  const [row] = await lockInstances(tx, [id]);
  if (row === undefined) return false;
  const update = new InstanceUpdate(lifecycleOf(kernel, row), row, kernel.newId);
  update.markLocked();
  update.failedTimers = failedTimers;
  await decide(tx, [update]);
  update.decide(() => matchCallbacks(update));
  if (update.error !== undefined) throw update.error;
  if (!update.changes) return false;
  await runHooks(kernel, tx, [update]);
  if (!(await commit(kernel, tx, [update])).has(id)) throw movedInHook(update);
  hint(kernel, update);
  return true;
}

function hint(kernel: Kernel, update: InstanceUpdate): void {
  kernel.signals.hint(update.instance.id);
  for (const lane of update.lanes) kernel.signals.hint(lane);
}
