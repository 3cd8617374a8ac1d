import { randomBytes } from "node:crypto";
import { type Channel, type ChannelModel, type ConsumeMessage, connect } from "amqplib";
import { type BrokerDeadMessage, constant, lifecycle } from "pawl";
import { deadLetterQueue, rabbitmq, type Topology } from "pawl/rabbitmq";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { storeBrokerDeadLetter } from "../../src/dead-letters/broker-dead-letters.ts";
import { boundedHeaders } from "../../src/outbox/brokers/rabbitmq/bounds.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { Arrivals } from "../outbox/arrivals.ts";
import { onRabbitmq, rabbitmqUrl } from "../setup/suites.ts";
import { CapturedLog } from "../support/captured-log.ts";
import { eachStore } from "../support/each-store.ts";

const essay = lifecycle("essay", {
  initial: "submitted",
  states: {
    submitted: { run: (step) => step.publish("grading.request", { requestId: "r-1" }), on: { requested: "grading" } },
    grading: { forever: true, on: { graded: "done" } },
    done: { final: "success" },
  },
});

const died: BrokerDeadMessage = {
  broker: "rabbitmq",
  graveyard: "grading.dlq",
  id: "m1",
  reason: "rejected",
  queue: "grading.request",
  exchange: "vstep.exchange",
  routingKey: "grading.request",
  deaths: 1,
  diedAt: new Date(0),
  headers: {},
  properties: { contentType: "application/json" },
  body: Buffer.from('{"requestId":"r-7"}'),
  redelivered: false,
};

eachStore((store) => {
  test("a message that died is one dead letter for each of its deaths, however often it is delivered (A29)", async () => {
    const log = new CapturedLog();
    await using t = await store.open({ lifecycles: [essay], logger: log });
    const keep = (message: Partial<BrokerDeadMessage>) => storeBrokerDeadLetter(t.kernel, { ...died, ...message });
    await Promise.all([keep({}), keep({}), keep({ redelivered: true })]);
    expect(await t.pawl.deadLetters.list()).toMatchObject([
      {
        kind: "broker",
        instance: null,
        lifecycle: "rabbitmq",
        origin: "grading.request",
        reason: "rejected",
        attempts: 1,
        payload: { text: '{"requestId":"r-7"}', encoding: "utf8", truncated: false },
        details: { id: "m1", requestId: "r-7", routingKey: "grading.request", requeues: 0 },
      },
    ]);
    expect(log.lines.filter((line) => line.level === "error")).toMatchObject([
      {
        fields: { requestId: "r-7", reason: "rejected" },
        message: expect.stringContaining("r-7 died in grading.request"),
      },
    ]);
    await keep({ deaths: 2 });
    await keep({ headers: { "pawl-requeues": 1 } });
    await keep({ id: "m2", queue: "other" });
    expect(await t.pawl.deadLetters.list()).toHaveLength(4);
    // Without an id, what comes for the first time is another message; what comes again may be here already.
    await keep({ id: undefined });
    await keep({ id: undefined });
    await keep({ id: undefined, redelivered: true });
    await keep({ id: undefined, redelivered: true, body: Buffer.from("another") });
    expect(await t.pawl.deadLetters.list()).toHaveLength(7);
    expect(await t.pawl.deadLetters.tickets.list()).toHaveLength(7);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("whatever is in it, it is kept: bytes that are no text, headers that no row can hold, much of a large one", async () => {
    await using t = await store.open({ lifecycles: [essay] });
    const odd: Partial<BrokerDeadMessage>[] = [
      { id: "bytes", body: Buffer.from([0xff, 0x00, 0xfe]) },
      { id: "nul", body: Buffer.from("a\u0000b"), headers: { "x-error": "\u0000\ud800 no", deep: { a: 1 } } },
      { id: "large", body: Buffer.alloc(3 * 1024 * 1024, "x") },
      { id: "lost", queue: undefined, reason: "unknown" },
      { id: "often", deaths: 1e15, headers: { "pawl-requeues": "many" } },
      { id: "wordy", headers: boundedHeaders({ "x-error": "no ".repeat(70_000), tenant: "t1" }) },
    ];
    for (const one of odd) await storeBrokerDeadLetter(t.kernel, { ...died, ...one });
    const letters = new Map(
      (await t.pawl.deadLetters.list()).map((letter) => [(letter.details as { id: string }).id, letter]),
    );
    expect(letters.get("bytes")).toMatchObject({ payload: { text: "/wD+", encoding: "base64" } });
    expect(letters.get("nul")).toMatchObject({ error: { message: "\ufffd\ufffd no" } });
    expect(letters.get("large")).toMatchObject({ payload: { truncated: true, bytes: 3 * 1024 * 1024 } });
    expect(letters.get("lost")).toMatchObject({ origin: "grading.dlq", reason: "unknown" });
    expect(letters.get("often")).toMatchObject({ attempts: 1_000_000_000, details: { requeues: 0 } });
    expect(letters.get("wordy")).toMatchObject({ error: { message: expect.stringMatching(/^no .*…$/) } });
    expect(letters.get("wordy")).toMatchObject({ details: { headers: { tenant: "t1" } } });
    await expect(t.pawl.deadLetters.requeue(letters.get("large")!.id)).rejects.toMatchObject({
      code: "option_invalid",
    });
    await expect(t.pawl.deadLetters.requeue(letters.get("lost")!.id)).rejects.toMatchObject({ code: "option_invalid" });
    await expect(t.pawl.deadLetters.requeue(letters.get("nul")!.id, { restart: true })).rejects.toMatchObject({
      code: "option_invalid",
    });
    expect(await t.pawl.deadLetters.preview("requeue", { kind: "broker" })).toMatchObject({
      outcomes: { requeued: 4, option_invalid: 2 },
    });
    expect(await t.pawl.outbox.messages()).toEqual([]);
  });
});

onRabbitmq("RabbitMQ's dead-letter queue", () => {
  let url: string;
  let connection: ChannelModel;
  let channel: Channel;
  const suffix = randomBytes(4).toString("hex");
  const [exchange, dlx, inbox, graveyard] = ["exchange", "dlx", "inbox", "graveyard"].map(
    (one) => `${one}.${suffix}`,
  ) as [string, string, string, string];
  const topology: Topology = {
    exchanges: { [exchange]: { type: "topic" }, [dlx]: { type: "direct" } },
    queues: {
      [inbox]: { bindings: [{ exchange, key: "#" }], deadLetter: { exchange: dlx, key: "dead" } },
      [graveyard]: { bindings: [{ exchange: dlx, key: "dead" }] },
    },
  };
  beforeAll(async () => {
    url = await rabbitmqUrl();
    connection = await connect(url);
    channel = await connection.createChannel();
  }, 180_000);
  afterAll(async () => {
    if (connection === undefined) return;
    for (const queue of [inbox, graveyard]) await channel.deleteQueue(queue);
    for (const one of [exchange, dlx]) await channel.deleteExchange(one);
    await connection.close();
  });

  test("R70 what dies is a dead letter with its reason, an error in the log and a ticket, and an operator sends it back to its queue", async () => {
    const log = new CapturedLog();
    const { testPawl } = await import("pawl/testing");
    await using t: TestPawl = await testPawl({
      server: process.env.PAWL_TEST_POSTGRES_URL,
      lifecycles: [essay],
      logger: log,
      outbox: { brokers: [rabbitmq({ url, exchange, topology })], retry: { maxAttempts: 2, backoff: constant("1s") } },
      deadLetters: { queues: [deadLetterQueue({ url, queue: graveyard, topology })] },
    });
    const { id } = await t.pawl.start(essay, { key: "e", data: {} });
    await t.work();
    t.pawl.maintain({ interval: "1h" }); // Opens the dead-letter queue, as every process that keeps house does.
    await t.relay();
    const arrivals = new Arrivals<ConsumeMessage>();
    const { consumerTag } = await channel.consume(inbox, (message) => message !== null && arrivals.add(message));
    const refused = await arrivals.next();
    channel.nack(refused, false, false);
    const died = await vi.waitFor(async () => {
      const [letter] = await t.pawl.deadLetters.list();
      expect(letter).toBeDefined();
      return letter!;
    }, 10_000);
    expect(died).toMatchObject({
      kind: "broker",
      instance: id, // It was this instance that published it.
      key: "e",
      lifecycle: "essay",
      origin: inbox,
      reason: "rejected",
      attempts: 1,
      details: { requestId: "r-1", exchange, routingKey: "grading.request", broker: "rabbitmq" },
    });
    expect(log.lines.find((line) => line.level === "error")).toMatchObject({
      fields: { deadLetter: died.id, requestId: "r-1", reason: "rejected", queue: inbox },
    });
    expect(await t.pawl.deadLetters.tickets.list()).toMatchObject([
      { id: died.id, status: "open", reason: "rejected" },
    ]);
    expect(await channel.checkQueue(graveyard)).toMatchObject({ messageCount: 0 });

    expect(await t.pawl.deadLetters.requeue(died.id, { actor: "ada", reason: "mended" })).toMatchObject({
      status: "requeued",
    });
    expect(await t.pawl.deadLetters.tickets.list({ status: "resolved" })).toMatchObject([
      { resolvedBy: "ada", resolution: "mended" },
    ]);
    expect(await t.relay()).toMatchObject([{ what: "published" }]);
    const again = await arrivals.next();
    expect(again.content).toEqual(refused.content);
    expect(again.properties).toMatchObject({
      messageId: refused.properties.messageId,
      contentType: "application/json",
      deliveryMode: 2,
      headers: { "message-type": "grading.request", "aggregate-id": id, "pawl-requeues": 1 },
    });
    expect(again.properties.headers).not.toHaveProperty("x-death");
    channel.nack(again, false, false); // Its second death is another one.
    await vi.waitFor(async () => expect(await t.pawl.deadLetters.list()).toHaveLength(1), 10_000);

    // Nobody says why, and the error fills as large a header as the driver sends.
    channel.sendToQueue(graveyard, Buffer.from("odd"), { headers: { "x-error": "no ".repeat(20_000) } });
    await vi.waitFor(async () => expect(await t.pawl.deadLetters.list()).toHaveLength(2), 10_000);
    expect((await t.pawl.deadLetters.list())[0]).toMatchObject({ reason: "unknown", origin: graveyard });

    // The queue is gone: what is to be sent back stays in the outbox.
    await channel.cancel(consumerTag);
    await channel.deleteQueue(inbox);
    const [, second] = await t.pawl.deadLetters.list();
    await t.pawl.deadLetters.requeue(second!.id);
    expect((await t.relay()).map((one) => one.what)).toEqual(["failed"]);
    expect(await t.pawl.outbox.messages()).toMatchObject([{ type: "pawl.requeue/rabbitmq", status: "pending" }]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  }, 60_000);

  test("what was stored and not acknowledged comes again, and is one dead letter", async () => {
    const { testPawl } = await import("pawl/testing");
    await using t = await testPawl({ lifecycles: [essay] });
    const died = `died.${suffix}`;
    await channel.assertQueue(died, { durable: true });
    const log = new CapturedLog();
    const seen: boolean[] = [];
    const source = deadLetterQueue({ url, queue: died }).open({
      keep: async (message) => {
        await storeBrokerDeadLetter(t.kernel, message);
        seen.push(message.redelivered);
        if (seen.length === 1) throw new Error("killed before it said so");
      },
      available: () => t.pawl.ping(),
      log,
    });
    channel.sendToQueue(died, Buffer.from("without an id"));
    await vi.waitFor(() => expect(seen).toEqual([false, true]), 10_000);
    await source.stop();
    expect(log.said("error")).toEqual(["killed before it said so"]);
    expect(await t.pawl.deadLetters.list()).toHaveLength(1);
    expect(await channel.deleteQueue(died)).toMatchObject({ messageCount: 0 });
  });

  test("bad options are refused", () => {
    for (const bad of [{ queue: "q" }, { url: "http://x", queue: "q" }, { url: "amqp://x", queue: "" }])
      expect(() => deadLetterQueue(bad as never)).toThrow(expect.objectContaining({ code: "option_invalid" }));
  });
});
