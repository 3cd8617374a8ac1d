import { type Channel, type ChannelModel, connect } from "amqplib";
import { createPawl, type Pawl, type RelayOptions } from "pawl";
import {
  consume,
  consumeDeadLetters,
  type DeadMessage,
  type IncomingMessage,
  type RabbitmqOptions,
  rabbitmq,
  type Topology,
  type Verdict,
} from "pawl/rabbitmq";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { newPostgresStore, type TestStore } from "../../src/testing/stores.ts";
import { Arrivals } from "../outbox/arrivals.ts";
import { type RabbitmqServer, startRabbitmq } from "../setup/rabbitmq.ts";
import { onOwnRabbitmq } from "../setup/suites.ts";
import { Random, repeat, seed } from "./harm/random.ts";
import { TcpProxy } from "./harm/tcp-proxy.ts";
import { Deliveries } from "./relays/deliveries.ts";
import { countersTable, writeAll, writeSome } from "./relays/writers.ts";

const messages = Number(process.env.PAWL_TEST_MESSAGES ?? 1_000);
const kills = Number(process.env.PAWL_TEST_BROKER_KILLS ?? 1);
const server = process.env.PAWL_TEST_POSTGRES_URL;

/** Retries almost at once: these tests wait for the broker. */
const outbox = { pollInterval: "50ms", retry: { maxAttempts: 1_000, backoff: () => 50 } } as const;

onOwnRabbitmq("a RabbitMQ that fails", { skip: server === undefined }, () => {
  let broker: RabbitmqServer;
  let store: TestStore;
  let pawl: Pawl;
  let open: ChannelModel | undefined;
  const failures: string[] = [];

  beforeAll(async () => {
    [broker, store] = await Promise.all([startRabbitmq(), newPostgresStore(server!)]);
    await store.db.script(countersTable);
  }, 180_000);
  afterAll(async () => {
    await broker?.stop();
    await store?.dispose();
  });
  beforeEach(async () => {
    await store.db.script(
      "truncate pawl.messages, public.counters; update pawl.shards set relay = null, leased_until = null",
    );
    failures.length = 0;
  });
  afterEach(async () => {
    await pawl?.close();
    await open?.close().catch(() => {});
    open = undefined;
  });

  let names = 0;

  /** An exchange of its own with one queue, and a relay that publishes to it. */
  async function relayTo({
    queue: queueOptions,
    relay: relayOptions,
    ...options
  }: Partial<RabbitmqOptions> & { queue?: object; relay?: Partial<RelayOptions> } = {}) {
    const [exchange, queue] = [`exchange${++names}`, `queue${names}`];
    const topology: Topology = {
      exchanges: { [exchange]: { type: "topic" } },
      queues: { [queue]: { bindings: [{ exchange, key: "#" }], ...queueOptions } },
    };
    const to = rabbitmq({ url: broker.url, exchange, topology, confirmTimeout: "1s", ...options });
    pawl = await createPawl({
      database: store.url,
      lifecycles: [],
      logger: false,
      outbox: { brokers: [to], ...outbox, ...relayOptions, onFailure: (error) => failures.push(String(error)) },
    });
    return { exchange, queue, to, relay: pawl.relay() };
  }

  async function channel(): Promise<Channel> {
    open ??= await connect(broker.url);
    open.on("error", () => {});
    return open.createChannel();
  }

  /** All that is in a queue, in its order. */
  async function drained(queue: string): Promise<Deliveries> {
    const deliveries = new Deliveries();
    const reading = await channel();
    for (;;) {
      const message = await reading.get(queue, { noAck: true });
      if (message === false) return deliveries;
      const { n } = JSON.parse(message.content.toString()) as { n: number };
      const { messageId, headers } = message.properties;
      deliveries.add({ id: messageId, aggregate: headers!["aggregate-id"], n });
    }
  }

  async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
    await vi.waitFor(async () => expect(await isSo()).toBe(true), { interval: 20, timeout: 60_000 });
  }

  const isEmpty = async () => (await pawl.outbox.status()).pending === 0;

  test("killed and started again in the middle of it: every message arrives, for the first time in order, relay and consumer come back", async () => {
    const random = new Random(seed);
    const { queue, relay } = await relayTo();
    const deliveries = new Deliveries();
    const lost: string[] = [];
    const handler = async ({ id, headers, body }: IncomingMessage): Promise<Verdict> => {
      const { n } = JSON.parse(body.toString()) as { n: number };
      deliveries.add({ id: id!, aggregate: String(headers["aggregate-id"]), n });
      return "ack";
    };
    await store.db.script("insert into public.counters (id) values ('first')");
    await writeSome(pawl, "first", 1); // Which makes the relay declare the queue.
    await until(isEmpty);
    await broker.rememberQueues();
    const consumer = consume({ url: broker.url, queue, handler, onFailure: (error) => lost.push(String(error)) });
    const writing = writeAll(pawl, { messages, aggregates: 30, random, slowestMs: 5 });
    for (let kill = 1; kill <= kills; kill++) {
      await until(() => relay.counts.published > (messages * kill) / (kills + 2));
      const before = lost.length;
      await broker.crash();
      await until(() => lost.length > before);
      await broker.restart();
    }
    const published = await writing;
    await until(isEmpty);
    await deliveries.whenArrived(messages + 1);
    expect(deliveries.contradictions(published, { mayRepeat: true }), repeat).toEqual([]);
    expect(await pawl.inspect.verify()).toEqual([]);
    // Away for seconds, it cost no message an attempt, not even those that were under way.
    const attempts = (await pawl.outbox.messages({ status: "published", limit: 1_000 })).map((one) => one.retryCount);
    expect(Math.max(...attempts)).toBe(0);
    await consumer.stop();
  }, 240_000);

  test("a link that swallows every answer: the confirm is not waited for, and a new connection carries on", async () => {
    const { hostname, port } = new URL(broker.url);
    const proxy = new TcpProxy({ host: hostname, port: Number(port) });
    const url = await proxy.listen(broker.url);
    const { queue } = await relayTo({ url, confirmTimeout: "2s" });
    await store.db.script("insert into public.counters (id) values ('a')");
    await writeSome(pawl, "a", 1);
    await until(isEmpty);
    proxy.blackhole = true;
    await writeSome(pawl, "a", 2);
    await until(() => failures.some((one) => one.includes("did not confirm within 2000 ms")));
    expect((await pawl.outbox.messages())[0]).toMatchObject({ status: "pending", retryCount: 0 });
    proxy.blackhole = false;
    proxy.cutAll();
    await until(isEmpty);
    expect((await drained(queue)).contradictions(new Map([["a", 3]]), { mayRepeat: true })).toEqual([]);
    await pawl.close();
    await proxy.close();
  }, 60_000);

  test("a queue that is deleted is declared anew; where we declare nothing, the message waits until somebody binds one", async () => {
    await store.db.script("insert into public.counters (id) values ('a'), ('b')");
    const { queue } = await relayTo({});
    await writeSome(pawl, "a", 1);
    await until(isEmpty);
    const hand = await channel();
    await hand.deleteQueue(queue);
    await writeSome(pawl, "a", 1);
    await until(() => failures.some((one) => one.includes("cannot be routed")));
    await until(isEmpty);
    expect((await drained(queue)).contradictions(new Map([["a", 2]]), { mayRepeat: false })).toEqual(["a:1 was lost"]);
    await pawl.close();
    failures.length = 0;
    // By hand: an exchange without a binding.
    await hand.assertExchange("bare", "topic");
    await hand.assertQueue("bare-queue", { durable: true });
    const bare = await relayTo({ exchange: "bare", topology: {} });
    await writeSome(pawl, "b", 2);
    await until(() => bare.relay.counts.failed > 3);
    const waiting = await pawl.outbox.messages();
    expect(waiting).toMatchObject([
      { error: expect.stringContaining("cannot be routed") },
      { behind: true, retryCount: 0 },
    ]);
    await hand.bindQueue("bare-queue", "bare", "#");
    await until(isEmpty);
    expect((await drained("bare-queue")).contradictions(new Map([["b", 2]]), { mayRepeat: false })).toEqual([]);
  }, 60_000);

  test("a queue that is full and refuses: what does not fit waits, and follows in order when there is room", async () => {
    await store.db.script("insert into public.counters (id) values ('a')");
    const { queue, relay } = await relayTo({ queue: { type: "classic", maxLength: 2, overflow: "reject-publish" } });
    await writeSome(pawl, "a", 5);
    await until(() => relay.counts.failed > 2);
    expect((await pawl.outbox.status()).pending).toBe(3);
    const all = new Deliveries();
    const reading = await channel();
    await reading.consume(
      queue,
      (message) => {
        const { n } = JSON.parse(message!.content.toString()) as { n: number };
        all.add({ id: message!.properties.messageId, aggregate: "a", n });
      },
      { noAck: true },
    );
    await all.whenArrived(5);
    expect(all.contradictions(new Map([["a", 5]]), { mayRepeat: false })).toEqual([]);
    await until(isEmpty);
  }, 60_000);

  test("a broker that takes nothing more for want of memory costs no message its attempts", async () => {
    await store.db.script("insert into public.counters (id) values ('a')");
    const { queue, to } = await relayTo();
    await writeSome(pawl, "a", 1);
    await until(isEmpty);
    await broker.control("set_vm_memory_high_watermark", "absolute", "1MB");
    try {
      await writeSome(pawl, "a", 30);
      await until(() => to.awayMs() > 0);
      await until(() => failures.length > 0);
    } finally {
      await broker.control("set_vm_memory_high_watermark", "0.6");
    }
    await until(isEmpty);
    expect((await drained(queue)).contradictions(new Map([["a", 31]]), { mayRepeat: true })).toEqual([]);
    const attempts = (await pawl.outbox.messages({ status: "published" })).map((one) => one.retryCount);
    expect(attempts.reduce((sum, one) => sum + one, 0)).toBe(0);
  }, 60_000);

  test("a message of 130 MiB does not end the consumer: it goes to the dead letters, and the next one is taken", async () => {
    const [inbox, graveyard] = ["large-inbox", "large-graveyard"];
    const topology: Topology = {
      exchanges: { "large-dlx": { type: "direct" } },
      queues: {
        [inbox]: { type: "classic", deadLetter: { exchange: "large-dlx", key: "dead" } },
        [graveyard]: { type: "classic", bindings: [{ exchange: "large-dlx", key: "dead" }] },
      },
    };
    const seen = new Arrivals<string>();
    const dead = new Arrivals<DeadMessage>();
    const consumer = consume({
      url: broker.url,
      queue: inbox,
      topology,
      handler: async ({ body }) => {
        seen.add(body.toString());
        return "ack";
      },
    });
    await consumer.ready;
    const sexton = consumeDeadLetters({
      url: broker.url,
      queue: graveyard,
      handler: async (message) => {
        dead.add(message);
        return "ack";
      },
    });
    const stranger = await channel();
    stranger.sendToQueue(inbox, Buffer.alloc(130 * 2 ** 20, "x"), { messageId: "huge" });
    stranger.sendToQueue(inbox, Buffer.from("small"));
    expect(await seen.next()).toBe("small");
    const { body, ...rest } = await dead.next();
    expect(rest).toMatchObject({ id: "huge", reason: "rejected", queue: inbox, truncated: true });
    expect(body).toHaveLength(64 * 1024);
    await Promise.all([consumer.stop(), sexton.stop()]);
  }, 120_000);

  test("a consumer whose queue is deleted declares it anew and goes on", async () => {
    const queue = "comes-back";
    const seen = new Arrivals<string>();
    const lost = new Arrivals<unknown>();
    const consumer = consume({
      url: broker.url,
      queue,
      topology: { queues: { [queue]: {} } },
      handler: async ({ body }) => {
        seen.add(body.toString());
        return "ack";
      },
      onFailure: (error) => lost.add(error),
    });
    await consumer.ready;
    const hand = await channel();
    await hand.deleteQueue(queue);
    expect(await lost.next()).toMatchObject({ message: expect.stringContaining("it was deleted") });
    await until(async () => {
      hand.sendToQueue(queue, Buffer.from("x")); // Cannot be sent while the queue does not exist.
      return seen.left > 0;
    });
    await consumer.stop();
  }, 60_000);
});
