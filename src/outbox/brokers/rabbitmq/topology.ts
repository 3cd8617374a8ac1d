import type { Duration } from "../../../base/duration.ts";
import { PawlError } from "../../../base/errors.ts";

/** Exchanges, queues and bindings, declared whenever a relay or a consumer connects. */
export interface Topology {
  readonly exchanges?: Readonly<Record<string, ExchangeDeclaration>>;
  readonly queues?: Readonly<Record<string, QueueDeclaration>>;
}

export interface ExchangeDeclaration {
  /**
   * The type of the exchange.
   * @default "topic"
   */
  readonly type?: "direct" | "topic" | "fanout" | "headers";
}

export interface QueueDeclaration {
  /**
   * The type of the queue; quorum queues survive the loss of a node.
   * @default "quorum"
   */
  readonly type?: "quorum" | "classic";
  readonly bindings?: readonly { readonly exchange: string; readonly key: string }[];
  /** Where messages go that are rejected, too old, too many or delivered too often. */
  readonly deadLetter?: { readonly exchange: string; readonly key: string };
  /**
   * How often a quorum queue delivers a message before it is dead; `null` for no limit. Defaults to 20 for a queue with
   * a dead-letter exchange, and to no limit for one without, which would delete such a message.
   */
  readonly deliveryLimit?: number | null;
  readonly maxLength?: number;
  /** What happens to messages for a full queue: drop the oldest, or refuse (nack) the new one. */
  readonly overflow?: "drop-head" | "reject-publish";
  readonly messageTtl?: Duration;
  /** Other arguments of the broker, such as `x-max-length-bytes`. */
  readonly arguments?: Readonly<Record<string, unknown>>;
}

const longestName = 255;

/** Refuses names that the broker could not take, before anything is declared. */
export function checkTopology(topology: Topology): Topology {
  for (const name of Object.keys(topology.exchanges ?? {})) checkName(name, "An exchange");
  for (const [name, queue] of Object.entries(topology.queues ?? {})) {
    checkName(name, "A queue");
    for (const binding of queue.bindings ?? []) {
      checkName(binding?.exchange, `An exchange that \`${name}\` is bound to`);
      if (typeof binding.key !== "string") throw invalid(`A binding of \`${name}\` has no \`key\`.`);
    }
    if (queue.deadLetter === undefined) continue;
    checkName(queue.deadLetter.exchange, `The dead-letter exchange of \`${name}\``);
    if (typeof queue.deadLetter.key !== "string") throw invalid(`\`deadLetter\` of \`${name}\` has no \`key\`.`);
  }
  return topology;
}

function checkName(name: unknown, what: string): void {
  if (typeof name === "string" && name !== "" && Buffer.byteLength(name) <= longestName) return;
  throw invalid(`${what} must have a name of 1 to ${longestName} bytes.`);
}

function invalid(text: string): PawlError {
  return new PawlError("option_invalid", text);
}
