import { createHash } from "node:crypto";
import { cleanText } from "../../base/json.ts";
import type { Bytes } from "../../base/text.ts";
import { deleteOldRejections, upsertRejectedMessage } from "../../store/callbacks/rejected-messages.ts";
import type { Kernel } from "../kernel.ts";
import { describeError } from "../tasks/attempt-failure.ts";

/** The parts of a broker's message that do not change when it dies. */
export interface BrokerMessage {
  readonly id: string | undefined;
  readonly body: Bytes;
}

/** Identifies a message by the parts that a broker does not change. */
export function fingerprintOf({ id, body }: BrokerMessage): string {
  return createHash("sha256")
    .update(JSON.stringify(id ?? null))
    .update(body)
    .digest("base64url");
}

/** Records why a message is about to be rejected, for the dead letter that it becomes. */
export async function noteRejection(
  kernel: Kernel,
  message: BrokerMessage & { readonly queue: string },
  thrown: unknown,
): Promise<void> {
  const { stack: _, ...error } = describeError(thrown);
  const queue = cleanText(message.queue, 500);
  await upsertRejectedMessage(kernel.db, {
    fingerprint: fingerprintOf(message),
    queue,
    errorText: JSON.stringify(error),
  });
}

const retentionMs = 30 * 86_400_000;

/** Deletes the reasons of messages that no dead-letter queue has delivered for a month. */
export function tidyRejections(kernel: Kernel): Promise<number> {
  return deleteOldRejections(kernel.db, retentionMs, 500);
}
