import { randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { isPawlError, lifecycle } from "pawl";
import { EffectLedger, type SimulateOptions, simulate } from "pawl/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { effectsUntilDeath, SimulatedProcess } from "../../src/testing/simulate/simulated-process.ts";
import { TestBench } from "../../src/testing/test-bench.ts";

const done = { final: "success" } as const;
const essay = lifecycle("essay", {
  data: z.object({ text: z.string() }),
  events: { graded: z.object({ score: z.number() }) },
  initial: "written",
  states: {
    written: { forever: true, on: { submit: "reading" } },
    reading: { run: () => {}, on: { read: "grading" } },
    grading: { forever: true, on: { graded: "done" } },
    done,
  },
});

const sound = {
  lifecycles: [essay],
  start: { essay: () => ({ text: "My village." }) },
  invariant: () => true,
  runs: 10,
} satisfies SimulateOptions<[typeof essay]>;

/** The text of the error that a simulation with these options ends with, and its code. */
async function refusal(options: unknown): Promise<{ code: string; message: string; invariant?: unknown }> {
  return simulate(options as typeof sound).then(
    ({ text }) => expect.fail(`it found nothing: ${text}`),
    (error: unknown) => {
      if (!isPawlError(error)) throw error;
      const { failure } = error.details as { failure?: { invariant: unknown } };
      return {
        code: error.code,
        message: error.message,
        ...(failure === undefined ? {} : { invariant: failure.invariant }),
      };
    },
  );
}

const never = () => new Promise<never>(() => {});
const angry = () => {
  throw new Error("out of ink");
};

describe("a function of the user's", () => {
  test.each([
    { given: { start: { essay: angry } }, expected: "`start.essay` of `simulate` threw: out of ink" },
    {
      given: { start: { essay: () => ({ text: 7 }) } },
      expected: "`start.essay` of `simulate` made an invalid value",
    },
    {
      given: { start: { essay: never } },
      expected: "`start.essay` of `simulate` did not finish within 1000 ms of real time",
    },
    {
      given: { start: { essay: ({ random }: { random: { pick(list: unknown[]): unknown } }) => random.pick([]) } },
      expected: "`start.essay` of `simulate` threw: `random.pick` needs a list with at least one item.",
    },
    {
      given: { events: { essay: { graded: angry } } },
      expected: "`events.essay.graded` of `simulate` threw: out of ink",
    },
    {
      given: { events: { essay: { graded: () => "seven" } } },
      expected: "`events.essay.graded` of `simulate` made an invalid value",
    },
    {
      given: { callbacks: { essay: { graded: () => ({ score: Number.NaN }) } } },
      expected: "`callbacks.essay.graded` of `simulate` made an invalid value",
    },
    { given: { beforeEach: angry }, expected: "`beforeEach` of `simulate` threw: out of ink" },
    { given: { beforeEach: never }, expected: "`beforeEach` of `simulate` did not finish" },
    { given: { invariant: never }, expected: "The invariant did not finish within 1000 ms of real time" },
    {
      given: { invariant: { "all is well": () => 7 } },
      expected: 'The invariant "all is well" returned 7. Return true',
    },
    { given: { invariant: () => "" }, expected: 'The invariant returned "". Return true' },
    {
      given: { steps: { "essay/reading": never } },
      expected: "The step of `essay/reading` did not finish within 1000 ms",
    },
    {
      given: { steps: { "essay/reading": () => 7 } },
      expected: "The step of `essay/reading` returned 7. Return step.go(…)",
    },
    {
      given: { steps: { "essay/reading": (step: { go(event: string): unknown }) => step.go("raed") } },
      expected: "is stuck in reading",
    },
  ])(
    "is reported with its place and the seed: $expected",
    async ({ given, expected }) => {
      const { code, message, invariant } = await refusal({ ...sound, timeout: 1_000, ...given });
      expect(message).toContain(expected);
      expect(message).toMatch(/To repeat it: seed: \d+, runs: 1$/);
      expect([code, invariant]).toEqual(["simulation_failed", null]);
    },
    60_000,
  );

  test.each([
    { invariant: angry, expected: "The invariant is violated: out of ink" },
    { invariant: () => false, expected: "The invariant is violated: it is false" },
    { invariant: async () => "it is late", expected: "The invariant is violated: it is late" },
    {
      invariant: { tidy: async () => Promise.reject(new Error("dust")) },
      expected: 'The invariant "tidy" is violated: dust',
    },
  ])(
    "says as an invariant what is wrong: $expected",
    async ({ invariant, expected }) => {
      expect((await refusal({ ...sound, invariant })).message).toContain(expected);
    },
    60_000,
  );

  test("throws in a guard, and the sender's fault it is not", async () => {
    const guarded = lifecycle("guarded", {
      initial: "open",
      states: { open: { forever: true, on: { close: { to: "done", guard: angry } } }, done },
    });
    const { code, message } = await refusal({ lifecycles: [guarded], invariant: () => true });
    expect(code).toBe("simulation_failed");
    expect(message).toContain("out of ink");
  }, 60_000);

  test("throws in a step, which is what steps do: the attempt fails, and the story tells of it", async () => {
    const { message } = await refusal({
      ...sound,
      steps: { "essay/reading": angry },
      invariant: ({ instances }: { instances: { essay: { state: string }[] } }) =>
        instances.essay.every(({ state }) => state !== "failed"),
    });
    expect(message).toContain("It throws: out of ink");
  }, 60_000);

  test("goes round for ever without a pause, and is stopped", async () => {
    const wheel = lifecycle("wheel", {
      initial: "turning",
      states: { turning: { run: (step) => step.go("turned"), on: { turned: "turning", stop: "done" } }, done },
    });
    const { message } = await refusal({ lifecycles: [wheel], invariant: () => true, timeout: 100 });
    expect(message).toContain(
      "An act of the simulation, with the steps that ran during it, did not finish within 600 ms",
    );
  }, 60_000);

  test("still runs on behalf of a dead process, and has no effect any more", async () => {
    const bench = await TestBench.open({ lifecycles: [essay] });
    try {
      await bench.reset();
      const ledger = new EffectLedger();
      ledger.observe(effectsUntilDeath(() => {}));
      const process = await SimulatedProcess.start(bench, { leaseMs: 30_000, newId: randomUUID });
      process.condemn({ at: "effect" });
      const death = new EventEmitter();
      const ended = await process.run(async () => {
        const afterwards = once(death, "died").then(() => ledger.record("later"));
        await Promise.all([ledger.record("first"), afterwards]);
      });
      expect(ended).toEqual({ died: "effect:first" });
      death.emit("died");
      await new Promise((resolve) => setImmediate(resolve));
      expect(ledger.happened.map(({ name }) => name)).toEqual(["first"]);
    } finally {
      await bench.close();
    }
  }, 60_000);
});

describe("options that do not fit are refused", () => {
  test.each([
    { options: undefined, expected: "`simulate` takes an object" },
    {
      options: { ...sound, invarant: () => true },
      expected: "Unknown option `invarant` for `simulate`. Did you mean `invariant`?",
    },
    { options: { ...sound, invariant: undefined }, expected: "`simulate` needs `invariant`" },
    { options: { ...sound, invariant: { one: 7 } }, expected: "`simulate` needs `invariant`" },
    { options: { ...sound, lifecycles: [] }, expected: "`simulate` needs `lifecycles`" },
    { options: { ...sound, start: undefined }, expected: "Add `start: { essay: ({ random }) => data }`" },
    { options: { ...sound, start: {} }, expected: "must be an object with a function for each lifecycle" },
    {
      options: { ...sound, start: { esay: () => ({}) } },
      expected: '`start` of `simulate` names "esay", but no such lifecycle exists. Did you mean "essay"?',
    },
    { options: { ...sound, start: { essay: 7 } }, expected: "`start.essay` of `simulate` must be a function" },
    { options: { ...sound, events: [] }, expected: "`events` of `simulate` must be an object" },
    { options: { ...sound, events: { essay: true } }, expected: "`events.essay` of `simulate` must be an object" },
    {
      options: { ...sound, events: { essay: { submti: true } } },
      expected: 'names "submti", but no such event exists. Did you mean "submit"?',
    },
    {
      options: { ...sound, events: { essay: { submit: 7 } } },
      expected: "must be a function that returns the payload, true or false",
    },
    { options: { ...sound, events: { essay: { graded: true } } }, expected: "is true, but the event needs a payload" },
    { options: { ...sound, callbacks: { essay: { grade: true } } }, expected: 'Did you mean "graded"?' },
    { options: { ...sound, steps: { "essay/raeding": () => {} } }, expected: "but that step does not exist" },
    { options: { ...sound, effects: [] }, expected: "`effects` of `simulate` must be an EffectLedger" },
    { options: { ...sound, beforeEach: 7 }, expected: "`beforeEach` of `simulate` must be a function" },
    { options: { ...sound, runs: 0 }, expected: "`runs` of `simulate` must be a whole number from 1" },
    { options: { ...sound, seed: -1 }, expected: "`seed` of `simulate` must be a whole number from 0" },
    { options: { ...sound, acts: 1.5 }, expected: "`acts` of `simulate` must be a whole number from 1" },
    {
      options: { ...sound, weights: { crsh: 1 } },
      expected: '`weights` of `simulate` names "crsh", but no such kind of act exists. Did you mean "crash"?',
    },
    { options: { ...sound, weights: { crash: -1 } }, expected: "`weights.crash` of `simulate` must be a number" },
    { options: { ...sound, weights: 7 }, expected: "`weights` of `simulate` must be an object" },
    {
      options: {
        ...sound,
        weights: Object.fromEntries(
          "start send race callback work wait fail failPermanently crash stall interrupt recover discard"
            .split(" ")
            .map((kind) => [kind, 0]),
        ),
      },
      expected: "are all 0",
    },
    { options: { ...sound, settle: "soon" }, expected: '"soon" is not a duration' },
    { options: { ...sound, leaseDuration: 0 }, expected: "`leaseDuration` must be longer than 0 ms" },
    { options: { ...sound, timeout: 0 }, expected: "`timeout` must be longer than 0 ms" },
  ])("$expected", async ({ options, expected }) => {
    const { code, message } = await refusal(options);
    expect(message).toContain(expected);
    expect(code).toBe("option_invalid");
  });
});
