import { job, lifecycle } from "pawl";
import { simulate } from "pawl/testing";
import { expect, test } from "vitest";
import { z } from "zod";

const a = lifecycle("alpha", {
  data: z.object({ amount: z.number() }),
  events: { graded: z.object({ score: z.number() }) },
  initial: "one",
  states: {
    one: { forever: true, on: { graded: "two", go: "two" } },
    two: { run: (step) => step.go("ended"), on: { ended: "done", other: "one" } },
    done: { final: "success" },
  },
});
const b = lifecycle("beta", {
  initial: "one",
  states: { one: { forever: true, on: { go: "done" } }, done: { final: "success" } },
});
const j = job("mail", { payload: z.object({ to: z.string() }), run: async () => {} });

/** Never called: it compiles, and what is marked does not. */
async function typed(): Promise<void> {
  await simulate({
    lifecycles: [a, b, j],
    start: { alpha: ({ random, key }) => ({ amount: random.int(1, key.length) }), mail: () => ({ to: "x" }) },
    events: {
      alpha: { graded: ({ instance, random }) => ({ score: instance.data.amount + random.number() }), go: true },
      beta: { go: false },
    },
    callbacks: { alpha: { graded: async ({ instance }) => ({ score: instance.data.amount }) } },
    steps: {
      "alpha/two": async (step) => {
        const n: number = step.data.amount;
        return n > 1 ? step.go("ended") : step.go("graded", { score: 1 });
      },
    },
    invariant: ({ instances: { alpha, beta }, effects, atRest }) =>
      alpha.every((one) => one.data.amount > 0 && one.state !== "two") &&
      beta.length >= 0 &&
      effects.happened.length >= 0 &&
      atRest,
  });
  await simulate({
    lifecycles: [a, b] as const,
    invariant: { x: ({ instances }) => instances.alpha[0]!.state === "one" },
  });
  // @ts-expect-error no such event
  await simulate({ lifecycles: [a], events: { alpha: { grded: true } }, invariant: () => true });
  // @ts-expect-error it needs a payload
  await simulate({ lifecycles: [a], events: { alpha: { graded: true } }, invariant: () => true });
  // @ts-expect-error no such lifecycle
  await simulate({ lifecycles: [a], start: { alfa: () => ({ amount: 1 }) }, invariant: () => true });
  // @ts-expect-error not its data
  await simulate({ lifecycles: [a], start: { alpha: () => ({ amount: "1" }) }, invariant: () => true });
  // @ts-expect-error no such step
  await simulate({ lifecycles: [a], steps: { "alpha/tow": () => {} }, invariant: () => true });
  // @ts-expect-error no such state
  await simulate({ lifecycles: [a], invariant: ({ instances }) => instances.alpha[0]!.state === "tow" });
  // @ts-expect-error no such option
  await simulate({ lifecycles: [a], invarant: () => true });
}

test("functions of a simulation know the lifecycles, their data, events and states", () => {
  expect(typed).toBeTypeOf("function"); // The compiler has said the rest.
});
