import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type Channel, type ChannelModel, connect } from "amqplib";
import { createPawl, type DeadLetterSource, type Pawl } from "pawl";
import { httpApp } from "pawl/http";
import { type CallbackReceiver, consumeCallbacks, deadLetterQueue, type Topology } from "pawl/rabbitmq";
import { memoryBroker } from "pawl/testing";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type PostgresServer, startPostgres } from "../setup/postgres.ts";
import { onRabbitmq, rabbitmqUrl } from "../setup/suites.ts";
import { submission } from "../support/submission.ts";

/** How long PostgreSQL stays away once both consumers have met the outage; the suite's own run needs no longer. */
const outageMs = Number(process.env.PAWL_TEST_OUTAGE_MS ?? 0);
const callbacks = 60;
const dead = 30;

onRabbitmq("PostgreSQL away under both consumers", { skip: process.env.PAWL_TEST_PG_BIN === undefined }, () => {
  let server: PostgresServer;
  let pawl: Pawl;
  let connection: ChannelModel;
  let channel: Channel;
  let url: string;
  const suffix = randomBytes(4).toString("hex");
  const [inbox, graveyard, dlx] = [`callback.${suffix}`, `dlq.${suffix}`, `dlx.${suffix}`];
  // One delivery too many is fatal here; with the default of 20 the same takes some 80 seconds.
  const topology: Topology = {
    exchanges: { [dlx]: { type: "direct" } },
    queues: {
      [inbox]: { deliveryLimit: 1, deadLetter: { exchange: dlx, key: "dead" } },
      [graveyard]: { deliveryLimit: 1, bindings: [{ exchange: dlx, key: "dead" }] },
    },
  };
  const tries = { callbacks: 0, dead: 0 };
  const failures: string[] = [];

  beforeAll(async () => {
    [server, url] = await Promise.all([startPostgres({ durable: true }), rabbitmqUrl()]);
    connection = await connect(url);
    channel = await connection.createChannel();
  }, 180_000);
  afterAll(async () => {
    await pawl?.close();
    for (const queue of [inbox, graveyard]) await channel?.deleteQueue(queue);
    await channel?.deleteExchange(dlx);
    await connection?.close();
    await server?.stop();
  });

  const source = deadLetterQueueCounting(() => (tries.dead += 1));
  function deadLetterQueueCounting(count: () => void): () => DeadLetterSource {
    return () => {
      const queue = deadLetterQueue({ url, queue: graveyard, topology });
      const open: DeadLetterSource["open"] = ({ keep, ...rest }) =>
        queue.open({
          ...rest,
          keep(died) {
            count();
            return keep(died);
          },
        });
      return { name: queue.name, open };
    };
  }
  const open = (): Promise<Pawl> =>
    createPawl({ database: server.url, lifecycles: [submission], logger: false, deadLetters: { queues: [source()] } });
  const consume = (to: CallbackReceiver) =>
    consumeCallbacks(to, {
      url,
      queue: inbox,
      topology,
      onFailure: (error) => failures.push(String(error)),
      read: ({ json }) => {
        const { key, score } = json as { key: string; score: number };
        return { lifecycle: submission, instance: key, event: "graded", payload: { score }, dedupeKey: key };
      },
    });
  const left = async (queue: string) => (await channel.checkQueue(queue)).messageCount;

  test(
    "neither a callback nor a dead message is lost, and none is delivered once too often",
    async () => {
      pawl = await open();
      const worker = pawl.work();
      for (let n = 0; n < callbacks; n++) await pawl.start(submission, { key: `s${n}`, data: { skill: "writing" } });
      const count = { receive: () => (tries.callbacks += 1) };
      const consumer = consume(counting(pawl, count.receive));
      await consumer.ready;
      await vi.waitFor(async () => expect((await pawl.inspect.counts(submission)).grading).toBe(callbacks), 60_000);
      await server.crash();
      for (let n = 0; n < callbacks; n++)
        channel.sendToQueue(inbox, Buffer.from(JSON.stringify({ key: `s${n}`, score: 7 })), { persistent: true });
      // Half of them without an id: only their content identifies those.
      for (let n = 0; n < dead; n++) {
        const messageId = n % 2 === 0 ? undefined : `dead-${n}`;
        channel.sendToQueue(graveyard, Buffer.from(`dead ${n}`), { persistent: true, messageId });
      }
      // Prefetched are 20 and 5: each was tried again and again.
      await vi.waitFor(() => expect([tries.callbacks > 80, tries.dead > 20]).toEqual([true, true]), {
        timeout: 120_000,
        interval: 50,
      });
      await pause(outageMs);
      await server.restart();
      await vi.waitFor(async () => {
        const died = (await pawl.deadLetters.list()).filter(({ origin }) => origin === inbox);
        expect(died, failures.join("\n")).toEqual([]);
        expect(await pawl.inspect.counts(submission)).toMatchObject({ scored: callbacks });
      }, 120_000);
      await vi.waitFor(async () => expect(await pawl.deadLetters.list()).toHaveLength(dead), 60_000);
      await consumer.stop();
      expect(await Promise.all([left(inbox), left(graveyard)])).toEqual([0, 0]);
      expect(await pawl.inspect.verify()).toEqual([]);
      await worker.stop();
    },
    300_000 + outageMs,
  );

  test("a webhook sender's callback is answered 503 with Retry-After, and the outbox goes on by itself without an attempt spent", async () => {
    const broker = memoryBroker();
    const lost: unknown[] = [];
    const relaying = await createPawl({
      database: server.url,
      lifecycles: [submission],
      logger: false,
      outbox: { brokers: [broker], pollInterval: "100ms", onFailure: (error) => lost.push(error) },
    });
    try {
      relaying.relay();
      const app = httpApp(relaying, {});
      await server.crash();
      const token = `pawlcb_${randomBytes(16 + 32).toString("base64url")}`; // Whether it was committed is unknown now.
      const answer = await app.request(`/callbacks/${token}`, {
        method: "POST",
        body: "{}",
        headers: { "content-type": "application/json" },
      });
      expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
      await vi.waitFor(() => expect(lost.length).toBeGreaterThan(2), 60_000);
      await server.restart();
      await vi.waitFor(() => relaying.publish("a", {}, { aggregate: { type: "thing", id: "1" } }), 60_000);
      await vi.waitFor(() => expect(broker.messages).toHaveLength(1), 60_000);
      expect(await relaying.outbox.messages({ status: "published" })).toMatchObject([{ retryCount: 0 }]);
    } finally {
      await relaying.close();
    }
  }, 180_000);

  test("a consumer that is started while it is away requests nothing until it is back", async () => {
    await pawl.start(submission, { key: "late-start", data: { skill: "writing" } });
    const worker = pawl.work();
    await pawl.wait(submission, "late-start", { until: "grading" });
    await worker.stop();
    await server.crash();
    const asked = vi.fn(() => pawl.ping());
    const consumer = consume({ ...counting(pawl, () => {}), ping: asked });
    channel.sendToQueue(inbox, Buffer.from(JSON.stringify({ key: "late-start", score: 7 })), { persistent: true });
    await vi.waitFor(() => expect(asked.mock.calls.length).toBeGreaterThan(2), 60_000);
    expect(await channel.checkQueue(inbox)).toMatchObject({ consumerCount: 0, messageCount: 1 });
    await server.restart();
    await consumer.ready;
    await vi.waitFor(async () => expect((await pawl.get(submission, "late-start"))!.state).toBe("scored"), 60_000);
    await consumer.stop();
  }, 180_000);
});

function counting(pawl: Pawl, count: () => void): CallbackReceiver {
  return {
    receive(...args) {
      count();
      return (pawl as CallbackReceiver).receive(...args);
    },
    callbacks: pawl.callbacks as CallbackReceiver["callbacks"],
    ping: () => pawl.ping(),
  };
}
