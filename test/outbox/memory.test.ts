import { memoryBroker } from "pawl/testing";
import { expect, test } from "vitest";
import { Arrivals } from "./arrivals.ts";
import { type Arrived, aMessage, brokerConformance } from "./conformance.ts";

brokerConformance("in memory", async () => {
  const broker = memoryBroker();
  const arrivals = new Arrivals<Arrived>();
  let refuse = false;
  broker.on("#", (message) => {
    if (!refuse) return arrivals.add(message);
    refuse = false;
    throw new Error("no");
  });
  return {
    broker,
    next: () => arrivals.next(),
    refuseNext: () => {
      refuse = true;
    },
    close: () => broker.close(),
  };
});

test("it remembers no more than it is told to", async () => {
  const broker = memoryBroker({ remember: 2 });
  const messages = [aMessage(), aMessage(), aMessage()];
  for (const message of messages) await broker.publish(message);
  expect(broker.messages).toEqual(messages.slice(1));
});
