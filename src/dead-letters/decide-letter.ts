import { PawlError } from "../base/errors.ts";
import { type Kernel, refuseInside } from "../kernel/kernel.ts";
import { decidedError, type Requeue } from "../kernel/recovery/requeue.ts";
import type { Verbs } from "../kernel/verbs.ts";
import { type Decision, decideDeadMessages } from "../outbox/dead-messages.ts";
import type { Decider } from "../store/recovery/dead-letters.ts";
import type { DeadLetterView } from "../views/dead-letters.ts";
import { requeueDied } from "./broker-dead-letters.ts";

/** Requeues the subject of a dead letter: a message by the outbox or its broker, everything else by the kernel. */
export async function requeueLetter(kernel: Kernel, verbs: Verbs, requeue: Requeue, tx: unknown): Promise<void> {
  const { letter } = requeue;
  if (letter.kind === "message") return decideMessage(kernel, letter, "requeue", requeue, tx);
  if (letter.kind === "broker") return verbs.writing("requeue", tx, (db) => requeueDied(kernel, db, requeue));
  return verbs.requeue(requeue, tx);
}

/** Discards the subject of a dead letter. */
export function discardLetter(
  kernel: Kernel,
  verbs: Verbs,
  letter: DeadLetterView,
  by: Decider,
  tx: unknown,
): Promise<void> {
  if (letter.kind !== "message") return verbs.discardLetter(letter, by, tx);
  return decideMessage(kernel, letter, "discard", by, tx);
}

/**
 * Sends a message again, or discards it so that those behind it continue. Requires the lease of its shard for a moment.
 */
async function decideMessage(
  kernel: Kernel,
  letter: DeadLetterView,
  decision: Decision,
  { actor, reason, ...given }: Decider & Partial<Pick<Requeue, "data" | "restart">>,
  tx: unknown,
): Promise<void> {
  if (tx === undefined) refuseInside(kernel, decision);
  if (tx !== undefined || given.data !== undefined || given.restart === true) {
    const message = `Dead letter ${letter.id} is of the message \`${letter.origin}\`: requeue it without \`data\`, \`restart\` and \`tx\`, or discard it.`;
    throw new PawlError("option_invalid", message, { deadLetter: letter.id });
  }
  const decided = await decideDeadMessages(kernel, { ids: [letter.task_id!], type: null }, decision, { actor, reason });
  if (decided === 0) throw decidedError(letter.id);
}
