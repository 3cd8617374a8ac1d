import type { InstanceRow } from "../store/instances.ts";
import { lockInstances, readDueInstances } from "../store/instances.ts";
import { commit } from "./commit.ts";
import { Course } from "./course.ts";
import { catchUp } from "./due.ts";
import { asPawlError } from "./errors.ts";
import { runHooks } from "./hooks.ts";
import { isNewer, type Kernel, lifecycleOf } from "./kernel.ts";

/** What a round of firing did, and what stood in its way. */
export interface Fired {
  readonly fired: number;
  /** Instances that a newer definition has moved: a process that has it fires them. */
  readonly newer: number;
  readonly failures: readonly { readonly id: string; readonly error: unknown }[];
}

const firstId = "00000000-0000-0000-0000-000000000000";

/**
 * Sends what is due to all instances that have something due, page by page: one that cannot be moved does not hold up
 * those behind it. The same "due comes first" as in every call, so it does not matter who comes first.
 */
export async function fire(kernel: Kernel, pageSize: number): Promise<Fired> {
  const lifecycles = [...kernel.lifecycles.keys()];
  const failures: { id: string; error: unknown }[] = [];
  let fired = 0;
  let newer = 0;
  for (let afterMs: number | null = null, afterId = firstId; ; ) {
    if (kernel.faults !== undefined) await kernel.faults.at("fire.before");
    const rows = await readDueInstances(kernel.db, { lifecycles, afterMs, afterId, limit: pageSize });
    const ours = rows.filter((row) => !isNewer(kernel, row));
    newer += rows.length - ours.length;
    if (ours.length > 0) fired += await firePage(kernel, ours, failures);
    if (kernel.faults !== undefined) await kernel.faults.at("fire.after");
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageSize) return { fired, newer, failures };
    afterMs = last.next_due_ms;
    afterId = last.id;
  }
}

async function firePage(
  kernel: Kernel,
  rows: readonly InstanceRow[],
  failures: { id: string; error: unknown }[],
): Promise<number> {
  const courses = rows.map((row) => new Course(lifecycleOf(kernel, row), row, kernel.newId));
  await catchUp(kernel.db, courses);
  for (const course of courses) {
    if (course.failure !== undefined) failures.push({ id: course.row.id, error: course.failure });
  }
  const good = courses.filter((course) => course.failure === undefined && course.changes);
  const free = good.filter((course) => course.hooked.length === 0);
  const written = await fireTogether(kernel, free);
  const alone = good.filter((course) => course.hooked.length > 0 || written === undefined);
  let fired = written?.size ?? 0;
  for (const course of alone) {
    try {
      fired += await fireAlone(kernel, course.row.id);
    } catch (error) {
      failures.push({ id: course.row.id, error: asPawlError(error) });
    }
  }
  return fired;
}

/** Undefined when the database refused one of them, which is not to keep its neighbours from their time. */
async function fireTogether(kernel: Kernel, courses: readonly Course[]): Promise<Map<string, number> | undefined> {
  if (courses.length === 0) return new Map();
  try {
    const written = await commit(kernel, kernel.db, courses);
    for (const course of courses) if (written.has(course.row.id)) hint(kernel, course);
    return written;
  } catch (error) {
    if (asPawlError(error).who === "surroundings") throw error;
    return undefined;
  }
}

/** One instance in a transaction of its own: it has a hook to run. */
function fireAlone(kernel: Kernel, id: string): Promise<number> {
  return kernel.db.transaction(async (tx) => {
    const [row] = await lockInstances(tx, [id]);
    if (row === undefined) return 0;
    const course = new Course(lifecycleOf(kernel, row), row, kernel.newId);
    course.hold();
    await catchUp(tx, [course]);
    if (course.failure !== undefined) throw course.failure;
    if (!course.changes) return 0;
    await runHooks(kernel, tx, [course]);
    await commit(kernel, tx, [course]);
    hint(kernel, course);
    return 1;
  });
}

function hint(kernel: Kernel, course: Course): void {
  kernel.signals.hint(course.instance.id);
  for (const lane of course.lanes) kernel.signals.hint(lane);
}
