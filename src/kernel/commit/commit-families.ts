import { type LockedParent, markParents, type Run, readOpenKinds } from "../../store/family/children.ts";
import type { Executor } from "../../store/port/db.ts";
import { type EffectRow, endEffects, putEffects } from "../../store/tasks/tasks.ts";
import { named } from "../family/child-names.ts";
import { runOf } from "../family/children.ts";
import { deliveriesOf, parentEndRow } from "../family/deliveries.ts";
import { inTransaction, type Kernel } from "../kernel.ts";
import { rowsOf } from "../move/start.ts";
import type { PendingReport } from "../tasks/pending-report.ts";
import type { StepOutput } from "../types/move-origin.ts";
import type { PlannedStart } from "../types/start.ts";
import { commitStarts, writeUpdates } from "./commit-rows.ts";
import { groupByCompanion } from "./group-by-companion.ts";
import type { InstanceUpdate } from "./instance-update.ts";
import { splitBySize } from "./split-by-size.ts";

/**
 * Writes updates together with the children that they start, all in one transaction: the moves first, then the children
 * of those that were made, and word to the children of runs that ended. Parents are locked before anything is written
 * about children, and nothing is waited for.
 */
export async function commitFamilies(
  kernel: Kernel,
  db: Executor,
  updates: readonly InstanceUpdate[],
): Promise<Map<string, number>> {
  const lanes = new Set<string>();
  const written = await within(kernel, db, async (tx) => {
    const moved = await writeUpdates(kernel, tx, updates);
    const made = updates.filter((update) => moved.has(update.row.id));
    await startChildren(
      kernel,
      tx,
      made.flatMap((update) => update.family!.starts),
      lanes,
    );
    const over = made.flatMap(({ instance, family }) =>
      family!.runsOver.map((run) => ({ id: instance.id, run, visit: instance.visit })),
    );
    await notifyParentEnd(kernel, tx, over, lanes);
    return moved;
  });
  for (const lane of lanes) kernel.signals.hint(lane);
  return written;
}

/**
 * Ends effects that start children or send events, together with these. If a parent's row is locked, its effect is left
 * for another try. Returns the ended effects.
 */
export async function endEffectsWithOutput(
  kernel: Kernel,
  batch: readonly PendingReport[],
): Promise<{ task_id: string }[]> {
  const lanes = new Set<string>();
  const ended = await within(kernel, kernel.db, async (tx) => {
    const bearing = batch.filter((pending) => outputOf(pending).starts.length > 0);
    const parents = new Map<string, LockedParent>();
    if (bearing.length > 0) for (const one of await markParents(tx, parentsOf(bearing))) parents.set(one.id, one);
    const free = batch.filter((pending) => !bearing.includes(pending) || parents.has(pending.report.task.row.id));
    const done = await endEffects(
      tx,
      free.map(({ lease }) => ({ ...lease, failure: null, lapsed: false })),
      [],
    );
    const ids = new Set(done.map((one) => one.task_id));
    const made = free.filter((pending) => ids.has(pending.lease.taskId));
    const starts = made.flatMap((pending) => childrenOf(pending));
    await startChildren(kernel, tx, starts, lanes);
    const overtaken = made.filter((pending) => isRunOver(pending, parents.get(pending.report.task.row.id)));
    await notifyParentEnd(
      kernel,
      tx,
      overtaken.map(({ report: { task } }) => ({ ...runOf(task), visit: task.visit })),
      lanes,
    );
    await putDeliveries(
      tx,
      made.flatMap((pending) => deliveriesOfEffect(kernel, pending)),
      lanes,
    );
    return done;
  });
  for (const lane of lanes) kernel.signals.hint(lane);
  return ended;
}

function outputOf({ report: { outcome } }: PendingReport): Required<Pick<StepOutput, "starts" | "sends">> {
  const { starts = [], sends = [] } = outcome.kind === "done" ? outcome : {};
  return { starts, sends };
}

/** An effect's children are named by the move that it follows. */
function childrenOf(pending: PendingReport): PlannedStart[] {
  return outputOf(pending).starts.map((child) => named(child, `+${pending.report.task.work!.version}`));
}

function deliveriesOfEffect(kernel: Kernel, pending: PendingReport): EffectRow[] {
  const { task } = pending.report;
  return deliveriesOf(outputOf(pending).sends, { ...runOf(task), visit: task.visit }, kernel.newId);
}

/** The run of the children ended before they began: they are notified at once. */
function isRunOver({ report: { task } }: PendingReport, parent: LockedParent | undefined): boolean {
  return parent !== undefined && (parent.run !== runOf(task).run || parent.outcome !== null);
}

/** The instances of these effects, each with the newest run that one of them belongs to. */
function parentsOf(batch: readonly PendingReport[]): Run[] {
  const runs = new Map<string, number>();
  for (const { report } of batch) {
    const { id, run } = runOf(report.task);
    runs.set(id, Math.max(runs.get(id) ?? 0, run));
  }
  return [...runs].map(([id, run]) => ({ id, run })).sort((one, other) => (one.id < other.id ? -1 : 1));
}

/**
 * Starts children without a move of their parents: those whose parents' rows are free and still in that run. Returns
 * the locked parents.
 */
export async function startChildrenWithoutMove(
  kernel: Kernel,
  wanted: readonly { readonly parent: Run; readonly children: readonly PlannedStart[] }[],
): Promise<Set<string>> {
  const lanes = new Set<string>();
  const busy = new Set<string>();
  await within(kernel, kernel.db, async (tx) => {
    const parents = wanted.map((one) => one.parent).sort((one, other) => (one.id < other.id ? -1 : 1));
    const held = new Map((await markParents(tx, parents)).map((one) => [one.id, one]));
    const starts: PlannedStart[] = [];
    for (const { parent, children } of wanted) {
      const free = held.get(parent.id);
      if (free === undefined) busy.add(parent.id);
      else if (free.run === parent.run && free.outcome === null) starts.push(...children);
    }
    await startChildren(kernel, tx, starts, lanes);
  });
  for (const lane of lanes) kernel.signals.hint(lane);
  return busy;
}

/** In a transaction of its own, unless one is open. */
async function within<T>(kernel: Kernel, db: Executor, work: (tx: Executor) => Promise<T>): Promise<T> {
  if (db !== kernel.db) return work(db);
  const result = await inTransaction(kernel, async (tx) => {
    const made = await work(tx);
    if (kernel.faults !== undefined) await kernel.faults.at("transaction.written");
    return made;
  });
  if (kernel.faults !== undefined) await kernel.faults.at("transaction.committed");
  return result;
}

/** The overhead of a child in the statement, in addition to its data. */
const roomOfChild = 4_096;

/** Writes those that are not there yet: a step that runs again finds its children again. */
async function startChildren(
  kernel: Kernel,
  tx: Executor,
  children: readonly PlannedStart[],
  lanes: Set<string>,
): Promise<void> {
  const fresh = new Map<string, PlannedStart>();
  for (const child of children) {
    const { lifecycle, parent, step } = child.row;
    const name = JSON.stringify([parent!.id, parent!.run, lifecycle, parent!.name]);
    if (!fresh.has(name)) fresh.set(name, child);
    if (step !== null) lanes.add(step.lane);
  }
  const sorted = [...fresh].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, child]) => child);
  for (const some of groupByCompanion(kernel, sorted, ({ row }) => row.lifecycle)) {
    for (const part of splitBySize(some, ({ row }) => row.dataText.length + roomOfChild)) {
      await commitStarts(kernel, tx, part, rowsOf(part));
    }
  }
}

/** Notifies the open children of these runs that they have ended: one task per lifecycle. */
async function notifyParentEnd(
  kernel: Kernel,
  tx: Executor,
  runs: readonly (Run & { readonly visit: number })[],
  lanes: Set<string>,
): Promise<void> {
  if (runs.length === 0) return;
  const visits = new Map(runs.map(({ id, visit }) => [id, visit]));
  const kinds = (await readOpenKinds(tx, runs)).filter((kind) => mayHandleParentEnd(kernel, kind));
  const rows = kinds.map(({ id, run, lifecycle, definition }) =>
    parentEndRow({ id, run, visit: visits.get(id)! }, { name: lifecycle, version: definition }, kernel.newId),
  );
  await putDeliveries(tx, rows, lanes);
}

/** Whether children of a lifecycle have an event for the end of their parent, as far as this process knows. */
function mayHandleParentEnd(
  kernel: Kernel,
  kind: { readonly lifecycle: string; readonly definition: number },
): boolean {
  const known = kernel.lifecycles.get(kind.lifecycle);
  return known === undefined || known.version < kind.definition || known.onParentEnd !== undefined;
}

async function putDeliveries(tx: Executor, rows: readonly EffectRow[], lanes: Set<string>): Promise<void> {
  for (const row of rows) lanes.add(row.lane);
  for (const part of splitBySize(rows, (row) => row.workText.length)) await putEffects(tx, part);
}
