// oxlint-disable typescript/consistent-return -- these tests try runs that return nothing.
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { Json } from "../../base/json.ts";
import { crowd } from "../crowd.ts";
import { type AnyJob, type JobPayloadOf, job } from "../job.ts";
import { lifecycle } from "../lifecycle.ts";
import type { Context } from "../model.ts";
import { queue } from "../queue.ts";
import { schedule } from "../schedule/schedule.ts";
import type { Answered, Failure } from "./built-in.ts";
import type { AnyLifecycle, DataOf, EventOf, PayloadOf, StartDataOf, StateOf } from "./public-types.ts";
import type { Step } from "./step.ts";

const Data = z.object({ text: z.string(), score: z.number().optional() });
type Data = z.infer<typeof Data>;
const events = { paid: z.object({ amount: z.number() }) };
const end = { final: "success" } as const;
const scores = queue("scores", { label: z.object({ score: z.number() }) });
const receipts = crowd("receipts", { label: z.object({ total: z.number() }), marketplace: "local" });
const parcel = lifecycle("parcel", {
  data: z.object({ address: z.string(), fragile: z.boolean().default(false) }),
  events: { weighed: z.object({ grams: z.number() }) },
  initial: "packing",
  states: { packing: { forever: true, on: { weighed: {}, shipped: "done" } }, done: end },
});

const nothing = async (): Promise<void> => {};
const ofOtherData = async (_step: Step<{ other: string }>): Promise<void> => {};
const misspelt = async (step: Step<Data, { garded: undefined }>) => step.go("garded");
const wronglyPaid = async (step: Step<Data, { paid: { amount: string } }>) => step.go("paid", { amount: "1" });
const grade = async (step: Step<Data, { graded: { score: number } }>) => {
  if (step.data.text === "") return step.giveUp("nothing to grade");
  const score = await step.once("score", async () => 7);
  return step.go("graded", { score });
};
const trim = async (step: Step<Data>) => {
  step.set({ text: step.data.text.trim() });
};
const guardOfOtherData = ({ data }: Context<{ other: string }>) => data.other === "" || "no";

/** Refused by the compiler, and again when a plain JavaScript caller tries. */
const refusedTwice: Record<string, () => unknown> = {
  "an edge to a state that does not exist": () =>
    // @ts-expect-error
    lifecycle("n", { initial: "a", states: { a: { forever: true, on: { x: "c" } }, b: end } }),
  "a written-out edge to a state that does not exist": () =>
    // @ts-expect-error
    lifecycle("n", { initial: "a", states: { a: { forever: true, on: { x: { to: "c" } } }, b: end } }),
  "a list with an edge to a state that does not exist": () =>
    // @ts-expect-error
    lifecycle("n", { initial: "a", states: { a: { forever: true, on: { x: [{ to: "c" }] } }, b: end } }),
  "a list with the name of a state that does not exist": () =>
    // @ts-expect-error
    lifecycle("n", { initial: "a", states: { a: { forever: true, on: { x: ["c"] } }, b: end } }),
  "a start in a state that does not exist": () =>
    // @ts-expect-error
    lifecycle("n", { initial: "c", states: { a: { forever: true, on: { x: "b" } }, b: end } }),
  "a common edge to a state that does not exist": () =>
    // @ts-expect-error
    lifecycle("n", { on: { y: "c" }, initial: "a", states: { a: { forever: true, on: { x: "b" } }, b: end } }),
  "a misspelt key of an edge that stays": () =>
    // @ts-expect-error
    lifecycle("n", { initial: "a", states: { a: { forever: true, on: { x: { too: "b" }, y: "b" } }, b: end } }),
  "a misspelt key of an edge": () =>
    lifecycle("n", {
      initial: "a",
      // @ts-expect-error
      states: { a: { forever: true, on: { x: { to: "b", gaurd: () => true } } }, b: end },
    }),
  "a misspelt key of an edge in a list": () =>
    lifecycle("n", {
      initial: "a",
      // @ts-expect-error
      states: { a: { forever: true, on: { x: [{ to: "b", gaurd: () => true }] } }, b: end },
    }),
  "a misspelt key of a state": () =>
    // @ts-expect-error
    lifecycle("n", { initial: "a", states: { a: { forevr: true, on: { x: "b" } }, b: end } }),
  "a misspelt key of a definition": () =>
    // @ts-expect-error
    lifecycle("n", { inital: "a", initial: "a", states: { a: { forever: true, on: { x: "b" } }, b: end } }),
  "a misspelt key of a timeout": () =>
    // @ts-expect-error
    lifecycle("n", { initial: "a", states: { a: { timeout: { after: "1m", snd: "x" }, on: { x: "b" } }, b: end } }),
  "a misspelt key of a release": () =>
    lifecycle("n", {
      initial: "a",
      // @ts-expect-error
      states: { a: { release: { interval: "1m", most: 1, send: "x" }, on: { x: "b" } }, b: end },
    }),
  "a misspelt key of an ask": () =>
    lifecycle("n", {
      initial: "a",
      // @ts-expect-error
      states: { a: { ask: { queue: scores, sample: () => ({}), sampel: 1 }, on: { answered: "b" } }, b: end },
    }),
  "a checkpoint that does not exist": () =>
    // @ts-expect-error
    lifecycle("n", { initial: "a", states: { a: { forever: true, on: { x: "b" }, checkpoint: "c" }, b: end } }),
  "a checkpoint that is built in": () =>
    lifecycle("n", {
      initial: "a",
      // @ts-expect-error
      states: { a: { forever: true, on: { x: "b" }, checkpoint: "failed" }, failed: {}, b: end },
    }),
  "a recovery with an event that neither the state nor failed has": () =>
    // @ts-expect-error
    lifecycle("n", { initial: "a", states: { a: { forever: true, on: { x: "b" }, recoverWith: "y" }, b: end } }),
  "a recovery with an event that needs a payload": () =>
    lifecycle("n", {
      events,
      initial: "a",
      // @ts-expect-error
      states: { a: { forever: true, on: { paid: "b" }, recoverWith: "paid" }, b: end },
    }),
  "a release that sends an event of another state": () =>
    lifecycle("n", {
      initial: "a",
      states: {
        // @ts-expect-error
        a: { release: { interval: "1m", limit: 1, send: "y" }, on: { x: "c" } },
        c: { forever: true, on: { y: "b" } },
        b: end,
      },
    }),
  "a release that sends an event that needs a payload": () =>
    lifecycle("n", {
      events,
      initial: "a",
      // @ts-expect-error
      states: { a: { release: { interval: "1m", limit: 1, send: "paid" }, on: { paid: "b" } }, b: end },
    }),
  "a timeout that sends an event of no state": () =>
    // @ts-expect-error
    lifecycle("n", { initial: "a", states: { a: { timeout: { after: "1m", send: "y" }, on: { x: "b" } }, b: end } }),
  "a timeout that sends a misspelt fail": () =>
    // @ts-expect-error
    lifecycle("n", { initial: "a", states: { a: { timeout: { after: "1m", send: "fial" }, on: { x: "b" } }, b: end } }),
  "a timeout that sends fail where it is not built in": () =>
    lifecycle("n", {
      builtIns: false,
      initial: "a",
      // @ts-expect-error
      states: { a: { timeout: { after: "1m", send: "fail" }, on: { x: "b" } }, b: end },
    }),
  "a timeout that sends an event that needs a payload": () =>
    lifecycle("n", {
      events,
      initial: "a",
      // @ts-expect-error
      states: { a: { timeout: { after: "1m", send: "paid" }, on: { paid: "b" } }, b: end },
    }),
  "a timeout of a list that sends an event of no state": () =>
    lifecycle("n", {
      initial: "a",
      states: {
        a: {
          timeout: [
            { after: "1m", send: "x" },
            // @ts-expect-error
            { after: "2m", send: "y" },
          ],
          on: { x: "b" },
        },
        b: end,
      },
    }),
  "a timeout after no length of time": () =>
    lifecycle("n", {
      initial: "a",
      // @ts-expect-error
      states: { a: { timeout: { after: "1 minute", send: "x" }, on: { x: "b" } }, b: end },
    }),
  "a fallback that failed has no edge for": () =>
    lifecycle("n", {
      // @ts-expect-error
      recovery: { fallback: "x" },
      initial: "a",
      states: { a: { forever: true, on: { x: "b" } }, b: end },
    }),
  "a reset before a state that does not exist": () =>
    lifecycle("n", {
      // @ts-expect-error
      recovery: { reset: { before: "c", run: () => {} } },
      initial: "a",
      states: { a: { run: nothing, on: { x: "b" } }, b: end },
    }),
  "a new name that does not exist": () =>
    // @ts-expect-error
    lifecycle("n", { renamed: { old: "c" }, initial: "a", states: { a: { forever: true, on: { x: "b" } }, b: end } }),
  "an end of the parent that sends an event of no state": () =>
    // @ts-expect-error
    lifecycle("n", { onParentEnd: "y", initial: "a", states: { a: { forever: true, on: { x: "b" } }, b: end } }),
  "an end that is neither success nor failure": () =>
    // @ts-expect-error
    lifecycle("n", { initial: "a", states: { a: { forever: true, on: { x: "b" } }, b: { final: "succes" } } }),
  "a built-in event with its own target in a state": () =>
    // @ts-expect-error
    lifecycle("n", { initial: "a", states: { a: { forever: true, on: { x: "b", restart: "b" } }, b: end } }),
  "a built-in event with its own target beside the states": () =>
    lifecycle("n", {
      // @ts-expect-error
      on: { restart: { to: "b" } },
      initial: "a",
      states: { a: { forever: true, on: { x: "b" } }, b: end },
    }),
  "a built-in event with a target alone": () =>
    // @ts-expect-error
    lifecycle("n", { on: { discard: "b" }, initial: "a", states: { a: { forever: true, on: { x: "b" } }, b: end } }),
  "a payload of its own for a built-in event": () =>
    lifecycle("n", {
      // @ts-expect-error
      events: { fail: z.object({}) },
      initial: "a",
      states: { a: { forever: true, on: { x: "b" } }, b: end },
    }),
  "a built-in state as a target where it is not built in": () =>
    // @ts-expect-error
    lifecycle("n", { builtIns: false, initial: "a", states: { a: { forever: true, on: { x: "failed" } }, b: end } }),
  "a deadline of no length of time": () =>
    lifecycle("n", {
      // @ts-expect-error
      deadline: { within: "1 day" },
      initial: "a",
      states: { a: { forever: true, on: { x: "b" } }, b: end },
    }),
  "an unknown rule for what comes late": () =>
    lifecycle("n", {
      // @ts-expect-error
      deadline: { within: "1d", late: "drop" },
      initial: "a",
      states: { a: { forever: true, on: { x: "b" } }, b: end },
    }),
  "a rate that is none": () =>
    // @ts-expect-error
    lifecycle("n", { initial: "a", states: { a: { run: nothing, rate: "100 per minute", on: { x: "b" } }, b: end } }),
  "a limit that is a text": () =>
    // @ts-expect-error
    lifecycle("n", { initial: "a", states: { a: { run: nothing, limit: "3", on: { x: "b" } }, b: end } }),
  "a join with an unknown rule": () =>
    // @ts-expect-error
    lifecycle("n", { initial: "a", states: { a: { join: { failed: "ignore" }, on: { joined: "b" } }, b: end } }),
  "a queue that is only a name": () =>
    lifecycle("n", {
      initial: "a",
      // @ts-expect-error
      states: { a: { ask: { queue: "scores", sample: () => ({}) }, on: { answered: "b" } }, b: end },
    }),
  "a queue and a crowd at once": () =>
    lifecycle("n", {
      initial: "a",
      // @ts-expect-error
      states: { a: { ask: { queue: scores, crowd: receipts, sample: () => ({}) }, on: { answered: "b" } }, b: end },
    }),
  "a policy of retries without a number of attempts": () =>
    lifecycle("n", {
      initial: "a",
      // @ts-expect-error
      states: { a: { run: nothing, retry: {}, on: { x: "b" } }, b: end },
    }),
  "a version that is a text": () =>
    // @ts-expect-error
    lifecycle("n", { version: "2", initial: "a", states: { a: { forever: true, on: { x: "b" } }, b: end } }),
  "data without a schema": () =>
    // @ts-expect-error
    lifecycle("n", { data: { text: "" }, initial: "a", states: { a: { forever: true, on: { x: "b" } }, b: end } }),
  "a schedule of cron and every at once": () =>
    // @ts-expect-error
    schedule("s", { interval: "1h", cron: "0 3 * * *", start: parcel, data: { address: "Elm 3" } }),
  // @ts-expect-error
  "a job without a run": () => job("j", {}),
  // @ts-expect-error
  "a misspelt setting of a queue": () => queue("q", { label: Data, overlaps: 2 }),
};

/** Refused by the compiler alone: none of these is run. */
const refusedByTheCompiler: Record<string, () => unknown> = {
  "a run that goes by an event of another state": () =>
    // @ts-expect-error
    lifecycle("n", { initial: "a", states: { a: { run: async (step) => step.go("y"), on: { x: "b" } }, b: end } }),
  "a run that returns nothing where there are two events": () =>
    // @ts-expect-error
    lifecycle("n", { initial: "a", states: { a: { run: async () => {}, on: { x: "b", y: "b" } }, b: end } }),
  "a run that returns nothing where the event needs a payload": () =>
    // @ts-expect-error
    lifecycle("n", { events, initial: "a", states: { a: { run: async () => {}, on: { paid: "b" } }, b: end } }),
  "a run that returns nothing on one of its ways": () =>
    lifecycle("n", {
      initial: "a",
      states: {
        a: {
          // @ts-expect-error
          run: async (step) => {
            if (step.attempt > 1) return step.go("x");
          },
          on: { x: "b", y: "b" },
        },
        b: end,
      },
    }),
  "a run that returns something else": () =>
    // @ts-expect-error
    lifecycle("n", { initial: "a", states: { a: { run: async () => 5, on: { x: "b" } }, b: end } }),
  "an event that needs a payload and gets none": () =>
    lifecycle("n", {
      events,
      initial: "a",
      // @ts-expect-error
      states: { a: { run: async (step) => step.go("paid"), on: { paid: "b" } }, b: end },
    }),
  "an event with a payload of the wrong type": () =>
    lifecycle("n", {
      events,
      initial: "a",
      // @ts-expect-error
      states: { a: { run: async (step) => step.go("paid", { amount: "1" }), on: { paid: "b" } }, b: end },
    }),
  "an event with a payload that takes none": () =>
    lifecycle("n", {
      initial: "a",
      // @ts-expect-error
      states: { a: { run: async (step) => step.go("x", { amount: 1 }), on: { x: "b" } }, b: end },
    }),
  "data that holds a date": () =>
    lifecycle("n", {
      // @ts-expect-error
      data: z.object({ at: z.date() }),
      initial: "a",
      states: { a: { forever: true, on: { x: "b" } }, b: end },
    }),
  "data that holds a map": () =>
    lifecycle("n", {
      // @ts-expect-error
      data: z.object({ of: z.map(z.string(), z.string()) }),
      initial: "a",
      states: { a: { forever: true, on: { x: "b" } }, b: end },
    }),
  "data that holds a function": () =>
    lifecycle("n", {
      // @ts-expect-error
      data: z.object({ f: z.function() }),
      initial: "a",
      states: { a: { forever: true, on: { x: "b" } }, b: end },
    }),
  "data that holds a set deep inside": () =>
    lifecycle("n", {
      // @ts-expect-error
      data: z.object({ list: z.array(z.object({ of: z.set(z.string()) })) }),
      initial: "a",
      states: { a: { forever: true, on: { x: "b" } }, b: end },
    }),
  "data that is no object": () =>
    // @ts-expect-error
    lifecycle("n", { data: z.string(), initial: "a", states: { a: { forever: true, on: { x: "b" } }, b: end } }),
  "data that is a list": () =>
    lifecycle("n", {
      // @ts-expect-error
      data: z.array(z.string()),
      initial: "a",
      states: { a: { forever: true, on: { x: "b" } }, b: end },
    }),
  "data of valibot that holds a date": () =>
    lifecycle("n", {
      // @ts-expect-error
      data: v.object({ at: v.date() }),
      initial: "a",
      states: { a: { forever: true, on: { x: "b" } }, b: end },
    }),
  "data of arktype that holds a bigint": () =>
    lifecycle("n", {
      // @ts-expect-error
      data: type({ count: "bigint" }),
      initial: "a",
      states: { a: { forever: true, on: { x: "b" } }, b: end },
    }),
  "a payload that holds a bigint": () =>
    lifecycle("n", {
      // @ts-expect-error
      events: { x: z.object({ n: z.bigint() }) },
      initial: "a",
      states: { a: { forever: true, on: { x: "b" } }, b: end },
    }),
  "a patch of the wrong type": () =>
    lifecycle("n", {
      data: Data,
      initial: "a",
      // @ts-expect-error
      states: { a: { forever: true, on: { x: { to: "b", set: () => ({ score: "high" }) } } }, b: end },
    }),
  "a patch of a field that does not exist": () =>
    lifecycle("n", {
      data: Data,
      initial: "a",
      // @ts-expect-error
      states: { a: { forever: true, on: { x: { to: "b", set: () => ({ scor: 1 }) } } }, b: end },
    }),
  "a patch that comes later": () =>
    lifecycle("n", {
      data: Data,
      initial: "a",
      // @ts-expect-error
      states: { a: { forever: true, on: { x: { to: "b", set: async () => ({ score: 1 }) } } }, b: end },
    }),
  "a guard that reads a field that does not exist": () =>
    lifecycle("n", {
      data: Data,
      initial: "a",
      // @ts-expect-error
      states: { a: { forever: true, on: { x: { to: "b", guard: (context) => context.data.nope || "no" } } }, b: end },
    }),
  "a guard that reads a payload that there is not": () =>
    lifecycle("n", {
      initial: "a",
      states: {
        // @ts-expect-error
        a: { forever: true, on: { x: { to: "b", guard: (context) => context.payload.amount > 1 || "no" } } },
        b: end,
      },
    }),
  "a guard that reads a field that the payload has not": () =>
    lifecycle("n", {
      events,
      initial: "a",
      states: {
        // @ts-expect-error
        a: { forever: true, on: { paid: { to: "b", guard: (context) => context.payload.total > 1 || "no" } } },
        b: end,
      },
    }),
  "a guard that says no without a reason": () =>
    lifecycle("n", {
      data: Data,
      initial: "a",
      // @ts-expect-error
      states: { a: { forever: true, on: { x: { to: "b", guard: ({ data }) => data.score === 1 } } }, b: end },
    }),
  "a guard that answers later": () =>
    lifecycle("n", {
      initial: "a",
      // @ts-expect-error
      states: { a: { forever: true, on: { x: { to: "b", guard: async () => true } } }, b: end },
    }),
  "an effect that changes the data": () =>
    lifecycle("n", {
      data: Data,
      initial: "a",
      // @ts-expect-error
      states: { a: { forever: true, on: { x: { to: "b", after: (effect) => effect.set({}) } } }, b: end },
    }),
  "a hook after the move that wants the transaction": () =>
    lifecycle("n", {
      initial: "a",
      // @ts-expect-error
      states: { a: { forever: true, on: { x: { to: "b", after: (effect) => effect.tx } } }, b: end },
    }),
  "a hook of a built-in event that reads what the data has not": () =>
    lifecycle("n", {
      data: Data,
      // @ts-expect-error
      on: { restart: { after: (effect) => effect.data.nope } },
      initial: "a",
      states: { a: { forever: true, on: { x: "b" } }, b: end },
    }),
  "a failure that carries what it does not": () =>
    lifecycle("n", {
      initial: "a",
      states: {
        // @ts-expect-error
        a: { run: nothing, on: { x: "b", fail: { to: "b", guard: ({ payload }) => payload.code || "no" } } },
        b: end,
      },
    }),
  "a consensus with a field that the label has not": () =>
    lifecycle("n", {
      initial: "a",
      states: {
        a: {
          ask: { queue: scores, sample: () => ({}) },
          // @ts-expect-error
          on: { answered: { to: "b", guard: ({ payload }) => payload.consensus.points > 1 || "no" } },
        },
        b: end,
      },
    }),
  "an answer of a crowd with a field that the label has not": () =>
    lifecycle("n", {
      initial: "a",
      states: {
        a: {
          ask: { crowd: receipts, sample: () => ({}) },
          // @ts-expect-error
          on: { answered: { to: "b", guard: ({ payload }) => payload.labels[0]?.sum || "no" } },
        },
        b: end,
      },
    }),
  "counts of a join that are none": () =>
    lifecycle("n", {
      initial: "a",
      states: {
        // @ts-expect-error
        a: { join: {}, on: { joined: { to: "b", guard: ({ payload }) => payload.lost === 0 || "no" } } },
        b: end,
      },
    }),
  "a sample that reads what the data has not": () =>
    lifecycle("n", {
      data: Data,
      initial: "a",
      states: {
        // @ts-expect-error
        a: { ask: { queue: scores, sample: (context) => ({ x: context.data.nope }) }, on: { answered: "b" } },
        b: end,
      },
    }),
  "a timeout that reads what the data has not": () =>
    lifecycle("n", {
      data: Data,
      initial: "a",
      // @ts-expect-error
      states: { a: { timeout: { after: ({ data }) => data.nope, send: "fail" }, on: { x: "b" } }, b: end },
    }),
  "a step that sets a field that does not exist": () =>
    lifecycle("n", {
      data: Data,
      initial: "a",
      // @ts-expect-error
      states: { a: { run: async (step) => step.set({ nope: 1 }), on: { x: "b" } }, b: end },
    }),
  "a message that JSON cannot carry": () =>
    lifecycle("n", {
      initial: "a",
      // @ts-expect-error
      states: { a: { run: async (step) => step.publish("t", { at: new Date() }), on: { x: "b" } }, b: end },
    }),
  "a kept result that JSON cannot carry": () =>
    lifecycle("n", {
      initial: "a",
      states: {
        a: {
          run: async (step) => {
            // @ts-expect-error
            await step.once("t", async () => new Date());
          },
          on: { x: "b" },
        },
        b: end,
      },
    }),
  "a handler of other data": () =>
    // @ts-expect-error
    lifecycle("n", { data: Data, initial: "a", states: { a: { run: ofOtherData, on: { x: "b" } }, b: end } }),
  "a handler that names an event which the state has not": () =>
    // @ts-expect-error
    lifecycle("n", { data: Data, initial: "a", states: { a: { run: misspelt, on: { graded: "b" } }, b: end } }),
  "a handler that gives an event another payload": () =>
    lifecycle("n", {
      data: Data,
      events,
      initial: "a",
      // @ts-expect-error
      states: { a: { run: wronglyPaid, on: { paid: "b" } }, b: end },
    }),
  "a guard of other data": () =>
    lifecycle("n", {
      data: Data,
      initial: "a",
      // @ts-expect-error
      states: { a: { forever: true, on: { x: { to: "b", guard: guardOfOtherData } } }, b: end },
    }),
  "a child with the wrong data": () =>
    lifecycle("n", {
      initial: "a",
      // @ts-expect-error
      states: { a: { run: async (step) => step.start(parcel, { data: { adress: "Elm 3" } }), on: { x: "b" } }, b: end },
    }),
  "a child without the data that it needs": () =>
    lifecycle("n", {
      initial: "a",
      // @ts-expect-error
      states: { a: { run: async (step) => step.start(parcel, {}), on: { x: "b" } }, b: end },
    }),
  "an event that a child has not": () =>
    lifecycle("n", {
      initial: "a",
      // @ts-expect-error
      states: { a: { run: async (step) => step.send(parcel, "p-1", "shiped"), on: { x: "b" } }, b: end },
    }),
  "an event to a child without its payload": () =>
    lifecycle("n", {
      initial: "a",
      // @ts-expect-error
      states: { a: { run: async (step) => step.send(parcel, "p-1", "weighed"), on: { x: "b" } }, b: end },
    }),
  "an event to a child with the wrong payload": () =>
    lifecycle("n", {
      initial: "a",
      states: {
        // @ts-expect-error
        a: { run: async (step) => step.send(parcel, "p-1", "weighed", { grams: "1" }), on: { x: "b" } },
        b: end,
      },
    }),
  "a key of a child that is no text": () =>
    lifecycle("n", {
      initial: "a",
      states: {
        // @ts-expect-error
        a: { run: async (step) => step.start(parcel, { key: 7, data: { address: "Elm 3" } }), on: { x: "b" } },
        b: end,
      },
    }),
  "an event to a child that is named in an unknown way": () =>
    lifecycle("n", {
      initial: "a",
      // @ts-expect-error
      states: { a: { run: async (step) => step.send(parcel, { kid: "p-1" }, "shipped"), on: { x: "b" } }, b: end },
    }),
  "data that a child has not": () =>
    lifecycle("n", {
      initial: "a",
      states: {
        a: {
          run: async (step) => {
            // @ts-expect-error
            for (const child of await step.children(parcel)) step.log(child.data.adress);
          },
          on: { x: "b" },
        },
        b: end,
      },
    }),
  "an outcome that no child has": () =>
    lifecycle("n", {
      initial: "a",
      states: {
        a: {
          run: async (step) => {
            // @ts-expect-error
            for (const child of await step.children()) if (child.outcome === "done") return;
          },
          on: { x: "b" },
        },
        b: end,
      },
    }),
  "a state that a child has not": () =>
    lifecycle("n", {
      initial: "a",
      states: {
        a: {
          run: async (step) => {
            // @ts-expect-error
            for (const child of await step.children(parcel)) if (child.state === "gone") return;
          },
          on: { x: "b" },
        },
        b: end,
      },
    }),
  // @ts-expect-error
  "a label that JSON cannot carry": () => queue("q", { label: z.object({ at: z.date() }) }),
  // @ts-expect-error
  "a payload of a job that JSON cannot carry": () => job("j", { payload: z.object({ at: z.date() }), run: () => {} }),
  "a job that reads what its payload has not": () =>
    // @ts-expect-error
    job("j", { payload: Data, run: async (step) => step.log(step.payload.nope) }),
  // @ts-expect-error
  "a job that returns what is not kept": () => job("j", { run: async () => 5 }),
  // @ts-expect-error
  "a schedule without the data that its start needs": () => schedule("s", { interval: "1h", start: parcel }),
  // @ts-expect-error
  "a schedule with the wrong data": () => schedule("s", { interval: "1h", start: parcel, data: { adress: "Elm 3" } }),
};

describe("what does not make sense does not compile", () => {
  test.each(Object.entries(refusedTwice))("%s, and is refused when it runs", (_, define) => {
    expect(define).toThrow(expect.objectContaining({ code: "definition_invalid" }));
  });

  test("there are enough cases", () => {
    expect(Object.keys(refusedTwice).length + Object.keys(refusedByTheCompiler).length).toBeGreaterThan(90);
  });
});

describe("types are inferred from the schemas", () => {
  test("of zod", () => {
    const made = lifecycle("n", {
      data: Data,
      events,
      initial: "a",
      states: {
        a: {
          forever: true,
          on: { paid: { to: "b", set: ({ payload, data }) => ({ score: payload.amount, text: data.text }) } },
        },
        b: end,
      },
    });
    expectTypeOf<DataOf<typeof made>>().toEqualTypeOf<{ text: string; score?: number | undefined }>();
    expectTypeOf<PayloadOf<typeof made, "paid">>().toEqualTypeOf<{ amount: number }>();
    expect(made.data).toBe(Data);
  });

  test("of valibot and arktype", () => {
    const ofValibot = lifecycle("n", {
      data: v.object({ name: v.string(), tags: v.optional(v.array(v.string()), []) }),
      events: { tagged: v.object({ tag: v.string() }) },
      initial: "a",
      states: {
        a: {
          forever: true,
          on: { tagged: { set: ({ data, payload }) => ({ tags: [...data.tags, payload.tag] }) }, x: "b" },
        },
        b: end,
      },
    });
    expectTypeOf<DataOf<typeof ofValibot>>().toEqualTypeOf<{ name: string; tags: string[] }>();
    expectTypeOf<StartDataOf<typeof ofValibot>>().toEqualTypeOf<{ name: string; tags?: string[] | undefined }>();
    const ofArktype = lifecycle("n", {
      data: type({ name: "string", "age?": "number" }),
      events: { aged: type({ years: "number" }) },
      initial: "a",
      states: {
        a: { forever: true, on: { aged: { set: ({ payload }) => ({ age: payload.years }) }, x: "b" } },
        b: end,
      },
    });
    expectTypeOf<DataOf<typeof ofArktype>>().toEqualTypeOf<{ name: string; age?: number }>();
    expectTypeOf<PayloadOf<typeof ofArktype, "aged">>().toEqualTypeOf<{ years: number }>();
    expect([...ofValibot.events.keys(), ...ofArktype.events.keys()]).toEqual(["tagged", "aged"]);
  });

  test("what a lifecycle tells the compiler", () => {
    expectTypeOf<StateOf<typeof parcel>>().toEqualTypeOf<"packing" | "done" | "failed" | "discarded">();
    expectTypeOf<EventOf<typeof parcel>>().toEqualTypeOf<
      "weighed" | "shipped" | "fail" | "recover" | "restart" | "discard"
    >();
    expectTypeOf<DataOf<typeof parcel>>().toEqualTypeOf<{ address: string; fragile: boolean }>();
    expectTypeOf<StartDataOf<typeof parcel>>().toEqualTypeOf<{ address: string; fragile?: boolean | undefined }>();
    expectTypeOf<PayloadOf<typeof parcel, "weighed">>().toEqualTypeOf<{ grams: number }>();
    expectTypeOf<PayloadOf<typeof parcel, "shipped">>().toEqualTypeOf<undefined>();
    expectTypeOf<PayloadOf<typeof parcel, "restart">>().toEqualTypeOf<undefined>();
    expectTypeOf<PayloadOf<typeof parcel, "fail">>().toEqualTypeOf<Partial<Failure> | undefined>();
    const any: AnyLifecycle[] = [parcel];
    expect(any).toHaveLength(1);
  });

  test("without built-ins there are only the declared names", () => {
    const plain = lifecycle("plain", {
      builtIns: false,
      initial: "a",
      states: { a: { forever: true, on: { x: "b" } }, b: end },
    });
    expectTypeOf<StateOf<typeof plain>>().toEqualTypeOf<"a" | "b">();
    expectTypeOf<EventOf<typeof plain>>().toEqualTypeOf<"x">();
    expectTypeOf<DataOf<typeof plain>>().toEqualTypeOf<Record<string, never>>();
    expect([...plain.states.keys()]).toEqual(["a", "b"]);
  });

  test("answers are typed by the queue or the crowd of their state", () => {
    const asked = lifecycle("asked", {
      data: Data,
      initial: "people",
      states: {
        people: {
          ask: { queue: scores, sample: ({ data }) => ({ text: data.text }) },
          on: {
            answered: {
              to: "crowd",
              set: ({ payload }) => ({ score: payload.consensus.score * (payload.agreement ?? 1) }),
            },
            unanswered: {
              to: "crowd",
              set: ({ payload }) => ({ text: payload.reason, score: payload.labels[0]?.score }),
            },
          },
        },
        crowd: {
          ask: { crowd: receipts, sample: () => ({}) },
          on: { answered: { to: "done", set: ({ payload }) => ({ score: payload.labels.at(-1)?.total }) } },
        },
        done: end,
      },
    });
    expectTypeOf<PayloadOf<typeof asked, "answered">>().toEqualTypeOf<
      Answered<{ score: number } | { total: number }>
    >();
    const free = queue("free", { label: { type: "object", properties: { ok: { type: "boolean" } } } });
    expectTypeOf(free["~label"]).toEqualTypeOf<Json | undefined>();
    expect(asked.eventsFrom("people")).toContain("unanswered");
  });

  test("failures and joins have payloads of their own", () => {
    const joining = lifecycle("joining", {
      data: Data,
      initial: "a",
      states: {
        a: {
          run: nothing,
          on: { x: "b", fail: { to: "c", set: ({ payload }) => ({ text: `${payload.reason} ${payload.attempts}` }) } },
        },
        b: {
          join: { failed: "count" },
          on: { joined: [{ to: "c", guard: ({ payload }) => payload.failed === 0 || "some failed" }, "a"] },
        },
        c: end,
      },
    });
    expectTypeOf<PayloadOf<typeof joining, "joined">>().toEqualTypeOf<{
      readonly total: number;
      readonly succeeded: number;
      readonly failed: number;
      readonly discarded: number;
    }>();
    expect(joining.edgesFrom("b", "joined")).toHaveLength(2);
  });

  test("hooks alone beside the states, and edges with functions alone, are typed too", () => {
    const hooked = lifecycle("hooked", {
      data: Data,
      events,
      deadline: { within: ({ data }) => (data.text === "" ? null : "1h") },
      initial: "a",
      on: {
        restart: { after: async (effect) => effect.publish("again", { text: effect.data.text }) },
        paid: { before: async ({ tx, payload }) => tx.query("select $1", [payload.amount]) },
      },
      states: { a: { on: { noted: { set: ({ now }) => ({ text: now }) }, x: "b" } }, b: end },
    });
    expectTypeOf<EventOf<typeof hooked>>().toEqualTypeOf<
      "paid" | "noted" | "x" | "fail" | "recover" | "restart" | "discard"
    >();
    expect(hooked.edgesFrom("b", "restart")[0]?.after).toBeTypeOf("function");
  });

  test("lists of edges with guards beside an inline handler, in every kind of state", () => {
    const made = lifecycle("made", {
      data: z.object({ n: z.number().optional() }),
      events: {
        scored: z.object({ score: z.number() }),
        weighed: z.object({ grams: z.number() }),
        counted: z.object({ count: z.number() }),
        noted: z.object({ note: z.string() }),
      },
      initial: "working",
      on: { noted: [{ guard: ({ payload }) => payload.note !== "" || "an empty note" }], closed: "ended" },
      states: {
        working: {
          run: async (step) => {
            step.set({ n: 1 });
            return step.go("scored", { score: 1 });
          },
          on: {
            scored: [{ to: "parked", guard: ({ payload }) => payload.score > 3 || "too low" }, { to: "waiting" }],
            fail: { to: "ended", guard: ({ payload }) => payload.reason !== "" || "no reason" },
          },
        },
        alone: {
          run: async (step) => step.set({ n: 1 }),
          on: { ready: [{ to: "parked", guard: ({ data }) => data.n === 1 || "not one" }, "waiting"] },
        },
        parked: {
          release: { interval: "1m", limit: 2, send: "released" },
          on: { released: [{ to: "joining", guard: ({ data }) => data.n === 1 || "not one" }, { to: "alone" }] },
        },
        joining: {
          join: {},
          on: { joined: [{ to: "waiting", guard: ({ payload }) => payload.succeeded > 1 || "too few" }] },
        },
        asking: {
          ask: { queue: scores, sample: ({ data }) => ({ n: data.n }) },
          on: {
            answered: [
              { to: "waiting", guard: ({ payload }) => payload.labels.length > 1 || "too few" },
              { to: "ended", set: ({ payload }) => ({ n: payload.labels.length }) },
            ],
            unanswered: [{ to: "ended", guard: ({ payload }) => payload.reason !== "" || "no reason" }],
          },
        },
        waiting: {
          timeout: { after: "1d", send: "fail" },
          on: {
            weighed: [{ to: "asking", guard: ({ payload }) => payload.grams > 3 || "too light" }, { to: "ended" }],
          },
        },
        staying: {
          timeout: { after: "1d", send: "fail" },
          on: { counted: [{ set: ({ payload }) => ({ n: payload.count }) }] },
        },
        failed: { on: { mended: [{ to: "staying", guard: ({ data }) => data.n === 1 || "not one" }] } },
        ended: end,
      },
    });
    type Own = Exclude<EventOf<typeof made>, "fail" | "recover" | "restart" | "discard">;
    expectTypeOf<Own>().toEqualTypeOf<
      | "scored"
      | "ready"
      | "released"
      | "joined"
      | "answered"
      | "unanswered"
      | "weighed"
      | "counted"
      | "noted"
      | "closed"
      | "mended"
    >();
    expectTypeOf<PayloadOf<typeof made, "weighed">>().toEqualTypeOf<{ grams: number }>();
    expectTypeOf<PayloadOf<typeof made, "counted">>().toEqualTypeOf<{ count: number }>();
    expectTypeOf<PayloadOf<typeof made, "ready">>().toEqualTypeOf<undefined>();
    expect(made.events.size).toBeGreaterThan(0);
  });

  test("the smallest definition with a list and an inline handler", () => {
    const small = lifecycle("small", {
      data: z.object({ n: z.number().optional() }),
      events: { ev: z.object({ v: z.number() }) },
      initial: "working",
      states: {
        working: {
          run: async (step) => {
            step.set({ n: 1 });
          },
          on: { done: "waiting" },
        },
        waiting: {
          forever: true,
          on: { ev: [{ to: "a", guard: ({ payload }) => payload.v > 3 || "no" }, { to: "b" }] },
        },
        a: end,
        b: end,
      },
    });
    expectTypeOf<PayloadOf<typeof small, "ev">>().toEqualTypeOf<{ v: number }>();
  });

  test("handlers in files of their own", () => {
    const made = lifecycle("n", {
      data: Data,
      events: { graded: z.object({ score: z.number() }) },
      initial: "look",
      states: {
        look: { run: trim, on: { seen: "grade" } },
        grade: { run: grade, on: { graded: "done", unreadable: "done" } },
        done: end,
      },
    });
    expect(made.states.get("look")?.outcome).toBe("seen");
    expect(made.states.get("grade")?.outcome).toBeUndefined();
  });

  test("a run with one event may return nothing, wait or give up; with several it names one", () => {
    const made = lifecycle("n", {
      data: Data,
      events: { paid: z.object({ amount: z.number() }), noted: z.object({ text: z.string() }).optional() },
      initial: "a",
      states: {
        a: {
          run: async (step) => {
            if (step.attempt === 1) return step.retryLater({ after: "10m" });
            if (step.attempt === 2) return step.giveUp("enough");
            step.progress(0.5, "half");
          },
          on: { x: "b" },
        },
        b: {
          run: (step) => (step.key === null ? step.go("paid", { amount: 1 }) : step.go("y")),
          on: { paid: "c", y: "c" },
        },
        c: { run: () => {}, on: { noted: "d" } },
        d: end,
      },
    });
    expect([...made.states.values()].map((state) => state.outcome)).toEqual([
      "x",
      undefined,
      "noted",
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("data may hold what JSON carries: recursive, branded, unknown, optional", () => {
    const made = lifecycle("n", {
      data: z.object({
        any: z.json(),
        id: z.string().brand("id"),
        free: z.record(z.string(), z.unknown()),
        pair: z.tuple([z.number(), z.string()]).optional(),
        kind: z.union([z.literal("a"), z.null()]),
      }),
      initial: "a",
      states: { a: { forever: true, on: { x: "b" } }, b: end },
    });
    interface Tree {
      readonly name: string;
      readonly kids: readonly Tree[];
    }
    const tree = lifecycle("n", {
      data: z.object({ root: z.custom<Tree>() }),
      initial: "a",
      states: { a: { forever: true, on: { x: "b" } }, b: end },
    });
    expectTypeOf<DataOf<typeof tree>>().toEqualTypeOf<{ root: Tree }>();
    expect(made.initial).toBe("a");
  });

  test("jobs and schedules", () => {
    const mail = job("send-email", {
      payload: z.object({ to: z.string(), copies: z.number().default(1) }),
      run: async (step) => {
        expectTypeOf(step.payload).toEqualTypeOf<{ to: string; copies: number }>();
      },
    });
    expectTypeOf<JobPayloadOf<typeof mail>>().toEqualTypeOf<{ to: string; copies?: number | undefined }>();
    expectTypeOf<StateOf<typeof mail>>().toEqualTypeOf<"pending" | "done" | "error">();
    const bare = job("tidy-up", { run: () => {} });
    const all: AnyJob[] = [mail, bare];
    schedule("nightly", { cron: "30 3 * * *", timezone: "Europe/Berlin", start: bare });
    schedule("hourly", { interval: "1h", start: mail, data: (tick) => ({ to: tick.at }) });
    const starting = async (step: Step) => {
      step.start(bare);
      step.start(bare, { key: "today" });
      step.start(mail, { key: "m-1", data: { to: "ada@example.com" } });
    };
    lifecycle("starts", { initial: "a", states: { a: { run: starting, on: { x: "b" } }, b: end } });
    expectTypeOf<EventOf<AnyLifecycle>>().toEqualTypeOf<string>();
    expect(all.map((one) => one.job)).toEqual([true, true]);
  });
});

test("onMove knows the states, the events and the data of its lifecycle, wherever it is written", () => {
  type States = "open" | "working" | "done" | "failed" | "discarded";
  type Events = "paid" | "worked" | "closed" | "fail" | "recover" | "restart" | "discard" | "start" | "accept_late";
  const states = { open: { forever: true, on: { paid: "working" } }, done: end } as const;
  const first = lifecycle("first", {
    onMove: ({ from, to, event, data, tx }) => {
      expectTypeOf(from).toEqualTypeOf<States | null>();
      expectTypeOf(to).toEqualTypeOf<States>();
      expectTypeOf(event).toEqualTypeOf<Events>();
      expectTypeOf(data).toEqualTypeOf<Data>();
      return tx.query("select 1");
    },
    data: Data,
    events,
    initial: "open",
    on: { closed: "done" },
    states: {
      ...states,
      working: {
        run: (step) => step.go("worked"),
        on: { worked: { to: "done", guard: ({ data }) => data.text !== "" || "it is empty" } },
      },
    },
  });
  expectTypeOf<StateOf<typeof first>>().toEqualTypeOf<States>();
  const last = lifecycle("last", {
    initial: "a",
    states: { a: { run: (step) => step.go("x"), on: { x: "b" } }, b: end },
    onMove: ({ to, event }) => {
      expectTypeOf(to).toEqualTypeOf<"a" | "b" | "failed" | "discarded">();
      // @ts-expect-error: there is no such state.
      return to === "c" || event === "x";
    },
  });
  expectTypeOf<EventOf<typeof last>>().toEqualTypeOf<"x" | "fail" | "recover" | "restart" | "discard">();
  // @ts-expect-error: a hook is a function.
  expect(() => lifecycle("n", { onMove: "x", initial: "b", states: { b: end } })).toThrow("onMove: It is");
});
