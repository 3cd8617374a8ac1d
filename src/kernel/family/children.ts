import { checkedOptions } from "../../base/options.ts";
import { checkedText } from "../../base/text.ts";
import { isInternal, refuseInternal } from "../../definition/internal.ts";
import { type ChildRow, type Run, readChildren, readChildrenOf } from "../../store/family/children.ts";
import { type Kernel, knownLifecycle } from "../kernel.ts";
import { planStart } from "../move/start.ts";
import type { ClaimedTask } from "../types/claimed-task.ts";
import type { ChildStart } from "../types/start.ts";
import { nameOfKey } from "./child-names.ts";

/** The run whose children a task sees and starts: an effect belongs to that of the move which it follows. */
export function runOf(task: ClaimedTask): Run {
  return { id: task.row.id, run: task.work?.run ?? task.row.run };
}

/** Checks a child's data and key. Throws errors that the step has to fix; nothing is written then. */
export function planChild(
  kernel: Kernel,
  task: ClaimedTask,
  lifecycle: unknown,
  options: unknown,
  place: number,
): ChildStart {
  const known = knownLifecycle(kernel, lifecycle);
  const { key, data } = childOptions(options);
  const { lifecycle: parent } = task.row;
  if (!isInternal(parent)) refuseInternal(known.name, "step.start");
  const planned = planStart(kernel, {
    lifecycle: known,
    key,
    data,
    actor: `${parent}:${task.row.id}`,
    reason: null,
    requestId: null,
    parent: { lifecycle: parent, ...runOf(task), name: key === null ? "" : nameOfKey(key) },
  });
  return { planned, place };
}

function childOptions(given: unknown): { key: string | null; data: unknown } {
  const { key, data } = checkedOptions(given as { key?: unknown; data?: unknown }, ["key", "data"], "step.start");
  return {
    key: key === undefined || key === null ? null : checkedText(key, "The key of a child", "key_invalid"),
    data,
  };
}

/** The current children of a task's run. */
export async function childrenOf(kernel: Kernel, task: ClaimedTask, lifecycle: unknown): Promise<ChildRow[]> {
  const run = runOf(task);
  const rows =
    lifecycle === undefined
      ? await readChildren(kernel.db, run)
      : await readChildrenOf(kernel.db, run, knownLifecycle(kernel, lifecycle).name);
  return rows.map((row) => withCurrentStateName(kernel, row));
}

/** A child in its state by the name that it has today, also before the move that writes it so. */
export function withCurrentStateName(kernel: Kernel, child: ChildRow): ChildRow {
  const renamed = kernel.lifecycles.get(child.lifecycle)?.renamed ?? {};
  return { ...child, state: renamed[child.state] ?? child.state };
}
