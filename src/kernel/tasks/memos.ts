import { PawlError } from "../../base/errors.ts";
import { storableText } from "../../base/json.ts";
import { checkedText } from "../../base/text.ts";
import { type Memo, readMemo, saveMemo } from "../../store/tasks/memos.ts";
import type { Kernel } from "../kernel.ts";
import { retryThroughOutage } from "../retry-through-outage.ts";
import type { ClaimedTask } from "../types/claimed-task.ts";
import { runOf } from "./claim.ts";

/**
 * Runs `work` unless an earlier attempt has done so: one of the same visit, or with `{ scope: "instance" }` one of the
 * same run of the instance. Its result is stored at once, outside the step's outcome, and returned from then on. Two
 * overlapping attempts store one result; an attempt without a lease stores none.
 */
export async function once(
  kernel: Kernel,
  task: ClaimedTask,
  signal: AbortSignal,
  name: unknown,
  ...rest: unknown[]
): Promise<unknown> {
  const key = { instanceId: task.row.id, owner: "", name: checkedText(name, "The name given to `once`") };
  const [options, work] = rest.length > 1 ? rest : [{}, rest[0]];
  key.owner = ownerOf(task, scopeOf(key.name, options));
  if (typeof work !== "function") {
    throw new PawlError("option_invalid", `\`once("${key.name}")\` needs a function: step.once(name, () => …).`);
  }
  const known = await retryThroughOutage(kernel, signal, () => readMemo(kernel.db, key));
  if (known !== undefined) return resultOf(known);
  const result = await work();
  const valueText = result === undefined ? null : storableText(result, `The result of \`once("${key.name}")\``);
  const kept = await retryThroughOutage(kernel, signal, () => saveMemo(kernel.db, task.lease, key, valueText));
  if (kept === undefined) {
    throw new PawlError("lease_lost", `The lease of task ${task.lease.taskId} was lost; its result does not count.`, {
      taskId: task.lease.taskId,
    });
  }
  return resultOf(kept);
}

function resultOf({ value, has_value }: Memo): unknown {
  return has_value ? value : undefined;
}

type Scope = "visit" | "instance";

function scopeOf(name: string, options: unknown): Scope {
  const { scope = "visit", ...others } = (options ?? {}) as { scope?: unknown };
  if ((scope === "visit" || scope === "instance") && Object.keys(others).length === 0) return scope;
  throw new PawlError("option_invalid", `\`once("${name}")\` takes { scope: "visit" } or { scope: "instance" }.`);
}

/** No state begins with a colon: a memo of the instance cannot collide with one of a visit. */
function ownerOf(task: ClaimedTask, scope: Scope): string {
  if (scope === "instance") return `:run:${runOf(task)}`;
  const { row, work, visit } = task;
  return work === null ? `${row.state}:${visit}` : `effect:${work.event}:${work.version}`;
}
