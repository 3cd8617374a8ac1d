import type { Channel, ChannelModel } from "amqplib";
import { durationMs } from "../../../base/duration.ts";
import type { QueueDeclaration, Topology } from "./topology.ts";

const deliveryLimit = 20;

/** Declares a topology; all of it is durable. What exists with other settings is refused by the broker. */
export async function declareTopology(connection: ChannelModel, channel: Channel, topology: Topology): Promise<void> {
  const noLimit = noDeliveryLimit(String(connection.connection.serverProperties.version));
  for (const [name, { type = "topic" }] of Object.entries(topology.exchanges ?? {})) {
    await channel.assertExchange(name, type, { durable: true });
  }
  for (const [name, queue] of Object.entries(topology.queues ?? {})) {
    await channel.assertQueue(name, { durable: true, arguments: argumentsOf(queue, noLimit) });
    for (const { exchange, key } of queue.bindings ?? []) await channel.bindQueue(name, exchange, key);
  }
}

/** How a quorum queue is declared without a limit: before RabbitMQ 4 without the argument, since then with -1. */
function noDeliveryLimit(version: string): number | undefined {
  return Number.parseInt(version, 10) >= 4 ? -1 : undefined;
}

export function argumentsOf(queue: QueueDeclaration, noLimit: number | undefined): Record<string, unknown> {
  const type = queue.type ?? "quorum";
  const given = {
    "x-queue-type": type,
    "x-delivery-limit": type === "quorum" ? (limitOf(queue) ?? noLimit) : undefined,
    "x-dead-letter-exchange": queue.deadLetter?.exchange,
    "x-dead-letter-routing-key": queue.deadLetter?.key,
    "x-max-length": queue.maxLength,
    "x-overflow": queue.overflow,
    "x-message-ttl": queue.messageTtl === undefined ? undefined : durationMs(queue.messageTtl, "messageTtl"),
    ...queue.arguments,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/**
 * A queue without a dead-letter exchange would delete a message at its delivery limit, so it has no limit by default.
 */
function limitOf(queue: QueueDeclaration): number | null {
  if (queue.deliveryLimit !== undefined) return queue.deliveryLimit;
  const hasDeadLetters = queue.deadLetter !== undefined || queue.arguments?.["x-dead-letter-exchange"] !== undefined;
  return hasDeadLetters ? deliveryLimit : null;
}
