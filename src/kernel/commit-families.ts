import { markParents, type Run } from "../store/children.ts";
import type { Executor } from "../store/db.ts";
import { endEffects } from "../store/tasks.ts";
import { named, runOf } from "./children.ts";
import { commitStarts, moveCourses } from "./commit-rows.ts";
import type { Course } from "./course.ts";
import type { Filing } from "./filing.ts";
import type { Kernel } from "./kernel.ts";
import { partsOf } from "./parts.ts";
import { type Planned, rowsOf } from "./start.ts";

/**
 * Writes courses together with the children that they start, all in one transaction: the moves first, then the children
 * of those that were made. Parents are locked before anything is written about children, and nothing is waited for.
 */
export async function commitFamilies(
  kernel: Kernel,
  db: Executor,
  courses: readonly Course[],
): Promise<Map<string, number>> {
  const children: Planned[] = [];
  const written = await within(kernel, db, async (tx) => {
    const moved = await moveCourses(kernel, tx, courses);
    for (const course of courses) if (moved.has(course.row.id)) children.push(...course.family!.starts);
    await startChildren(kernel, tx, children);
    return moved;
  });
  announce(kernel, children);
  return written;
}

/**
 * Ends effects that start children, together with these. A parent whose row somebody has in hand is left for another try,
 * as is the task. Gives back what was ended.
 */
export async function endWithChildren(kernel: Kernel, filings: readonly Filing[]): Promise<{ task_id: string }[]> {
  const children: Planned[] = [];
  const ended = await within(kernel, kernel.db, async (tx) => {
    const parents = await markParents(tx, parentsOf(filings));
    const free = new Set(parents.map((parent) => parent.id));
    const held = filings.filter(({ report }) => free.has(report.taken.row.id));
    const done = await endEffects(
      tx,
      held.map(({ lease }) => ({ ...lease, failure: null, lapsed: false })),
      [],
    );
    const ids = new Set(done.map((one) => one.task_id));
    for (const { report, lease } of held) {
      const { taken, outcome } = report;
      if (!ids.has(lease.taskId) || outcome.kind !== "done") continue;
      children.push(...(outcome.starts ?? []).map((child) => named(child, `+${taken.work!.version}`)));
    }
    await startChildren(kernel, tx, children);
    return done;
  });
  announce(kernel, children);
  return ended;
}

/** The instances of these effects, each with the newest run that one of them belongs to. */
function parentsOf(filings: readonly Filing[]): Run[] {
  const runs = new Map<string, number>();
  for (const { report } of filings) {
    const { id, run } = runOf(report.taken);
    runs.set(id, Math.max(runs.get(id) ?? 0, run));
  }
  return [...runs].map(([id, run]) => ({ id, run })).sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** In a transaction of its own, unless somebody else's is open. */
async function within<T>(kernel: Kernel, db: Executor, work: (tx: Executor) => Promise<T>): Promise<T> {
  if (db !== kernel.db) return work(db);
  const result = await kernel.db.transaction(async (tx) => {
    const made = await work(tx);
    if (kernel.faults !== undefined) await kernel.faults.at("transaction.written");
    return made;
  });
  if (kernel.faults !== undefined) await kernel.faults.at("transaction.committed");
  return result;
}

/** Beside its data a child takes some room in the statement, whatever it holds. */
const roomOfChild = 4_096;

/** Writes those that are not there yet: a step that runs again finds its children again. */
async function startChildren(kernel: Kernel, tx: Executor, children: readonly Planned[]): Promise<void> {
  const fresh = new Map<string, Planned>();
  for (const child of children) {
    const { lifecycle, parent } = child.row;
    const name = JSON.stringify([parent!.id, parent!.run, lifecycle, parent!.name]);
    if (!fresh.has(name)) fresh.set(name, child);
  }
  const sorted = [...fresh].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, child]) => child);
  for (const part of partsOf(sorted, ({ row }) => row.dataText.length + roomOfChild)) {
    const rows = part.map((child) => child.row);
    await commitStarts(kernel, tx, rows, rowsOf(part));
  }
}

function announce(kernel: Kernel, children: readonly Planned[]): void {
  for (const lane of new Set(children.flatMap(({ row }) => row.step?.lane ?? []))) kernel.signals.hint(lane);
}
