import { PawlError } from "../base/errors.ts";
import { storableText } from "../base/json.ts";
import { checkedText } from "../base/text.ts";
import { keepMemo, readMemo } from "../store/memos.ts";
import type { Kernel } from "./kernel.ts";
import type { Taken } from "./take.ts";

/**
 * Does `work` unless an earlier attempt of the same step has done it: its result is kept at once, outside the step's
 * outcome, and given back from then on. Two attempts that overlap keep one result, and the one without a lease none.
 */
export async function once(kernel: Kernel, taken: Taken, name: unknown, work: () => unknown): Promise<unknown> {
  const key = {
    instanceId: taken.row.id,
    owner:
      taken.work === null ? `${taken.row.state}:${taken.visit}` : `effect:${taken.work.event}:${taken.work.version}`,
    name: checkedText(name, "The name given to `once`"),
  };
  const known = await readMemo(kernel.db, key);
  if (known !== undefined) return known.value ?? undefined;
  const result = await work();
  const valueText = result === undefined ? null : storableText(result, `The result of \`once("${key.name}")\``);
  const kept = await keepMemo(kernel.db, taken.lease, key, valueText);
  if (kept === undefined) {
    throw new PawlError("lease_lost", `The lease of task ${taken.lease.taskId} was lost; its result does not count.`, {
      taskId: taken.lease.taskId,
    });
  }
  return kept.value ?? undefined;
}
