import type { InstanceRow } from "../store/instances.ts";
import { lockInstances, readDueInstances } from "../store/instances.ts";
import { commit } from "./commit.ts";
import { Course } from "./course.ts";
import { catchUp } from "./due.ts";
import { runHooks } from "./hooks.ts";
import { type Kernel, lifecycleOf } from "./kernel.ts";

/** What a round of firing did, and what stood in its way. */
export interface Fired {
  readonly fired: number;
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
  for (let afterMs: number | null = null, afterId = firstId; ; ) {
    if (kernel.faults !== undefined) await kernel.faults.at("fire.before");
    const rows = await readDueInstances(kernel.db, { lifecycles, afterMs, afterId, limit: pageSize });
    if (rows.length > 0) fired += await firePage(kernel, rows, failures);
    if (kernel.faults !== undefined) await kernel.faults.at("fire.after");
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageSize) return { fired, failures };
    afterMs = last.next_due_ms;
    afterId = last.id;
  }
}

async function firePage(
  kernel: Kernel,
  rows: readonly InstanceRow[],
  failures: { id: string; error: unknown }[],
): Promise<number> {
  const courses: Course[] = [];
  for (const row of rows) {
    try {
      courses.push(new Course(lifecycleOf(kernel, row), row, kernel.newId));
    } catch (error) {
      failures.push({ id: row.id, error });
    }
  }
  await catchUp(kernel.db, courses);
  for (const course of courses) {
    if (course.failure !== undefined) failures.push({ id: course.row.id, error: course.failure });
  }
  const good = courses.filter((course) => course.failure === undefined && course.changes);
  const free = good.filter((course) => course.hooked.length === 0);
  const written = free.length === 0 ? new Map() : await commit(kernel, kernel.db, free);
  for (const course of free) if (written.has(course.row.id)) hint(kernel, course);
  let hooked = 0;
  for (const course of good) {
    if (course.hooked.length === 0) continue;
    try {
      hooked += await fireAlone(kernel, course.row.id);
    } catch (error) {
      failures.push({ id: course.row.id, error });
    }
  }
  return written.size + hooked;
}

/** One instance with a hook, in a transaction of its own. */
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
