import type { Channel } from "amqplib";
import { durationMs } from "../../../base/duration.ts";
import type { QueueDeclaration, Topology } from "./topology.ts";

const deliveryLimit = 20;

/** Declares a topology; all of it is durable. What exists with other settings is refused by the broker. */
export async function declareTopology(channel: Channel, topology: Topology): Promise<void> {
  for (const [name, { type = "topic" }] of Object.entries(topology.exchanges ?? {})) {
    await channel.assertExchange(name, type, { durable: true });
  }
  for (const [name, queue] of Object.entries(topology.queues ?? {})) {
    await channel.assertQueue(name, { durable: true, arguments: argumentsOf(queue) });
    for (const { exchange, key } of queue.bindings ?? []) await channel.bindQueue(name, exchange, key);
  }
}

function argumentsOf(queue: QueueDeclaration): Record<string, unknown> {
  const type = queue.type ?? "quorum";
  const given = {
    "x-queue-type": type,
    "x-delivery-limit": type === "quorum" ? (queue.deliveryLimit ?? deliveryLimit) : undefined,
    "x-dead-letter-exchange": queue.deadLetter?.exchange,
    "x-dead-letter-routing-key": queue.deadLetter?.key,
    "x-max-length": queue.maxLength,
    "x-overflow": queue.overflow,
    "x-message-ttl": queue.messageTtl === undefined ? undefined : durationMs(queue.messageTtl, "messageTtl"),
    ...queue.arguments,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
