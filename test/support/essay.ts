import { lifecycle, type Step } from "pawl";
import type { TestPawl } from "../../src/testing/test-pawl.ts";

/** The behavior of the steps in a test. */
export const steps: {
  grade: (step: Step) => unknown;
  listen: (step: Step) => unknown;
} = { grade: () => {}, listen: () => {} };

const retry = { maxAttempts: 5, backoff: () => 0 };

/** Graded by a model, which may be away. */
export const essay = lifecycle("essay", {
  initial: "grading",
  states: {
    grading: { run: (step) => steps.grade(step) as undefined, uses: "llm", retry, on: { graded: "done" } },
    done: { final: "success" },
  },
});

/** Another dependency, and a step that calls the first one itself. */
export const speech = lifecycle("speech", {
  initial: "listening",
  states: {
    listening: { run: (step) => steps.listen(step) as undefined, uses: "stt", retry, on: { heard: "done" } },
    done: { final: "success" },
  },
});

export function some<T>(count: number, one: T): T[] {
  return Array.from({ length: count }, () => one);
}

/** Steps of `essay/grading` that end well or fail, one after the other. */
export async function grade(t: TestPawl, { good = 0, failed = 0 }: { good?: number; failed?: number }): Promise<void> {
  for (let left = good; left > 0; left--) await (await t.claim("essay/grading")).report("graded");
  for (let left = failed; left > 0; left--) await (await t.claim("essay/grading")).fail(new Error("no answer"));
  if (failed > 0) await t.maintain(); // Failed tasks are retried at once.
}

/** The state of the breaker of the model. */
export async function llm(t: TestPawl) {
  return (await t.pawl.breakers.list()).find((one) => one.name === "llm")!;
}
