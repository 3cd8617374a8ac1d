import { PawlError } from "../../base/errors.ts";
import { checkedText } from "../../base/text.ts";
import type { InstanceModel } from "../../definition/decide/instance.ts";
import { isInternal, refuseInternal } from "../../definition/internal.ts";
import { failed, type LifecycleModel } from "../../definition/model.ts";
import { type ChildRow, type Run, readChildren, readChildrenOf } from "../../store/family/children.ts";
import { type Kernel, knownLifecycle } from "../kernel.ts";
import { type Planned, planStart } from "../move/start.ts";
import type { Taken } from "../tasks/take.ts";

/** A child that a step or an effect starts: checked when it is asked for, written with the outcome. */
export interface ChildStart {
  readonly planned: Planned;
  /** Its place among those that were started without a key. */
  readonly place: number;
}

/** The run whose children a task sees and starts: an effect belongs to that of the move which it follows. */
export function runOf(taken: Taken): Run {
  return { id: taken.row.id, run: taken.work?.run ?? taken.row.run };
}

/** Checks a child's data and key. Throws what the step has to mend; nothing is written then. */
export function planChild(
  kernel: Kernel,
  taken: Taken,
  lifecycle: unknown,
  options: unknown,
  place: number,
): ChildStart {
  const known = knownLifecycle(kernel, lifecycle);
  const { key, data } = childOptions(options);
  const { lifecycle: parent } = taken.row;
  if (!isInternal(parent)) refuseInternal(known.name, "step.start");
  const planned = planStart(kernel, {
    lifecycle: known,
    key,
    data,
    actor: `${parent}:${taken.row.id}`,
    reason: null,
    requestId: null,
    parent: { lifecycle: parent, ...runOf(taken), name: key === null ? "" : nameOfKey(key) },
  });
  return { planned, place };
}

function childOptions(given: unknown = {}): { key: string | null; data: unknown } {
  const stray =
    typeof given === "object" && given !== null && !Array.isArray(given)
      ? Object.keys(given).find((name) => name !== "key" && name !== "data")
      : "";
  if (stray !== undefined) {
    const what = stray === "" ? "something else" : `\`${stray}\``;
    throw new PawlError("option_invalid", `\`step.start\` takes { key, data }, and was given ${what}.`);
  }
  const { key, data } = given as { key?: unknown; data?: unknown };
  return {
    key: key === undefined || key === null ? null : checkedText(key, "The key of a child", "key_invalid"),
    data,
  };
}

/** What a child with a key is called among its siblings. */
export function nameOfKey(key: string): string {
  return `=${key}`;
}

/**
 * The child as it is written. Without a key it is named by the move that starts it: that move is made once, so that a
 * step that is tried again does not start it twice.
 */
export function named({ planned, place }: ChildStart, move: string): Planned {
  const { row } = planned;
  if (row.key !== null || row.parent === null) return planned;
  return { ...planned, row: { ...row, parent: { ...row.parent, name: `${move}.${place}` } } };
}

/** The children of a task's run, as they are now. */
export async function childrenOf(kernel: Kernel, taken: Taken, lifecycle: unknown): Promise<ChildRow[]> {
  const run = runOf(taken);
  const rows =
    lifecycle === undefined
      ? await readChildren(kernel.db, run)
      : await readChildrenOf(kernel.db, run, knownLifecycle(kernel, lifecycle).name);
  return rows.map((row) => underTodaysName(kernel, row));
}

/** A child in its state by the name that it has today, also before the move that writes it so. */
export function underTodaysName(kernel: Kernel, child: ChildRow): ChildRow {
  const renamed = kernel.lifecycles.get(child.lifecycle)?.renamed ?? {};
  return { ...child, state: renamed[child.state] ?? child.state };
}

/**
 * How an instance has ended as its parent counts it; null while it may still go on by itself. One that has failed goes on
 * as long as a recovery is to come.
 */
export function endedAs(
  lifecycle: LifecycleModel,
  instance: InstanceModel,
  recovers: boolean,
): InstanceModel["outcome"] {
  if (instance.outcome !== null) return instance.outcome;
  const isFailed = instance.state === failed && lifecycle.states.get(failed)?.builtIn === true;
  return isFailed && !recovers ? "failure" : null;
}
