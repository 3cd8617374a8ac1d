import type { AnyLifecycle } from "pawl";
import { EffectLedger, memoryBroker, type SimulateOptions, type SimulationReport, simulate } from "pawl/testing";
import { expect, test } from "vitest";
import { type Assessment, assessment } from "../../examples/assessment/assessment.ts";
import { submissionLifecycle } from "../../examples/grading/submission.ts";
import { servicesOf } from "./assessment-world.ts";

const effects = new EffectLedger();
const questions = ["two-sum", "knapsack", "word-ladder"];

type Lifecycles = readonly [Assessment["attempt"], Assessment["solve"]];

/** What candidates and the code checker do to an assessment, and what must be so whatever goes wrong. */
function worldOf({ attempt, solve, breakers }: Assessment): SimulateOptions<Lifecycles> {
  return {
    lifecycles: [attempt, solve],
    breakers,
    effects,
    acts: 30,
    start: {
      attempt: ({ random, key }) => ({
        candidate: key,
        finished: random.chance(0.8),
        answers: questions.slice(0, random.int(1, 2)).map((question) => ({ question, code: `// ${question}` })),
      }),
    },
    events: {
      solve: {
        verdict: ({ instance }) => ({ runId: instance.data.runId ?? "none", score: 7 }),
        resubmit: false, // Only an attempt says so to its solves.
      },
    },
    invariant: {
      "a service does the work of one visit once": () => {
        const twice = effects.happened.find((one, at) => {
          return effects.happened.slice(0, at).some(({ name, about }) => name === one.name && about === one.about);
        });
        return twice === undefined || `${twice.name} was done twice for ${twice.about}`;
      },
      "no attempt waits again for a solve that has failed": async ({ instances, atRest, pawl }) => {
        if (!atRest) return true;
        const failed = instances.solve.filter(({ state, data }) => state === "failed" && data.runId === undefined);
        for (const { id, parent, movedAt } of failed) {
          const moves = await pawl.journal(attempt, { id: parent!.id });
          const waited = moves.some(({ to, at }) => to === "solves_processing" && at > movedAt);
          if (waited) return `${id} failed before it was ever checked, and its attempt waits for it again`;
        }
        return true;
      },
      "what is processed has the score of every answer that was checked": ({ instances }) =>
        instances.attempt.every(({ id, state, data }) => {
          const checked = instances.solve.filter((one) => one.parent?.id === id && one.state === "checked");
          return state !== "processed" || checked.every((one) => data.scores?.[one.data.question] === 7);
        }),
      "nothing is half done at rest": ({ instances, atRest }) =>
        !atRest ||
        instances.attempt.every(({ state }) => ["created", "processed", "failed", "discarded"].includes(state)),
    },
  };
}

/** The same lifecycle, from which a checkpoint was taken. */
function withoutCheckpoint<L extends AnyLifecycle>(lifecycle: L, state: string): L {
  const states = new Map(lifecycle.states);
  states.set(state, { ...states.get(state)!, checkpoint: undefined });
  return { ...lifecycle, states };
}

/** The failure that a simulation ends with. */
async function failureOf(simulation: Promise<SimulationReport>): Promise<SimulationReport> {
  return simulation.then(
    ({ text }) => expect.fail(`it found nothing: ${text}`),
    (error: { details: SimulationReport }) => error.details,
  );
}

test("an assessment comes through whatever happens to it", async () => {
  const report = await simulate({ ...worldOf(assessment(servicesOf(effects))), runs: 40 });
  expect(report.coverage.states.never).toEqual([]);
}, 600_000);

test("without idempotency keys a service does its work twice, and that is found", async () => {
  const world = worldOf(assessment(servicesOf(effects, { withKeys: false })));
  const { failure, runs } = await failureOf(simulate({ ...world, runs: 20 }));
  expect(failure).toMatchObject({ invariant: "a service does the work of one visit once" });
  expect(runs).toBeLessThanOrEqual(10);
}, 600_000);

test("without the checkpoint an attempt waits for a solve that nobody tries again, and that is found", async () => {
  const made = assessment(servicesOf(effects));
  const world = worldOf({ ...made, attempt: withoutCheckpoint(made.attempt, "solves_processing") });
  const { failure, runs } = await failureOf(simulate({ ...world, runs: 50 }));
  expect(failure).toMatchObject({ invariant: "no attempt waits again for a solve that has failed" });
  expect(runs).toBeLessThanOrEqual(25);
}, 600_000);

test("a submission is graded by what came in time, whatever happens to it", async () => {
  const submission = submissionLifecycle();
  const broker = memoryBroker();
  broker.on("grading.request", async ({ id, body }) => {
    const { submissionId } = JSON.parse(body) as { submissionId: string };
    await effects.record("request", { key: id, about: submissionId });
  });
  const report = await simulate({
    lifecycles: [submission],
    outbox: { brokers: [broker] },
    effects,
    start: { submission: ({ random }) => ({ skill: random.pick(["writing", "speaking"]), text: "My village." }) },
    callbacks: { submission: { graded: ({ random }) => ({ score: random.int(0, 10), feedback: "Good." }) } },
    invariant: {
      "a score is the one that came": async ({ instances, pawl }) => {
        for (const { id, state, data } of instances.submission) {
          if (state !== "scored") continue;
          // One that comes in time while its submission is not there yet is accepted all the same.
          const moves = await pawl.journal(submission, { id });
          const graded = moves.filter(({ event }) => event === "graded" || event === "accept_late");
          if (graded.length !== 1) return `${id} was graded ${graded.length} times`;
          if ((graded[0]!.payload as { score: number }).score !== data.score) return `${id} has another score`;
        }
        return true;
      },
      "the grader is asked once for each visit": async ({ instances, pawl }) => {
        for (const { id } of instances.submission) {
          const visits = (await pawl.journal(submission, { id })).filter(({ event }) => event === "requested").length;
          if (effects.times("request", id) > visits) return `the grader was asked too often for ${id}`;
        }
        return true;
      },
      "nothing waits at rest": ({ instances, atRest }) =>
        !atRest || instances.submission.every(({ state }) => state !== "grading" && state !== "submitted"),
    },
  });
  expect(report.coverage.states.never).toEqual([]);
}, 600_000);
