import { type Removed, removeEnded } from "../../store/move/remove-instances.ts";
import type { Kernel } from "../kernel.ts";

/** Retention: deletes ended instances past their retention, with all related rows. Nothing else deletes instances. */
export async function commitRemoval(kernel: Kernel, ended: Parameters<typeof removeEnded>[1]): Promise<Removed> {
  if (kernel.faults !== undefined) await kernel.faults.at("prune.before");
  const removed = await removeEnded(kernel.db, ended);
  if (kernel.faults !== undefined) await kernel.faults.at("prune.after");
  return removed;
}
