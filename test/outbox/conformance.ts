import type { Broker, OutboxMessage } from "pawl";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

/** A broker under test, and what it takes to look at the other end and to get in its way. */
export interface Specimen {
  readonly broker: Broker;
  /** The next message that arrived at the other end. */
  next(): Promise<Arrived>;
  /** Makes it refuse the next message, in the way that is its own. */
  refuseNext(): Promise<void> | void;
  close(): Promise<void>;
}

export interface Arrived {
  readonly id: string;
  readonly type: string;
  readonly body: string;
}

let count = 0;

export function aMessage(given: Partial<OutboxMessage> = {}): OutboxMessage {
  count += 1;
  return {
    id: `00000000-0000-7000-8000-${String(count).padStart(12, "0")}`,
    type: "grading.request",
    aggregate: { type: "essay", id: "e1" },
    body: JSON.stringify({ n: count, text: "Ünïcode ✓ \u2028" }),
    createdAt: new Date(Date.UTC(2030, 0, 1)),
    version: 2,
    attempt: 1,
    ...given,
  };
}

/** What relays rely on, whatever carries their messages away. */
export function brokerConformance(name: string, make: () => Promise<Specimen>): void {
  describe(`the broker ${name}`, () => {
    let specimen: Specimen;
    beforeAll(async () => {
      specimen = await make();
    }, 120_000);
    afterAll(() => specimen?.close());

    test("delivers what it confirmed: id, type and body as they are", async () => {
      const message = aMessage();
      await specimen.broker.publish(message);
      const arrived = await specimen.next();
      expect(arrived).toMatchObject({ id: message.id, type: message.type });
      expect(JSON.parse(arrived.body)).toEqual(JSON.parse(message.body));
    });

    test("keeps the order of messages that are handed over one after the other", async () => {
      const messages = Array.from({ length: 20 }, () => aMessage());
      for (const message of messages) await specimen.broker.publish(message);
      for (const message of messages) expect((await specimen.next()).id).toBe(message.id);
    });

    test("takes many at once", async () => {
      const messages = Array.from({ length: 100 }, () => aMessage());
      await Promise.all(messages.map((message) => specimen.broker.publish(message)));
      const arrived = await Promise.all(messages.map(async () => (await specimen.next()).id));
      expect(arrived.sort()).toEqual(messages.map((message) => message.id).sort());
    });

    test("a message that comes again has the same id", async () => {
      const message = aMessage();
      await specimen.broker.publish(message);
      await specimen.broker.publish({ ...message, attempt: 2 });
      expect([(await specimen.next()).id, (await specimen.next()).id]).toEqual([message.id, message.id]);
    });

    test("says so when a message is not taken, and takes the next one", async () => {
      await specimen.refuseNext();
      await expect(specimen.broker.publish(aMessage())).rejects.toThrow();
      const message = aMessage();
      await specimen.broker.publish(message);
      expect((await specimen.next()).id).toBe(message.id);
    });

    test("tells which types are for it, and that it is there", () => {
      expect(specimen.broker.takes("grading.request")).toBe(true);
      expect(specimen.broker.awayMs()).toBe(0);
      expect(specimen.broker.timeoutMs).toBeGreaterThan(0);
    });
  });
}
