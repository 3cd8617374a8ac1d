import { storableText } from "../../base/json.ts";
import { checkedText } from "../../base/text.ts";
import { insertMessage, type LooseMessage } from "../../store/move/messages.ts";
import { adoptTx, withinSavepoint } from "../../store/port/foreign-tx.ts";
import { type Kernel, refuseInside } from "../kernel.ts";
import { outboxTopic } from "../signals/signals.ts";

/** The subject of a message: messages with the same subject are sent in the order in which they were published. */
export interface Aggregate {
  readonly type: string;
  readonly id: string;
}

/** Puts a message into the outbox, as a part of `tx` when it is given: it is there if and only if that commits. */
export async function publish(
  kernel: Kernel,
  message: { type: unknown; payload: unknown; aggregate: { type?: unknown; id?: unknown } },
  tx: unknown,
): Promise<{ id: string }> {
  const type = checkedText(message.type, "The type of a message");
  const row: LooseMessage = {
    id: kernel.newId(),
    aggregateType: checkedText(message.aggregate.type, "`aggregate.type`"),
    aggregateId: checkedText(message.aggregate.id, "`aggregate.id`"),
    type,
    payloadText: storableText(message.payload, `The message \`${type}\``),
  };
  if (tx !== undefined) {
    const own = adoptTx(tx);
    await withinSavepoint(own, () => insertMessage(own, row));
  } else {
    refuseInside(kernel, "publish");
    const { now_ms } = await insertMessage(kernel.db, row);
    kernel.clock.observe(now_ms);
  }
  // Before a caller's own commit this is too early; then a relay's next poll finds the message.
  kernel.signals.hint(outboxTopic);
  return { id: row.id };
}
