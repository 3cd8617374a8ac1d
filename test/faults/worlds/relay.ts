import { lifecycle, type PawlError } from "pawl";
import { z } from "zod";

/** Reports each step to the outside; set by the program that runs it. */
export const outside: {
  tell: (what: "begin" | "end" | "call" | "twice" | "aborted", step: StepFacts) => void;
  pauseMs: number;
  /** Holds a connection of the pool for so long. */
  holdConnection: (ms: number) => Promise<void>;
} = { tell: () => {}, pauseMs: 0, holdConnection: async () => {} };

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

/** Three steps, each of which is reported to the outside. */
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

const lasting = z.object({ ms: z.number(), runs: z.number().default(0) });

/** A step that computes without a pause, for longer than its lease. */
export const thinker = lifecycle("thinker", {
  data: lasting,
  initial: "thinking",
  states: {
    thinking: {
      run: (step) => {
        outside.tell("begin", step);
        for (const began = performance.now(); performance.now() - began < step.data.ms; );
        outside.tell("end", step);
        step.set({ runs: step.attempt });
      },
      on: { thought: "done" },
    },
    done: { final: "success" },
  },
});

/** A step that keeps a connection of its worker's pool to itself, for longer than its lease. */
export const holder = lifecycle("holder", {
  data: lasting,
  initial: "holding",
  states: {
    holding: {
      run: async (step) => {
        outside.tell("begin", step);
        await outside.holdConnection(step.data.ms);
        outside.tell("end", step);
        step.set({ runs: step.attempt });
      },
      on: { let_go: "done" },
    },
    done: { final: "success" },
  },
});

/** A step that calls `once` all the time, for longer than its lease; each call is seen from outside. */
export const caller = lifecycle("caller", {
  data: lasting,
  initial: "calling",
  states: {
    calling: {
      run: async (step) => {
        outside.tell("begin", step);
        step.signal.addEventListener("abort", () => {
          const { reason } = (step.signal.reason as PawlError).details;
          outside.tell("aborted", { ...step, idempotencyKey: `${step.idempotencyKey} as ${reason}` });
        });
        const began = performance.now();
        for (let call = 0; performance.now() - began < step.data.ms; call++) {
          const [mine, name] = [`${process.pid}:${step.attempt}`, `call ${call}`];
          let isMade = false;
          const kept = await step.once(name, () => {
            isMade = true;
            outside.tell("call", { ...step, idempotencyKey: `${step.idempotencyKey} ${name}` });
            return mine;
          });
          if (isMade && kept !== mine) outside.tell("twice", step); // Its result was kept before, and it was made again.
        }
        outside.tell("end", step);
        step.set({ runs: step.attempt });
      },
      retry,
      on: { called: "done" },
    },
    done: { final: "success" },
  },
});

/** Everything that the worker processes run. */
export const lifecycles = [relay, poison, thinker, holder, caller];
