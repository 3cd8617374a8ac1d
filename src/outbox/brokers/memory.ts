import { checkedOptions } from "../../base/options.ts";
import { matchesTopic } from "../../policy/topic.ts";
import type { Broker, OutboxMessage } from "../broker.ts";

export interface MemoryBrokerOptions {
  readonly name?: string;
  /**
   * The types of messages to accept, with patterns such as `grading.*` and `#`.
   * @default all
   */
  readonly types?: readonly string[];
  /**
   * How many messages it remembers.
   * @default 10,000
   */
  readonly remember?: number;
}

type Handler = (message: OutboxMessage) => unknown;

/**
 * Carries messages no further than this process: for tests, and for programs of one process.
 *
 * ```ts
 * const broker = memoryBroker();
 * broker.on("grading.*", async (message) => mailer.send(message.body));   // a throw: not delivered, and tried again later
 * const pawl = await createPawl({ lifecycles: [essay], outbox: { brokers: [broker] } });
 * ```
 */
export function memoryBroker(options: MemoryBrokerOptions = {}): MemoryBroker {
  return new MemoryBroker(checkedOptions(options, ["name", "types", "remember"], "memoryBroker"));
}

export class MemoryBroker implements Broker {
  readonly name: string;
  readonly timeoutMs = 5_000;
  /** Delivered messages, in order. */
  readonly messages: OutboxMessage[] = [];
  readonly #types: readonly string[];
  readonly #remember: number;
  readonly #handlers = new Set<{ pattern: string; handler: Handler }>();

  /** @internal Use `memoryBroker`. */
  constructor({ name = "memory", types = ["#"], remember = 10_000 }: MemoryBrokerOptions) {
    this.name = name;
    this.#types = types;
    this.#remember = remember;
  }

  /** Calls `handler` with each message whose type matches the pattern; returns a function that stops that. */
  on(pattern: string, handler: Handler): () => void {
    const one = { pattern, handler };
    this.#handlers.add(one);
    return () => this.#handlers.delete(one);
  }

  takes(type: string): boolean {
    return this.#types.some((pattern) => matchesTopic(pattern, type));
  }

  async publish(message: OutboxMessage): Promise<void> {
    for (const { pattern, handler } of this.#handlers) {
      if (matchesTopic(pattern, message.type)) await handler(message);
    }
    this.messages.push(message);
    if (this.messages.length > this.#remember) this.messages.shift();
  }

  awayMs(): number {
    return 0;
  }

  async close(): Promise<void> {
    this.#handlers.clear();
  }
}
