import { setTimeout as delay } from "node:timers/promises";
import { type Alert, constant, job, lifecycle } from "pawl";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { z } from "zod";
import { type TestPawl, testPawl } from "../../src/testing/test-pawl.ts";
import type { Worker } from "../../src/worker/worker.ts";
import { CapturedLog } from "../support/captured-log.ts";
import { type Broken, breaking, fails, impatiently, type Way } from "./ways.ts";

// Functions that a worker calls as an attempt: what they do is the outcome of the attempt, and others go on beside them.

/** The keys of instances whose function was called. */
const called = new Set<string>();
/** What the function at hand does; each instance says by its data which one that is. */
const acts = new Map<string, Broken>();
const act = (name: string) => {
  const broken = acts.get(name);
  if (broken === undefined) throw new Error(`Nothing is broken as ${name}.`);
  return broken();
};
const data = z.object({ breaks: z.string() });
const once = { maxAttempts: 1, backoff: constant("1s") };
const limited = { timeout: { after: "1m", send: "fail" }, retry: once } as const;

const steps = lifecycle("steps", {
  data,
  initial: "works",
  recovery: { maxFailures: 2, after: "1m", reset: { before: "ended", run: (work) => resets(work.data), retry: once } },
  states: {
    works: {
      run: async (step) => {
        const [where, name] = step.data.breaks.split(": ") as [string, string];
        if (where === "run") return act(name);
        if (where === "once") await step.once("a part", () => act(name));
        if (where === "call") await step.call("service", () => act(name));
        if (where === "reset") throw new Error("so that it recovers");
        return undefined;
      },
      ...limited,
      on: { worked: { to: "ended", after: ({ data }) => after(data) } },
    },
    ended: { forever: true, checkpoint: "works", on: { end: "over" } },
    over: { final: "success" },
  },
});
const after = ({ breaks }: { breaks: string }) =>
  breaks.startsWith("after: ") ? act(breaks.slice("after: ".length)) : undefined;
const resets = ({ breaks }: { breaks: string }) =>
  breaks.startsWith("reset: ") ? act(breaks.slice("reset: ".length)) : undefined;

const errand = job("errand", {
  payload: data,
  run: (step) => (isHook(step.data) ? undefined : act(step.data.breaks)),
  on: { done: { before: ({ data }) => hook("before", data), after: ({ data }) => hook("after", data) } },
  retry: once,
});
const isHook = ({ breaks }: { breaks: string }) => /^(before|after): /.test(breaks);
const hook = (name: string, { breaks }: { breaks: string }) =>
  breaks.startsWith(`${name}: `) ? act(breaks.slice(name.length + 2)) : undefined;

let t: TestPawl;
let worker: Worker;
const log = new CapturedLog();
const alerts: Alert[] = [];
beforeAll(async () => {
  t = await testPawl({
    lifecycles: [steps, errand],
    logger: log,
    alerts: [(one) => alerts.push(one)],
    breakers: { service: { minimum: 1_000 } },
  });
  worker = t.pawl.work({
    concurrency: 16,
    pollInterval: 10,
    maintenanceInterval: 10,
    abortGrace: 10,
    shutdownGrace: 10,
  });
});
afterAll(async () => {
  await worker?.stop();
  await t?.close();
});

let count = 0;
async function broken(where: string, breaks: Broken): Promise<string> {
  const key = `${where} ${++count}`;
  acts.set(key, () => {
    called.add(key);
    return breaks();
  });
  await t.pawl.start(steps, { key, data: { breaks: `${where}: ${key}` } });
  return key;
}

/** Another instance does all that it is there for. */
async function othersGoOn(): Promise<void> {
  const key = `fine ${++count}`;
  await t.pawl.start(steps, { key, data: { breaks: "nothing: " } });
  await t.pawl.wait(steps, key, { until: "ended", timeout: "10s" });
}

const later = () => t.db.script("update pawl.test_clock set now = now + interval '61 seconds'");
const stateOf = async (key: string) => (await t.pawl.get(steps, key))!;

/** What came of the step: it failed with a reason in its history, or what it returned counts for nothing. */
async function settled(key: string, how: Way): Promise<void> {
  if (how === "never settles" || how.startsWith("returns")) await othersGoOn();
  if (how === "never settles") await later();
  await expect.poll(async () => (await stateOf(key)).state, { timeout: 10_000 }).not.toBe("works");
  const { state } = await stateOf(key);
  expect(["failed", "ended"]).toContain(state);
  if (fails(how) || how === "never settles") expect(state).toBe("failed");
  if (state === "failed") expect(await stateOf(key)).toMatchObject({ failure: { reason: expect.any(String) } });
  await othersGoOn();
}

breaking("State.run", async (how, breaks) => {
  const key = await broken("run", breaks);
  if (how.startsWith("returns")) {
    // It is at odds with its definition: people are alerted once, and no attempt is spent until its time is over.
    await expect.poll(() => called.has(key), { timeout: 5_000 }).toBe(true);
    const isFaulty = ({ kind, lifecycle }: Alert) => kind === "definition_faulty" && lifecycle === "steps";
    await expect.poll(() => alerts.some(isFaulty), { timeout: 5_000 }).toBe(true);
    await later();
  }
  await settled(key, how);
});
breaking("Work.once(work)", async (how, breaks) => {
  const key = await broken("once", breaks);
  await settled(key, how);
  if (how.startsWith("returns")) expect((await stateOf(key)).state).toBe("failed");
});
breaking("Work.call(work)", async (how, breaks) => settled(await broken("call", breaks), how));

breaking("JobDefinition.run", async (how, breaks) => {
  const key = `job ${++count}`;
  acts.set(key, breaks);
  await t.pawl.enqueue(errand, { breaks: key }, { key });
  await othersGoOn();
  // Nothing limits how long a job waits: for a handler that hangs, or for a definition that fits what it returns.
  if (!fails(how)) await t.pawl.send(errand, key, "fail");
  const { state } = await t.pawl.wait(errand, key, { timeout: "10s" });
  if (fails(how) || how === "never settles") expect(state).toBe("error");
  await othersGoOn();
});

breaking("Hooks.after", async (how, breaks) => {
  const key = await broken("after", breaks);
  const { id } = await stateOf(key);
  await expect.poll(async () => (await stateOf(key)).state, { timeout: 5_000 }).toBe("ended");
  if (fails(how)) {
    for (let turn = 0; turn < 12; turn++) await later();
    await expect.poll(() => log.lines.some(({ fields }) => JSON.stringify(fields).includes(id))).toBe(true);
  }
  await othersGoOn();
});

breaking("Recovery.reset.run", async (how, breaks) => {
  const key = await broken("reset", breaks);
  await expect.poll(async () => (await stateOf(key)).state, { timeout: 5_000 }).toBe("failed");
  await later();
  await expect.poll(() => called.has(key), { timeout: 10_000 }).toBe(true);
  if (fails(how)) await expect.poll(async () => (await stateOf(key)).failure?.error, { timeout: 10_000 }).toBeDefined();
  await othersGoOn();
});

describe("hooks of a job's end", () => {
  async function hooked(where: string, how: Way, breaks: Broken): Promise<void> {
    const key = `${where} ${++count}`;
    acts.set(key, breaks);
    const { id } = await t.pawl.enqueue(errand, { breaks: `${where}: ${key}` }, { key });
    const isDone = async () => (await t.pawl.get(errand, { id }))!.state === "done";
    const isTold = () => log.lines.some(({ fields }) => JSON.stringify(fields).includes(id));
    const isSo = where === "after" || how.startsWith("returns") ? isDone : async () => isTold();
    // `expect.poll` would give up with the time limits that end soon here.
    for (let turn = 0; turn < 500 && !(await isSo()); turn++) await delay(20);
    expect(await isSo()).toBe(true);
    await othersGoOn();
  }
  breaking("JobHooks.before", (how, breaks) => impatiently(() => hooked("before", how, breaks), 1_000));
  breaking("JobHooks.after", (how, breaks) => hooked("after", how, breaks));
});
