import { type Removed, removeEnded } from "../../store/move/remove-instances.ts";
import type { Kernel } from "../kernel.ts";

/** The way out: deletes ended instances whose time is over, with all that belongs to them. Nothing else deletes any. */
export async function commitRemoval(kernel: Kernel, ended: Parameters<typeof removeEnded>[1]): Promise<Removed> {
  if (kernel.faults !== undefined) await kernel.faults.at("prune.before");
  const removed = await removeEnded(kernel.db, ended);
  if (kernel.faults !== undefined) await kernel.faults.at("prune.after");
  return removed;
}
