import { randomBytes } from "node:crypto";
import { type Channel, type ChannelModel, type ConsumeMessage, connect } from "amqplib";
import { PermanentError } from "pawl";
import { consume, consumeDeadLetters, type IncomingMessage, rabbitmq, type Topology } from "pawl/rabbitmq";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectTo, cut } from "../../src/outbox/brokers/rabbitmq/connect.ts";
import { argumentsOf } from "../../src/outbox/brokers/rabbitmq/declare.ts";
import { onRabbitmq, rabbitmqUrl } from "../setup/suites.ts";
import { Arrivals } from "./arrivals.ts";
import { type Arrived, aMessage, brokerConformance } from "./conformance.ts";

onRabbitmq("RabbitMQ", () => {
  let url: string;
  let connection: ChannelModel;
  let channel: Channel;
  const made = new Set<string>();
  beforeAll(async () => {
    url = await rabbitmqUrl();
    connection = await connect(url);
    channel = await connection.createChannel();
  }, 180_000);
  afterAll(async () => {
    if (connection === undefined) return;
    for (const name of made) {
      await channel.deleteQueue(name);
      await channel.deleteExchange(name);
    }
    await connection.close();
  });

  /** A name that nobody else uses on this broker; what is called so is removed at the end. */
  function named(what: string): string {
    const name = `${what}.${randomBytes(4).toString("hex")}`;
    made.add(name);
    return name;
  }

  /** An exchange with one queue that takes everything, and one for what dies in it. */
  function newTopology(queue: object = {}) {
    const [exchange, dlx, inbox, graveyard] = ["exchange", "dlx", "inbox", "graveyard"].map(named) as [
      string,
      string,
      string,
      string,
    ];
    const topology: Topology = {
      exchanges: { [exchange]: { type: "topic" }, [dlx]: { type: "direct" } },
      queues: {
        [inbox]: { bindings: [{ exchange, key: "#" }], deadLetter: { exchange: dlx, key: "dead" }, ...queue },
        [graveyard]: { bindings: [{ exchange: dlx, key: "dead" }] },
      },
    };
    return { exchange, inbox, graveyard, topology };
  }

  test("a connection that is cut is over at once, and keeps no process alive", async () => {
    const one = await connectTo(url, "soon gone");
    const closed = new Promise((resolve) => one.on("close", resolve));
    cut(one);
    await closed; // Without a word to the driver: when it has missed two beats, 20 seconds later.
  }, 10_000);

  /** Reads from a queue without Pawl. */
  async function read(queue: string): Promise<Arrivals<ConsumeMessage>> {
    const arrivals = new Arrivals<ConsumeMessage>();
    await channel.consume(queue, (message) => message !== null && arrivals.add(message), { noAck: true });
    return arrivals;
  }

  brokerConformance("RabbitMQ", async () => {
    const { exchange, inbox, topology } = newTopology();
    let refuses = false;
    const broker = rabbitmq({
      url,
      exchange,
      topology,
      route: () => {
        if (!refuses) return {};
        refuses = false;
        return { exchange: "amq.direct", key: "nobody" };
      },
    });
    await broker.publish(aMessage());
    const arrivals = await read(inbox);
    await arrivals.next();
    return {
      broker,
      next: async (): Promise<Arrived> => {
        const { properties, content } = await arrivals.next();
        return { id: properties.messageId, type: properties.headers!["message-type"], body: content.toString() };
      },
      refuseNext: () => {
        refuses = true;
      },
      close: () => broker.close(),
    };
  });

  describe("publishing", () => {
    test("R64 goes to the exchange and by the routing key of the config", async () => {
      const { exchange, inbox, topology } = newTopology();
      const broker = rabbitmq({ url, exchange, topology, route: ({ type }) => ({ key: `v2.${type}` }) });
      await broker.publish(aMessage({ type: "essay.sent" }));
      const inboxed = await read(inbox);
      expect(await inboxed.next()).toMatchObject({ fields: { exchange, routingKey: "v2.essay.sent" } });
      await broker.close();
    });

    test("is persistent, and carries what the message is about", async () => {
      const { exchange, inbox, topology } = newTopology();
      const broker = rabbitmq({ url, exchange, topology, headers: () => ({ tenant: "t1", missing: undefined }) });
      const message = aMessage({ attempt: 3 });
      await broker.publish(message);
      expect((await (await read(inbox)).next()).properties).toMatchObject({
        messageId: message.id,
        deliveryMode: 2,
        contentType: "application/json",
        timestamp: message.createdAt.getTime() / 1_000,
        headers: { "aggregate-type": "essay", "aggregate-id": "e1", version: 2, attempt: 3, tenant: "t1" },
      });
      await broker.close();
    });

    test("a message that no queue takes is not delivered, whatever the confirm says", async () => {
      const exchange = named("exchange");
      const broker = rabbitmq({ url, exchange, topology: { exchanges: { [exchange]: {} } } });
      await expect(broker.publish(aMessage())).rejects.toThrow("cannot be routed (NO_ROUTE)");
      expect(broker.awayMs()).toBe(0);
      await broker.close();
    });

    test("a queue that is full refuses the message, or drops its oldest one into the dead letters", async () => {
      const refusing = newTopology({ maxLength: 1, overflow: "reject-publish", type: "classic" });
      const broker = rabbitmq({ url, exchange: refusing.exchange, topology: refusing.topology });
      await broker.publish(aMessage());
      await expect(broker.publish(aMessage())).rejects.toThrow("nacked");
      await broker.close();
      const dropping = newTopology({ maxLength: 1, overflow: "drop-head", type: "classic" });
      const dropper = rabbitmq({ url, exchange: dropping.exchange, topology: dropping.topology });
      const [first, second] = [aMessage(), aMessage()];
      await dropper.publish(first);
      await dropper.publish(second); // Confirmed; what is dropped is with the dead letters, not lost.
      const dead = await (await read(dropping.graveyard)).next();
      expect(dead.properties).toMatchObject({ messageId: first.id, headers: { "x-first-death-reason": "maxlen" } });
      await dropper.close();
    });

    test("what is too large is refused for good, and what is only spaced out is not", async () => {
      const { exchange, inbox, topology } = newTopology();
      const broker = rabbitmq({ url, exchange, topology });
      const large = JSON.stringify({ text: "x".repeat(2 ** 20) });
      await expect(broker.publish(aMessage({ body: large }))).rejects.toBeInstanceOf(PermanentError);
      await expect(broker.publish(aMessage({ type: "t".repeat(300) }))).rejects.toBeInstanceOf(PermanentError);
      const list = Array.from({ length: 300_000 }, () => 1);
      await broker.publish(aMessage({ body: JSON.stringify(list).replaceAll(",", ", ".padEnd(5)) }));
      expect((await (await read(inbox)).next()).content.toString()).toBe(JSON.stringify(list));
      await broker.close();
    });

    test("a header of 200 kB is cut, and the connection lives on", async () => {
      const { exchange, inbox, topology } = newTopology();
      const headers = () => ({ error: "at line 1 ".repeat(20_000), stack: "s".repeat(200_000), tail: "kept" });
      const broker = rabbitmq({ url, exchange, topology, headers });
      await broker.publish(aMessage());
      await broker.publish(aMessage());
      const arrivals = await read(inbox);
      const { properties } = await arrivals.next();
      expect(properties.headers!.error).toHaveLength(8 * 1024 + 1);
      expect(properties.headers).toMatchObject({ tail: "kept" });
      await arrivals.next();
      await broker.close();
    });

    test("a broker that is not there, a wrong password and another topology are told apart from a message that fails", async () => {
      const gone = rabbitmq({ url: "amqp://127.0.0.1:1" });
      await expect(gone.publish(aMessage())).rejects.toMatchObject({
        name: "BrokerAway",
        retryAfterMs: expect.any(Number),
      });
      expect(gone.awayMs()).toBeGreaterThan(0);
      const wrong = new URL(url);
      wrong.password = "hunter2";
      const stranger = rabbitmq({ url: wrong.href });
      const refusal = await stranger.publish(aMessage()).catch((error: Error) => error);
      expect(refusal).toMatchObject({ name: "BrokerAway", message: expect.stringContaining("ACCESS") });
      expect((refusal as Error).message).not.toContain("hunter2");
      const { exchange, inbox, topology } = newTopology();
      const first = rabbitmq({ url, exchange, topology });
      await first.publish(aMessage());
      const changed = { ...topology, queues: { [inbox]: { type: "classic" as const } } };
      const other = rabbitmq({ url, exchange, topology: changed });
      await expect(other.publish(aMessage())).rejects.toThrow("PRECONDITION");
      for (const broker of [gone, stranger, first, other]) await broker.close();
    });

    test("bad settings are refused where they are made", () => {
      for (const options of [
        {},
        { url: "http://x" },
        { url, confirmTimeout: "soon" },
        { url, topology: { exchanges: { "": {} } } },
        { url, topology: { queues: { q: { bindings: [{ exchange: "x" }] } } } },
        { url, topology: { queues: { q: { deadLetter: { exchange: "x".repeat(256), key: "k" } } } } },
      ]) {
        expect(() => rabbitmq(options as never)).toThrow(expect.objectContaining({ code: "option_invalid" }));
      }
      const handler = async () => "ack" as const;
      for (const options of [{}, { url }, { url, queue: "q" }, { url, queue: "q", handler, prefetch: 0 }]) {
        expect(() => consume(options as never)).toThrow(expect.objectContaining({ code: "option_invalid" }));
      }
    });
  });

  describe("consuming", () => {
    test("a message is acknowledged, comes again, or goes to the dead letters, as the handler says", async () => {
      const { exchange, inbox, graveyard, topology } = newTopology();
      const seen = new Arrivals<IncomingMessage>();
      const verdicts = ["requeue", "ack", "reject"] as const;
      let turn = 0;
      const handler = async (message: IncomingMessage) => {
        seen.add(message);
        return verdicts[turn++]!;
      };
      const consumer = consume({ url, queue: inbox, topology, prefetch: 1, handler });
      const broker = rabbitmq({ url, exchange, topology });
      const [first, second] = [aMessage(), aMessage()];
      await broker.publish(first);
      expect(await seen.next()).toMatchObject({ id: first.id, deliveries: 0, routingKey: "grading.request" });
      expect(await seen.next()).toMatchObject({ id: first.id, deliveries: 1 });
      await broker.publish(second);
      expect(await seen.next()).toMatchObject({ id: second.id, deliveries: 0 });
      const dead = await (await read(graveyard)).next();
      expect(dead.properties).toMatchObject({ messageId: second.id, headers: { "x-first-death-reason": "rejected" } });
      await consumer.stop();
      await broker.close();
      expect(await channel.checkQueue(inbox)).toMatchObject({ messageCount: 0, consumerCount: 0 });
    });

    test("R69 every source queue has its own named dead-letter queue, through one durable direct exchange", async () => {
      const [exchange, dlx] = [named("exchange"), named("dlx")];
      const sources = ["request", "callback"].map((what) => ({ queue: named(what), graveyard: named(`${what}.dlq`) }));
      const topology: Topology = {
        exchanges: { [exchange]: { type: "direct" }, [dlx]: { type: "direct" } },
        queues: Object.fromEntries(
          sources.flatMap(({ queue, graveyard }) => [
            [queue, { bindings: [{ exchange, key: queue }], deadLetter: { exchange: dlx, key: graveyard } }],
            [graveyard, { bindings: [{ exchange: dlx, key: graveyard }] }],
          ]),
        ),
      };
      const broker = rabbitmq({ url, exchange, topology, route: ({ type }) => ({ key: type }) });
      const consumers = sources.map(({ queue }) => consume({ url, queue, topology, handler: async () => "reject" }));
      for (const { queue, graveyard } of sources) {
        const message = aMessage({ type: queue });
        await broker.publish(message);
        const { properties, fields } = await (await read(graveyard)).next();
        expect(properties).toMatchObject({
          messageId: message.id,
          headers: { "x-first-death-queue": queue, "x-first-death-reason": "rejected" },
        });
        expect(fields).toMatchObject({ exchange: dlx, routingKey: graveyard });
      }
      await Promise.all([...consumers.map((one) => one.stop()), broker.close()]);
      // The broker refuses to declare what exists as anything else than it is.
      await channel.assertExchange(dlx, "direct", { durable: true });
      for (const [type, durable] of [
        ["topic", true],
        ["direct", false],
      ] as const) {
        const other = await connection.createChannel();
        other.on("error", () => {});
        await expect(other.assertExchange(dlx, type, { durable })).rejects.toThrow("PRECONDITION");
      }
      for (const { queue, graveyard } of sources) {
        const deadLetter = { "x-dead-letter-exchange": dlx, "x-dead-letter-routing-key": graveyard };
        const quorum = { "x-queue-type": "quorum" };
        await channel.assertQueue(queue, {
          durable: true,
          arguments: { ...quorum, ...deadLetter, "x-delivery-limit": 20 },
        });
        expect(argumentsOf(topology.queues![graveyard]!, undefined), "it deletes nothing").toEqual(quorum);
      }
    });

    test("R69 each queue names where its dead go, by a durable direct exchange; what fails too often ends there, with its reason", async () => {
      const { exchange, inbox, graveyard, topology } = newTopology({ deliveryLimit: 2 });
      const failures = new Arrivals<unknown>();
      const consumer = consume({
        url,
        queue: inbox,
        topology,
        handler: async () => {
          throw new Error("the store is down");
        },
        onFailure: (error) => failures.add(error),
      });
      const broker = rabbitmq({ url, exchange, topology });
      const message = aMessage();
      await broker.publish(message);
      for (let time = 0; time < 3; time++)
        expect(await failures.next()).toMatchObject({ message: "the store is down" });
      const buried = new Arrivals<unknown>();
      const sexton = consumeDeadLetters({
        url,
        queue: graveyard,
        handler: async (dead) => {
          buried.add(dead);
          return "ack";
        },
      });
      expect(await buried.next()).toMatchObject({
        id: message.id,
        reason: "delivery_limit",
        queue: inbox,
        exchange,
        routingKey: "grading.request",
        deaths: 1,
        diedAt: expect.any(Date),
        body: message.body,
        truncated: false,
      });
      await Promise.all([consumer.stop(), sexton.stop(), broker.close()]);
    });

    test("a message of which nobody says why it is dead is dead for an unknown reason", async () => {
      const graveyard = named("graveyard");
      const buried = new Arrivals<unknown>();
      const sexton = consumeDeadLetters({
        url,
        queue: graveyard,
        topology: { queues: { [graveyard]: {} } },
        handler: async (dead) => {
          buried.add(dead);
          return "ack";
        },
      });
      await sexton.ready;
      const odd = { "x-death": [5, null, { count: "many", time: { value: "x" } }], "x-first-death-reason": 7 };
      channel.sendToQueue(graveyard, Buffer.from([0xff, 0xfe]), { headers: odd });
      expect(await buried.next()).toMatchObject({ reason: "unknown", queue: undefined, deaths: 1, diedAt: undefined });
      await sexton.stop();
    });

    test("what the handler has in hand is finished before the consumer ends", async () => {
      const { exchange, inbox, topology } = newTopology();
      const begun = new Arrivals<void>();
      let finish: () => void = () => {};
      const consumer = consume({
        url,
        queue: inbox,
        topology,
        handler: async () => {
          begun.add();
          await new Promise<void>((resolve) => {
            finish = resolve;
          });
          return "ack";
        },
      });
      const broker = rabbitmq({ url, exchange, topology });
      await broker.publish(aMessage());
      await begun.next();
      const stopped = consumer.stop();
      finish();
      await stopped;
      expect(await channel.checkQueue(inbox)).toMatchObject({ messageCount: 0 });
      await broker.close();
    });
  });
});
