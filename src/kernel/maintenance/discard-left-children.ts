import { type PruneBatch, readLeftChildren } from "../../store/move/remove-instances.ts";
import type { Kernel } from "../kernel.ts";
import { sendAll } from "../move/send.ts";

/**
 * Discards failed children that were left to parents which are about to be deleted. Such a child has no dead letter of
 * its own: without its parent it would stay failed, and nothing would report it.
 */
export async function discardLeftChildren(kernel: Kernel, look: PruneBatch): Promise<void> {
  const children = await readLeftChildren(kernel.db, look);
  const sends = children.flatMap(({ id, lifecycle: name }) => {
    const lifecycle = kernel.lifecycles.get(name);
    // A process that declares it does it.
    if (lifecycle === undefined) return [];
    return {
      lifecycle,
      ref: { id },
      event: "discard",
      payload: undefined,
      actor: null,
      reason: "parent_deleted",
      expectedVersion: undefined,
      idempotency: undefined,
      delay: undefined,
      requestId: kernel.newId(),
      source: "pawl" as const,
    };
  });
  if (sends.length > 0) await sendAll(kernel, sends);
}
