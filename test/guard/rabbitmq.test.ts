import { randomBytes } from "node:crypto";
import { type ChannelModel, type ConfirmChannel, connect } from "amqplib";
import { lifecycle } from "pawl";
import {
  consume,
  consumeCallbacks,
  consumeDeadLetters,
  type IncomingMessage,
  rabbitmq,
  type Topology,
  type Verdict,
} from "pawl/rabbitmq";
import { afterAll, beforeAll, expect } from "vitest";
import { type TestPawl, testPawl } from "../../src/testing/test-pawl.ts";
import { aMessage } from "../outbox/conformance.ts";
import { onRabbitmq, rabbitmqUrl } from "../setup/suites.ts";
import { type Broken, breaking, fails, impatiently, type Way } from "./ways.ts";

// Functions that are called with messages of RabbitMQ: one message fails of them, and another one arrives.

const heard = lifecycle("heard", {
  initial: "waits",
  states: { waits: { forever: true, on: { said: "done" } }, done: { final: "success" } },
});

onRabbitmq("RabbitMQ", () => {
  let url: string;
  let connection: ChannelModel;
  let channel: ConfirmChannel;
  let t: TestPawl;
  const suffix = randomBytes(4).toString("hex");
  const [exchange, dlx, graveyard] = [`exchange.${suffix}`, `dlx.${suffix}`, `dead.${suffix}`];
  const queues: string[] = [graveyard];
  const topology: Topology = {
    exchanges: { [exchange]: { type: "topic" } },
    queues: { [`inbox.${suffix}`]: { type: "classic", bindings: [{ exchange, key: "#" }] } },
  };
  beforeAll(async () => {
    url = await rabbitmqUrl();
    t = await testPawl({ lifecycles: [heard] });
    connection = await connect(url);
    channel = await connection.createConfirmChannel();
    queues.push(`inbox.${suffix}`);
    await channel.assertExchange(dlx, "fanout");
    await channel.assertQueue(graveyard);
    await channel.bindQueue(graveyard, dlx, "");
  }, 180_000);
  afterAll(async () => {
    for (const queue of queues) await channel?.deleteQueue(queue);
    for (const one of [exchange, dlx]) await channel?.deleteExchange(one);
    await connection?.close();
    await t?.close();
  });

  /** A queue of its own, with two messages in it. */
  async function inbox(...bodies: string[]): Promise<string> {
    const queue = `queue.${queues.length}.${suffix}`;
    queues.push(queue);
    await channel.assertQueue(queue, { arguments: { "x-dead-letter-exchange": dlx } });
    for (const body of bodies) channel.sendToQueue(queue, Buffer.from(body), { messageId: body });
    await channel.waitForConfirms();
    return queue;
  }

  /** Broken for the first message at its first delivery; all else is acknowledged. */
  function handling<Message>(broken: Broken, bodyOf: (message: Message) => string) {
    const acknowledged = new Set<string>();
    let wasBroken = false;
    const handler = async (message: Message): Promise<Verdict> => {
      const body = bodyOf(message);
      if (body === "bad" && !wasBroken) {
        wasBroken = true;
        return (await broken()) as Verdict;
      }
      acknowledged.add(body);
      return "ack";
    };
    const arrived = () => expect.poll(() => [...acknowledged].sort(), { timeout: 10_000 }).toEqual(["bad", "good"]);
    return { handler, arrived };
  }

  breaking("ConsumeOptions.handler", async (_, broken) => {
    const failures: unknown[] = [];
    const queue = await inbox("bad", "good");
    const { handler, arrived } = handling(broken, ({ body }: IncomingMessage) => body.toString());
    const onFailure = (error: unknown) => failures.push(error);
    const consumer = consume({ url, queue, handler, onFailure, handlerTimeout: 100 });
    await arrived();
    expect(failures).toHaveLength(1); // A value that is no verdict is a failure, too.
    await consumer.stop();
  });

  breaking("ConsumeDeadLettersOptions.handler", async (_, broken) => {
    const failures: unknown[] = [];
    const queue = await inbox("bad", "good");
    const { handler, arrived } = handling(broken, ({ body }: { body: string }) => body);
    const onFailure = (error: unknown) => failures.push(error);
    const consumer = consumeDeadLetters({ url, queue, handler, onFailure, handlerTimeout: 100 });
    await arrived();
    expect(failures).toHaveLength(1);
    await consumer.stop();
  });

  breaking("ConsumeOptions.onFailure", async (how, broken) => {
    const warnings: string[] = [];
    const hear = ({ message }: Error) => warnings.push(message);
    process.on("warning", hear);
    const queue = await inbox("bad", "good");
    const throws = () => {
      throw new Error("so that it is called");
    };
    const { handler, arrived } = handling(throws, ({ body }: IncomingMessage) => body.toString());
    const consumer = consume({ url, queue, handler, onFailure: broken });
    await arrived();
    await consumer.stop();
    process.off("warning", hear);
    const told = warnings.filter((one) => one.startsWith("The listener `onFailure` failed:"));
    expect(told).toHaveLength(fails(how) ? 1 : 0);
  });

  breaking("ConsumeOptions.available", async (how, broken) => {
    const failures: unknown[] = [];
    const queue = await inbox("bad", "good");
    let calls = 0;
    // It is asked again until it says that all is well: whatever it returns says so.
    const available = () => (++calls === 1 ? (broken() as Promise<unknown>) : Promise.resolve());
    const taken: string[] = [];
    const handler = async ({ body }: IncomingMessage): Promise<Verdict> => {
      taken.push(body.toString());
      return "ack";
    };
    const onFailure = (error: unknown) => failures.push(error);
    const stop = await impatiently(async () => {
      const begun = consume({ url, queue, handler, available, onFailure });
      await begun.ready;
      return () => begun.stop();
    });
    await expect.poll(() => taken.sort(), { timeout: 10_000 }).toEqual(["bad", "good"]);
    // Impatience also ends connections that RabbitMQ opens too slowly on a busy machine; the consumer opens others.
    const reported = failures.filter((failure) => !String(failure).includes("Could not consume"));
    expect(reported).toHaveLength(fails(how) || how === "never settles" ? 1 : 0);
    await stop();
  });

  breaking("CallbackQueueOptions.read", async (how, broken) => {
    const failures: unknown[] = [];
    const key = `good ${queues.length}`;
    await t.pawl.start(heard, { key });
    const queue = await inbox('"bad"', JSON.stringify(key));
    const before = await channel.checkQueue(graveyard);
    const consumer = consumeCallbacks(t.pawl, {
      url,
      queue,
      onFailure: (error) => failures.push(error),
      read: ({ json }) =>
        json === "bad" ? broken() : { lifecycle: heard, instance: String(json), event: "said", dedupeKey: key },
    });
    await t.pawl.wait(heard, key, { timeout: "10s" });
    // What is no callback goes to the dead letters.
    const dead = async () => (await channel.checkQueue(graveyard)).messageCount - before.messageCount;
    await expect.poll(dead, { timeout: 10_000 }).toBe(1);
    expect(failures, how).toHaveLength(1);
    await consumer.stop();
  });

  async function published(options: { route?: Broken; headers?: Broken }, how: Way): Promise<void> {
    const broker = rabbitmq({ url, exchange, topology, ...options });
    const outcome = await broker.publish(aMessage({ type: "bad.one" })).then(
      () => "published",
      () => "failed",
    );
    // An object without what is meant says nothing.
    const isObject = how === "returns something huge" || how === "returns what cannot be stored";
    if (!isObject) expect(outcome).toBe("failed");
    await broker.publish(aMessage({ type: "good.one" }));
    await broker.close();
  }
  const ofBad =
    (broken: Broken): Broken =>
    (message: { type: string }) =>
      message.type.startsWith("bad.") ? (broken() as unknown) : {};
  breaking("RabbitmqOptions.route", (how, broken) => published({ route: ofBad(broken) }, how));
  breaking("RabbitmqOptions.headers", (how, broken) => published({ headers: ofBad(broken) }, how));
});
