import { isPawlError } from "../base/errors.ts";
import { insertRefusals } from "../store/attempts.ts";
import type { Executor } from "../store/db.ts";
import { insertDeadLetters } from "../store/dead-letters.ts";
import { type Belongings, insertInstances, moveInstances, type NewInstance, type Written } from "../store/instances.ts";
import { insertMessages } from "../store/messages.ts";
import { insertRequests } from "../store/requests.ts";
import { insertEffects } from "../store/tasks.ts";
import { insertTimers } from "../store/timers.ts";
import { type Course, noRows, type Rows } from "./course.ts";
import type { Kernel } from "./kernel.ts";
import { partsOf } from "./parts.ts";

/**
 * The one door: writes what a list of courses makes of their instances, in one statement, for those that are free and
 * unchanged since they were read. Gives back which those were, and when. Nothing else writes an instance or the journal.
 */
export async function commit(kernel: Kernel, db: Executor, courses: readonly Course[]): Promise<Map<string, number>> {
  // In the order of their ids: rows of a batch land side by side.
  const sorted = [...courses].sort((one, other) => (one.instance.id < other.instance.id ? -1 : 1));
  const written = new Map<string, number>();
  for (const [index, part] of partsOf(sorted, (course) => course.size).entries()) {
    try {
      for (const [id, atMs] of await commitPart(kernel, db, part)) written.set(id, atMs);
    } catch (error) {
      // What an earlier statement wrote is written; the rest is for the caller to decide anew, unless it may be, too.
      if (index > 0 && db === kernel.db && !isPawlError(error, "outcome_unknown")) break;
      throw error;
    }
  }
  return written;
}

async function commitPart(kernel: Kernel, db: Executor, courses: readonly Course[]): Promise<Map<string, number>> {
  const rows = noRows();
  const moved = courses.map((course) => course.plan(rows));
  if (kernel.faults !== undefined) await kernel.faults.at("commit.before");
  const written = await moveInstances(db, moved, rows.earlier, belongingsOf(rows));
  if (kernel.faults !== undefined) await kernel.faults.at("commit.after");
  if (written.some((one) => one.granted !== null)) hand(courses, written);
  return noted(kernel, written);
}

/** Tells courses of the steps that came leased with them. */
function hand(courses: readonly Course[], written: readonly Written[]): void {
  const tokens = new Map(written.map((one) => [one.id, one]));
  for (const course of courses) {
    const one = tokens.get(course.instance.id);
    if (one?.granted != null) course.granted = { token: one.granted, atMs: one.now_ms };
  }
}

/** Writes new instances, those whose key is not taken. Gives back which those were, and when. */
export async function commitStarts(
  kernel: Kernel,
  db: Executor,
  starts: readonly NewInstance[],
  rows: Rows,
): Promise<Map<string, number>> {
  if (kernel.faults !== undefined) await kernel.faults.at("start.before");
  const written = await insertInstances(db, starts, belongingsOf(rows));
  if (kernel.faults !== undefined) await kernel.faults.at("start.after");
  return noted(kernel, written);
}

function belongingsOf(rows: Rows): Belongings {
  return {
    effects: insertEffects(rows.effects),
    timers: insertTimers(rows.timers),
    messages: insertMessages(rows.messages),
    requests: insertRequests(rows.requests),
    refusals: insertRefusals(rows.refusals),
    deadLetters: insertDeadLetters(rows.deadLetters),
  };
}

function noted(kernel: Kernel, written: readonly Written[]): Map<string, number> {
  if (written.length > 0) kernel.clock.observe(written[0]!.now_ms);
  return new Map(written.map((one) => [one.id, one.now_ms]));
}
