import { lifecycle } from "../../../src/definition/lifecycle.ts";

/** What the steps tell the outside world; the program that runs them sets this. */
export const outside: { tell: (what: "begin" | "end", key: string) => void } = { tell: () => {} };

/** An attempt that is spent is the last one: the instance fails, and the test sees it. */
const retry = { maxAttempts: 1 };

/** How many messages a trip sends. */
export const messagesEach = 3;
export const legsEach = 2;

interface Running {
  readonly idempotencyKey: string;
  once<Result>(name: string, work: () => Result): Promise<Awaited<Result>>;
  publish(type: string, payload: unknown): void;
}

/** A while in which the database may go away, some of which is spent between two of its answers. */
async function work(step: Running, n?: number): Promise<void> {
  outside.tell("begin", step.idempotencyKey);
  const ms = await step.once("pause", () => 5 + Math.random() * 40);
  await new Promise((resolve) => setTimeout(resolve, ms));
  if (n !== undefined) step.publish("noted", { n });
  outside.tell("end", step.idempotencyKey);
}

export const leg = lifecycle("leg", {
  initial: "driving",
  states: { driving: { run: (step) => work(step), retry, on: { driven: "done" } }, done: { final: "success" } },
});

/** Steps, a timer, a callback, an event, children and messages. */
export const trip = lifecycle("trip", {
  initial: "packing",
  states: {
    packing: { run: (step) => work(step, 1), retry, on: { packed: "resting" } },
    resting: { timeout: { after: "200ms", send: "rested" }, on: { rested: "asking" } },
    asking: { forever: true, on: { confirmed: "ready" } },
    ready: { forever: true, on: { leave: "loading" } },
    loading: {
      run: async (step) => {
        for (let n = 0; n < legsEach; n++) step.start(leg, { key: `leg-${n}` });
        await work(step, 2);
      },
      retry,
      on: { loaded: "driving" },
    },
    driving: { join: {}, timeout: { after: "1h", send: "fail" }, on: { joined: "unloading" } },
    unloading: { run: (step) => work(step, 3), retry, on: { unloaded: "home" } },
    home: { final: "success" },
  },
});

export const lifecycles = [trip, leg];
