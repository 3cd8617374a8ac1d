import { isPawlError } from "../../base/errors.ts";
import type { Executor } from "../../store/port/db.ts";
import type { Kernel } from "../kernel.ts";
import { logFailedEvents } from "../move/failed-events.ts";
import { scheduleRecoveryOrDeadLetter } from "../recovery/after-failure.ts";
import { announceAlerts } from "../recovery/alerts.ts";
import { announceMoves } from "./announce.ts";
import { commitFamilies } from "./commit-families.ts";
import { writeUpdates } from "./commit-rows.ts";
import { groupByCompanion } from "./group-by-companion.ts";
import type { InstanceUpdate } from "./instance-update.ts";
import { logKeyProblems } from "./log-key-problems.ts";
import { splitBySize } from "./split-by-size.ts";

/**
 * The single commit: writes a list of updates in one statement, for those instances that are free and unchanged since
 * they were read. Those that start children, or end with open ones, are written together with them in one transaction.
 * Returns which were written, and when. Nothing else writes an instance or the journal.
 */
export async function commit(
  kernel: Kernel,
  db: Executor,
  updates: readonly InstanceUpdate[],
): Promise<Map<string, number>> {
  await scheduleRecoveryOrDeadLetter(db, updates, kernel.newId);
  // In the order of their ids: rows of a batch land side by side.
  const sorted = [...updates].sort((one, other) => (one.instance.id < other.instance.id ? -1 : 1));
  const parents = sorted.filter((update) => update.family !== undefined);
  const others = parents.length === 0 ? sorted : sorted.filter((update) => update.family === undefined);
  const parts = [
    ...groupedAndSplit(kernel, others).map((part) => () => writeUpdates(kernel, db, part)),
    ...groupedAndSplit(kernel, parents).map((part) => () => commitFamilies(kernel, db, part)),
  ];
  const written = new Map<string, number>();
  for (const [index, write] of parts.entries()) {
    try {
      for (const [id, atMs] of await write()) written.set(id, atMs);
    } catch (error) {
      // Earlier statements are committed; the caller decides the rest again, unless it may be committed, too.
      if (index > 0 && db === kernel.db && !isPawlError(error, "outcome_unknown")) break;
      throw error;
    }
  }
  for (const update of updates) {
    if (!written.has(update.row.id)) continue;
    if (update.alerts.length > 0) announceAlerts(kernel, update);
    if (update.failedEvents.length > 0) logFailedEvents(kernel, update);
    logKeyProblems(kernel, update.instance, update.decisions.at(-1));
  }
  announceMoves(kernel, db, updates, written);
  return written;
}

/** Parts of a limited size for one statement, each of updates with the same companion table. */
function groupedAndSplit(kernel: Kernel, updates: readonly InstanceUpdate[]): (readonly InstanceUpdate[])[] {
  return groupByCompanion(kernel, updates, (update) => update.lifecycle.name).flatMap((some) =>
    splitBySize(some, (one) => one.size),
  );
}
