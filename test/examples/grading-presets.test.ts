import { connect } from "amqplib";
import { rabbitmq } from "pawl/rabbitmq";
import { testPawl } from "pawl/testing";
import { expect, test } from "vitest";
import { gradingRetry } from "../../examples/grading/retry.ts";
import { submissionLifecycle } from "../../examples/grading/submission.ts";
import { grading } from "../../examples/grading/topology.ts";
import { matchingRule, nextAttemptMs, ruleFor } from "../../src/policy/retry.ts";
import { aMessage } from "../outbox/conformance.ts";
import { onRabbitmq, rabbitmqUrl } from "../setup/suites.ts";

test("R68 a grader's failures have their types and their retries: three, and none for what is not valid", () => {
  const named = (name: string) => Object.assign(new Error("x"), { name });
  const refused = new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }) });
  const retries = (error: unknown) => {
    const rule = ruleFor(gradingRetry, error);
    const policy = matchingRule(gradingRetry, rule);
    const pauses = [1, 2, 3, 4].map((attempt) => nextAttemptMs(policy, attempt, 0.5));
    return [rule?.type, pauses.filter((pause) => pause !== undefined)];
  };
  const three = [2_000, 4_000, 8_000];
  expect(retries(named("LlmTimeoutError"))).toEqual(["llm_timeout", three]);
  expect(retries(named("SttError"))).toEqual(["stt_failed", three]);
  expect(retries(refused)).toEqual(["network", three]);
  expect(retries(named("ValidationError"))).toEqual(["validation", []]);
  expect(retries(new Error("what"))).toEqual([undefined, three]);
});

test("R72 the SLA of S2 is 1200 s for writing and 3600 s for speaking, with queue wait, retries and work in it", async () => {
  const submission = submissionLifecycle();
  await using t = await testPawl({ lifecycles: [submission] });
  const stateOf = async (skill: "writing" | "speaking") => (await t.pawl.get(submission, skill))!.state;
  for (const skill of ["writing", "speaking"] as const)
    await t.pawl.start(submission, { key: skill, data: { skill, text: "" } });
  await t.advance("10m");
  await t.work(); // Until now, the steps waited in their lane.
  await t.advance("9m");
  expect(await stateOf("writing")).toBe("grading");
  await t.advance("1m");
  expect([await stateOf("writing"), await stateOf("speaking")]).toEqual(["failed", "grading"]);
  await t.advance("39m");
  expect(await stateOf("speaking")).toBe("grading");
  await t.advance("1m");
  expect(await stateOf("speaking")).toBe("failed");
});

test("R69 both queues send what dies in them to one dead-letter queue, through a direct exchange", () => {
  const { queues, exchanges } = grading.topology;
  expect(exchanges["vstep.dlx"]).toEqual({ type: "direct" });
  for (const source of ["grading.request", "grading.callback"] as const)
    expect(queues[source].deadLetter).toEqual({ exchange: "vstep.dlx", key: "grading.dlq" });
  expect(queues["grading.dlq"].bindings).toEqual([{ exchange: "vstep.dlx", key: "grading.dlq" }]);
});

onRabbitmq("the preset for RabbitMQ", () => {
  // Not on a broker that others use: a queue of theirs may have one of these names.
  test.skipIf(Boolean(process.env.PAWL_AMQP_URL))(
    "R64 a request goes to vstep.exchange by the routing key grading.request",
    async () => {
      const url = await rabbitmqUrl();
      const connection = await connect(url);
      const channel = await connection.createChannel();
      const broker = rabbitmq({ url, ...grading });
      try {
        await broker.publish(aMessage({ type: "grading.request", body: '{"by":"preset"}' }));
        expect(await channel.get("grading.request", { noAck: true })).toMatchObject({
          fields: { exchange: "vstep.exchange", routingKey: "grading.request" },
          content: Buffer.from('{"by":"preset"}'),
        });
      } finally {
        await broker.close();
        for (const queue of Object.keys(grading.topology.queues)) await channel.deleteQueue(queue);
        for (const exchange of Object.keys(grading.topology.exchanges)) await channel.deleteExchange(exchange);
        await connection.close();
      }
    },
    180_000,
  );
});
