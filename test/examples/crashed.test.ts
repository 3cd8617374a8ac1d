import { crashEverywhere, EffectLedger, memoryBroker, type TestPawl } from "pawl/testing";
import { expect, test } from "vitest";
import { type Assessment, assessment } from "../../examples/assessment/assessment.ts";
import { submissionLifecycle } from "../../examples/grading/submission.ts";
import { servicesOf } from "./assessment-world.ts";

const effects = new EffectLedger();
const answers = ["two-sum", "knapsack"].map((question) => ({ question, code: `// ${question}` }));

/** A candidate completes an attempt, and the code checker brings its verdicts, until the attempt is at its end. */
async function takeAttempt(t: TestPawl, { attempt, solve }: Assessment): Promise<void> {
  await t.pawl.start(attempt, { key: "ada", data: { candidate: "ada", finished: true, answers } });
  await t.pawl.send(attempt, "ada", "complete", { idempotencyKey: "complete" });
  for (let minute = 0; minute < 120; minute++) {
    await t.work();
    for (const { id, data } of await t.pawl.list(solve, { state: "checking" })) {
      await t.pawl.trySend(solve, { id }, "verdict", { runId: data.runId!, score: 7 });
    }
    await t.work();
    if ((await t.pawl.get(attempt, "ada"))!.outcome !== null) return;
    await t.advance("1m");
  }
}

test("an attempt is processed with the same scores wherever the process dies, and no answer is scored twice", async () => {
  const made = assessment(servicesOf(effects));
  const report = await crashEverywhere({
    lifecycles: made.lifecycles,
    breakers: made.breakers,
    effects,
    // After a fall back to a checkpoint these are asked again, under the key of the new visit.
    repeatable: ["index", "compare"],
    scenario: (t) => takeAttempt(t, made),
    outcome: async (t) => {
      const { state, data } = (await t.pawl.get(made.attempt, "ada"))!;
      return { state, data, solves: await t.pawl.inspect.counts(made.solve) };
    },
  });
  expect(report).toMatchObject({ failures: [], missed: 0, effects: { score: 2, index: 1, compare: 1, analyse: 1 } });
  expect(report.points).toBeGreaterThan(30);
}, 600_000);

test("without idempotency keys an answer is scored twice, and that is found", async () => {
  const made = assessment(servicesOf(effects, { withKeys: false }));
  const failed = crashEverywhere({
    lifecycles: made.lifecycles,
    breakers: made.breakers,
    effects,
    scenario: (t) => takeAttempt(t, made),
    outcome: async (t) => (await t.pawl.get(made.attempt, "ada"))!.state,
    only: "effect:score:1",
  });
  await expect(failed).rejects.toThrow("the effect `score` happened 4 times, and twice without a crash");
}, 120_000);

test("a submission is graded wherever the process dies, and its grader is asked once", async () => {
  const submission = submissionLifecycle();
  const broker = memoryBroker();
  broker.on("grading.request", async ({ id }) => {
    await effects.record("request", { key: id });
  });
  const report = await crashEverywhere({
    lifecycles: [submission],
    outbox: { brokers: [broker] },
    effects,
    scenario: async (t) => {
      await t.pawl.start(submission, { key: "an", data: { skill: "writing", text: "My village." } });
      await t.work();
      await t.relay();
      const { id, data } = (await t.pawl.get(submission, "an"))!;
      await t.pawl.receive(
        submission,
        { id },
        "graded",
        { score: 7, feedback: "Good." },
        { dedupeKey: data.requestId! },
      );
    },
    outcome: async (t) => {
      const { state, data } = (await t.pawl.get(submission, "an"))!;
      return { state, score: data.score, violations: await t.pawl.inspect.verify() };
    },
  });
  expect(report).toMatchObject({ failures: [], missed: 0, effects: { request: 1 } });
}, 240_000);
