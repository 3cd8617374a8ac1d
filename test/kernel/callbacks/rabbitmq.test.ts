import { randomBytes } from "node:crypto";
import { type ChannelModel, type ConfirmChannel, connect } from "amqplib";
import type { DeadLetter } from "pawl";
import { consumeCallbacks, deadLetterQueue, rabbitmq, type Topology } from "pawl/rabbitmq";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { type TestPawl, testPawl } from "../../../src/testing/test-pawl.ts";
import { onRabbitmq, rabbitmqUrl } from "../../setup/suites.ts";
import { submission } from "../../support/submission.ts";

const Said = z.object({
  requestId: z.string(),
  submissionId: z.string(),
  score: z.number().optional(),
  error: z.string().optional(),
});

onRabbitmq("callbacks over AMQP", () => {
  let url: string;
  let connection: ChannelModel;
  let channel: ConfirmChannel;
  let t: TestPawl;
  const name = (what: string) => `${what}.${suffix}`;
  const suffix = randomBytes(4).toString("hex");
  const topology: Topology = {
    exchanges: { [name("dlx")]: { type: "direct" } },
    queues: {
      [name("callback")]: { type: "classic", deadLetter: { exchange: name("dlx"), key: "dead" } },
      [name("dead")]: { type: "classic", bindings: [{ exchange: name("dlx"), key: "dead" }] },
    },
  };
  const failures: unknown[] = [];
  const begin = (on = t) =>
    consumeCallbacks(on.pawl, {
      url,
      queue: name("callback"),
      topology,
      onFailure: (error) => failures.push(error),
      read: ({ json }) => {
        const { requestId, submissionId, score, error } = Said.parse(json);
        const meant = { lifecycle: submission, instance: submissionId, event: "graded", dedupeKey: requestId };
        return error === undefined ? { ...meant, payload: { score } } : { ...meant, error: { message: error } };
      },
    });
  beforeAll(async () => {
    url = await rabbitmqUrl();
    t = await testPawl({ lifecycles: [submission] });
    connection = await connect(url);
    channel = await connection.createConfirmChannel();
  }, 180_000);
  afterAll(async () => {
    for (const queue of Object.keys(topology.queues!)) await channel?.deleteQueue(queue);
    await channel?.deleteExchange(name("dlx"));
    await connection?.close();
    await t?.close();
  });

  async function publish(...said: unknown[]): Promise<void> {
    for (const one of said)
      channel.sendToQueue(name("callback"), Buffer.from(typeof one === "string" ? one : JSON.stringify(one)));
    await channel.waitForConfirms();
  }
  const stateOf = async (key: string) => (await t.pawl.get(submission, key))!.state;

  test("a message is stored, committed and then acknowledged; what is none goes to the dead letters", async () => {
    for (const key of ["a", "b", "c"]) await t.pawl.start(submission, { key, data: { skill: "writing" } });
    await t.work();
    const consumer = begin();
    await consumer.ready;
    await publish(
      { requestId: "1", submissionId: "a", score: 7 },
      { requestId: "1", submissionId: "a", score: 7 },
      "no JSON",
      { hello: "world" },
      { requestId: "2", submissionId: "nobody", score: 1 },
      { requestId: "3", submissionId: "b", score: 11 },
      { requestId: "4", submissionId: "c", error: "overloaded" },
    );
    await vi.waitFor(async () => expect(await stateOf("c")).toBe("failed"), 10_000);
    await vi.waitFor(async () => expect((await channel.checkQueue(name("dead"))).messageCount).toBe(4), 10_000);
    expect(await stateOf("a")).toBe("scored");
    expect(await stateOf("b")).toBe("grading");
    expect(await t.pawl.callbacks.list({ lifecycle: submission, instance: "a" })).toHaveLength(1);
    expect(failures).toHaveLength(4);
    await consumer.stop();
    expect((await channel.checkQueue(name("callback"))).messageCount).toBe(0);
  });

  test("why a message was rejected is in its dead letter, also when it dies again of something else", async () => {
    await using own = await testPawl({
      server: process.env.PAWL_TEST_POSTGRES_URL,
      lifecycles: [submission],
      outbox: { brokers: [rabbitmq({ url, exchange: name("dlx") })] },
      deadLetters: { queues: [deadLetterQueue({ url, queue: name("dead") })] },
    });
    await channel.purgeQueue(name("dead"));
    own.pawl.maintain({ interval: "1h" }); // Opens the dead-letter queue.
    const consumer = begin(own);
    await consumer.ready;
    const letters = async (count: number) =>
      vi.waitFor(async () => {
        const found = await own.pawl.deadLetters.list();
        expect(found).toHaveLength(count);
        return found;
      }, 20_000);
    const codeOf = ({ error }: DeadLetter) => (error as { code?: string } | null)?.code;
    const missing = { requestId: "x1", submissionId: "missing", score: 1 };
    await publish("no JSON", missing);
    const errors = (await letters(2)).map((one) => [one.reason, codeOf(one), one.error?.message]).toSorted();
    expect(errors).toEqual([
      ["rejected", "instance_unknown", expect.stringContaining("missing")],
      ["rejected", "payload_invalid", expect.stringContaining("JSON")],
    ]);
    // What it was rejected for the second time is another reason.
    await own.pawl.start(submission, { key: "missing", data: { skill: "writing" } });
    await own.work();
    await own.pawl.receive(submission, "missing", "graded", { score: 2 }, { dedupeKey: "x1" });
    const [letter] = (await own.pawl.deadLetters.list()).filter((one) => codeOf(one) === "instance_unknown");
    await own.pawl.deadLetters.requeue(letter!.id);
    await own.relay();
    const again = await letters(2);
    expect(again.map(codeOf).toSorted()).toEqual(["idempotency_conflict", "payload_invalid"]);
    await consumer.stop();
  });

  test("one that could not be stored comes again", async () => {
    await t.pawl.start(submission, { key: "d", data: { skill: "writing" } });
    await t.work();
    t.faults.plant("receive.stored", "throw"); // It is stored by then, and nobody has looked at it.
    const consumer = begin();
    await consumer.ready;
    await publish({ requestId: "5", submissionId: "d", score: 7 });
    await vi.waitFor(async () => expect(await stateOf("d")).toBe("scored"), 10_000);
    await consumer.stop();
    expect(await t.pawl.callbacks.list({ lifecycle: submission, instance: "d" })).toMatchObject([
      { status: "applied" },
    ]);
    expect((await channel.checkQueue(name("dead"))).messageCount).toBe(0);
  });
});
