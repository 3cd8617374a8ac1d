import { lifecycle } from "pawl";
import { z } from "zod";

/** What each step tells the outside world; the program that runs it sets this. */
export const outside: { tell: (what: "begin" | "end", step: StepFacts) => void; pauseMs: number } = {
  tell: () => {},
  pauseMs: 0,
};

export interface StepFacts {
  readonly id: string;
  readonly attempt: number;
  readonly idempotencyKey: string;
}

const retry = { maxAttempts: 20, backoff: () => 0 };

async function work(step: StepFacts): Promise<void> {
  outside.tell("begin", step);
  await new Promise((resolve) => setTimeout(resolve, outside.pauseMs));
  outside.tell("end", step);
}

/** Three steps, each of which is seen from outside. */
export const relay = lifecycle("relay", {
  initial: "one",
  states: {
    one: { run: work, retry, on: { next: "two" } },
    two: { run: work, retry, on: { next: "three" } },
    three: { run: work, retry, on: { next: "done" } },
    done: { final: "success" },
  },
});

/** A step that ends its worker, each time. */
export const poison = lifecycle("poison", {
  initial: "swallowed",
  states: {
    swallowed: {
      run: () => {
        process.kill(process.pid, "SIGKILL");
      },
      retry: { maxAttempts: 3, backoff: () => 0 },
      on: { survived: "done" },
    },
    done: { final: "success" },
  },
});

/** A step that computes without a pause, for longer than its lease. */
export const thinker = lifecycle("thinker", {
  data: z.object({ ms: z.number(), runs: z.number().default(0) }),
  initial: "thinking",
  states: {
    thinking: {
      run: (step) => {
        for (const began = performance.now(); performance.now() - began < step.data.ms; );
        step.set({ runs: step.attempt });
      },
      on: { thought: "done" },
    },
    done: { final: "success" },
  },
});
