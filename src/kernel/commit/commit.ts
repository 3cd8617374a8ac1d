import { isPawlError } from "../../base/errors.ts";
import type { Executor } from "../../store/port/db.ts";
import type { Kernel } from "../kernel.ts";
import { logFailedEvents } from "../move/failed-events.ts";
import { provideForFailures } from "../recovery/after-failure.ts";
import { announceAlerts } from "../recovery/alerts.ts";
import { announceMoves } from "./announce.ts";
import { commitFamilies } from "./commit-families.ts";
import { moveCourses } from "./commit-rows.ts";
import { alike } from "./group-by-companion.ts";
import type { Course } from "./instance-update.ts";
import { partsOf } from "./split-by-size.ts";

/**
 * The one door: writes what a list of courses makes of their instances, in one statement, for those that are free and
 * unchanged since they were read. Those that start children, or end with some, are written together with them in one
 * transaction. Gives back which were written, and when. Nothing else writes an instance or the journal.
 */
export async function commit(kernel: Kernel, db: Executor, courses: readonly Course[]): Promise<Map<string, number>> {
  await provideForFailures(db, courses, kernel.newId);
  // In the order of their ids: rows of a batch land side by side.
  const sorted = [...courses].sort((one, other) => (one.instance.id < other.instance.id ? -1 : 1));
  const parents = sorted.filter((course) => course.family !== undefined);
  const others = parents.length === 0 ? sorted : sorted.filter((course) => course.family === undefined);
  const parts = [
    ...partsAlike(kernel, others).map((part) => () => moveCourses(kernel, db, part)),
    ...partsAlike(kernel, parents).map((part) => () => commitFamilies(kernel, db, part)),
  ];
  const written = new Map<string, number>();
  for (const [index, write] of parts.entries()) {
    try {
      for (const [id, atMs] of await write()) written.set(id, atMs);
    } catch (error) {
      // What an earlier statement wrote is written; the rest is for the caller to decide anew, unless it may be, too.
      if (index > 0 && db === kernel.db && !isPawlError(error, "outcome_unknown")) break;
      throw error;
    }
  }
  for (const course of courses) {
    if (!written.has(course.row.id)) continue;
    if (course.alerts.length > 0) announceAlerts(kernel, course);
    if (course.failedEvents.length > 0) logFailedEvents(kernel, course);
  }
  announceMoves(kernel, db, courses, written);
  return written;
}

/** Parts of a size for one statement, each of courses beside which the same is written. */
function partsAlike(kernel: Kernel, courses: readonly Course[]): (readonly Course[])[] {
  return alike(kernel, courses, (course) => course.lifecycle.name).flatMap((some) => partsOf(some, (one) => one.size));
}
