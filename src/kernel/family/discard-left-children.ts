import { type LeftChild, readLeftFailures } from "../../store/family/children.ts";
import type { InstanceRow } from "../../store/move/instances.ts";
import { type PruneBatch, readLeftChildren } from "../../store/move/remove-instances.ts";
import type { Kernel } from "../kernel.ts";
import { sendAll } from "../move/send.ts";

const pageSize = 500;

/**
 * Discards failed children that were left to parents which are about to be deleted. Such a child has no dead letter of
 * its own: without its parent it would stay failed, and nothing would report it.
 */
export async function discardLeftChildren(kernel: Kernel, look: PruneBatch): Promise<void> {
  await discard(kernel, await readLeftChildren(kernel.db, look), "parent_deleted");
}

/**
 * Discards failed children that were left to runs of these parents that a person has discarded or restarted: no join
 * will handle them, and they are decided with their parent. Returns the parents that must be checked again.
 */
export async function discardAbandonedChildren(
  kernel: Kernel,
  rows: readonly InstanceRow[],
): Promise<ReadonlySet<string>> {
  const again = new Set<string>();
  const discarded = rows.filter((row) => row.outcome === "discarded");
  const restarted = rows.filter((row) => row.outcome !== "discarded" && row.run > 1);
  for (const [parents, reason] of [
    [discarded.map(({ id, run }) => ({ id, run })), "parent_discarded"],
    [restarted.map(({ id, run }) => ({ id, run: run - 1 })), "parent_restarted"],
  ] as const) {
    if (parents.length === 0) continue;
    const left = await readLeftFailures(kernel.db, parents, pageSize);
    const done = await discard(kernel, left, reason);
    for (const { id, parent_id } of left) if (!done.has(id) || left.length === pageSize) again.add(parent_id);
  }
  return again;
}

/** Returns those that were discarded. One that has moved since is left alone. */
async function discard(kernel: Kernel, children: readonly LeftChild[], reason: string): Promise<Set<string>> {
  // A process that declares the others does it.
  const known = children.filter(({ lifecycle }) => kernel.lifecycles.has(lifecycle));
  if (known.length === 0) return new Set();
  const sent = await sendAll(
    kernel,
    known.map(({ id, lifecycle, version }) => ({
      lifecycle: kernel.lifecycles.get(lifecycle)!,
      ref: { id },
      event: "discard",
      payload: undefined,
      actor: null,
      reason,
      expectedVersion: version,
      idempotency: undefined,
      delay: undefined,
      requestId: kernel.newId(),
      source: "pawl" as const,
    })),
  );
  return new Set(known.filter((_, at) => sent[at]!.ok).map(({ id }) => id));
}
