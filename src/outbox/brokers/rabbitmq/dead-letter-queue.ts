import { PawlError } from "../../../base/errors.ts";
import { checkedOptions, optionNames } from "../../../base/options.ts";
import { logFailure } from "../../../telemetry/log.ts";
import type { DeadLetterSource } from "../../broker.ts";
import { checkedUrl } from "./connect.ts";
import { type ConsumeOptions, Consumer } from "./consumer.ts";
import { deadMessageOf } from "./dead-letters.ts";

export interface DeadLetterQueueOptions extends Pick<ConsumeOptions, "url" | "queue" | "topology" | "prefetch"> {
  /**
   * The broker of the outbox that sends a requeued message back.
   * @default "rabbitmq"
   */
  readonly broker?: string;
}

const known = optionNames<DeadLetterQueueOptions>({
  url: true,
  queue: true,
  topology: true,
  prefetch: true,
  broker: true,
});

/**
 * Turns the messages of a dead-letter queue into dead letters: each is stored, and then acknowledged. A requeued one
 * goes back, through the outbox, to the queue in which it died.
 *
 * ```ts
 * createPawl({ lifecycles: [essay], deadLetters: { queues: [deadLetterQueue({ url, queue: "grading.dlq" })] } });
 * ```
 */
export function deadLetterQueue(given: DeadLetterQueueOptions): DeadLetterSource {
  const { broker = "rabbitmq", ...options } = checkedOptions(given, known, "deadLetterQueue");
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
          const details = { id, reason, queue: dead.queue, exchange, routingKey, deaths, diedAt, headers };
          const { properties, body, deliveries } = message;
          await keep({ ...details, broker, graveyard: queue, properties, body, redelivered: deliveries > 0 });
          return "ack";
        },
      });
    },
  };
}
