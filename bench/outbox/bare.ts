import { randomUUID } from "node:crypto";
import { connect } from "amqplib";
import { declareTopology } from "../../src/outbox/brokers/rabbitmq/declare.ts";
import type { Topology } from "../../src/outbox/brokers/rabbitmq/topology.ts";

/** The ceiling: publishes messages from memory, with as many outstanding confirms as a relay would have. */
export async function publishBare(
  url: string,
  to: { readonly exchange: string; readonly topology: Topology },
  { count, body, window }: { count: number; body: string; window: number },
): Promise<void> {
  const connection = await connect(url);
  const channel = await connection.createConfirmChannel();
  await declareTopology(connection, channel, to.topology);
  const content = Buffer.from(body);
  await new Promise<void>((resolve, reject) => {
    let sent = 0;
    let confirmed = 0;
    const next = (error: Error | null): void => {
      if (error !== null) {
        reject(error);
        return;
      }
      confirmed += 1;
      if (confirmed === count) resolve();
      else if (sent < count) send();
    };
    const send = (): void => {
      sent += 1;
      const properties = {
        persistent: true,
        mandatory: true,
        messageId: randomUUID(),
        contentType: "application/json",
      };
      channel.publish(to.exchange, "bench.sent", content, properties, next);
    };
    for (let index = 0; index < Math.min(window, count); index++) send();
  });
  await connection.close();
}
