import { matchesTopic } from "../../policy/topic.ts";
import type { Broker, OutboxMessage } from "../broker.ts";

export interface MemoryBrokerOptions {
  readonly name?: string;
  /** Which types of messages it takes, `grading.*` and `#` too; all unless given. */
  readonly types?: readonly string[];
  /** How many messages it remembers; 10,000 unless given. */
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
  return new MemoryBroker(options);
}

export class MemoryBroker implements Broker {
  readonly name: string;
  readonly timeoutMs = 5_000;
  /** What was delivered, in its order. */
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

  /** Calls `handler` with each message whose type the pattern means; gives back how to stop. */
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
