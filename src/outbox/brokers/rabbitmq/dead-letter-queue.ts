import { PawlError } from "../../../base/errors.ts";
import { logFailure } from "../../../telemetry/log.ts";
import type { DeadLetterSource } from "../../broker.ts";
import { checkedUrl } from "./connect.ts";
import { type ConsumeOptions, Consumer } from "./consumer.ts";
import { deadMessageOf } from "./dead-letters.ts";

export interface DeadLetterQueueOptions extends Pick<ConsumeOptions, "url" | "queue" | "topology" | "prefetch"> {
  /** The broker of the outbox by which a message goes back when somebody requeues it; `"rabbitmq"` unless given. */
  readonly broker?: string;
}

/**
 * Makes dead letters of what lies in a dead-letter queue: each is stored, and then taken from the queue. Whoever requeues
 * one sends it back to the queue in which it died, through the outbox.
 *
 * ```ts
 * createPawl({ lifecycles: [essay], deadLetters: { queues: [deadLetterQueue({ url, queue: "grading.dlq" })] } });
 * ```
 */
export function deadLetterQueue({ broker = "rabbitmq", ...options }: DeadLetterQueueOptions): DeadLetterSource {
  checkedUrl(options.url);
  const { queue, prefetch = 5 } = options; // Each may be large.
  if (typeof queue !== "string" || queue === "" || typeof broker !== "string" || broker === "") {
    throw new PawlError("option_invalid", "`deadLetterQueue` needs `queue`, the name of a dead-letter queue.");
  }
  return {
    name: `${broker}/${queue}`,
    open({ keep, available, log }) {
      return new Consumer({
        ...options,
        available,
        prefetch,
        maxBytes: Number.POSITIVE_INFINITY,
        onFailure: (error) => logFailure(log, error),
        handler: async (message) => {
          const { id, reason, exchange, routingKey, deaths, diedAt, headers, ...dead } = deadMessageOf(message);
          const told = { id, reason, queue: dead.queue, exchange, routingKey, deaths, diedAt, headers };
          const { properties, body, deliveries } = message;
          await keep({ ...told, broker, graveyard: queue, properties, body, redelivered: deliveries > 0 });
          return "ack";
        },
      });
    },
  };
}
