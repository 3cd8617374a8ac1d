import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Step } from "./language/step.ts";
import { lifecycle } from "./lifecycle.ts";
import { discarded, failed, laneOf } from "./model.ts";

const end = { final: "success" } as const;
const nothing = async (_step: Step): Promise<void> => {};
const before = async () => {};
const after = async () => {};
const guard = () => "not today";
const set = () => ({ total: 2 });

describe("a lifecycle is its model", () => {
  test("R1 states, events, hooks before and hooks after are declared in one place", () => {
    const order = lifecycle("order", {
      data: z.object({ total: z.number() }),
      events: { paid: z.object({ amount: z.number() }) },
      initial: "open",
      states: {
        open: { forever: true, on: { paid: { to: "done", guard, set, before, after, deadLetter: true }, noted: {} } },
        done: end,
      },
    });
    expect([...order.states.keys()]).toEqual(["open", "done", "failed", "discarded"]);
    expect(order.edgesFrom("open", "paid")).toEqual([
      { from: "open", event: "paid", to: "done", guard, set, before, after, deadLetter: true, builtIn: false },
    ]);
    expect(order.edgesFrom("open", "noted")).toMatchObject([{ to: null, deadLetter: false }]);
    expect(order.eventsFrom("open")).toEqual(["paid", "noted", "fail", "discard"]);
    expect([...order.events.keys()]).toEqual(["paid"]);
  });

  test("what is left out has a meaning", () => {
    const plain = lifecycle("plain", { initial: "a", states: { a: { forever: true, on: { x: "b" } }, b: end } });
    expect(plain).toMatchObject({
      kind: "lifecycle",
      name: "plain",
      version: 1,
      initial: "a",
      builtIns: true,
      job: false,
      renamed: {},
    });
    expect([plain.data, plain.deadline, plain.recovery, plain.retentionMs, plain.onParentEnd]).toEqual(
      Array.from({ length: 5 }, () => undefined),
    );
    expect(plain.states.get("a")).toMatchObject({ kind: "wait", rank: 0, priority: 0, timeouts: [], builtIn: false });
    expect(laneOf(plain, "a")).toBe("plain@1/a");
    const recovering = lifecycle("r", {
      initial: "a",
      recovery: {},
      states: { a: { run: nothing, on: { x: "b" } }, b: end },
    });
    expect(recovering.recovery).toEqual({
      maxFailures: 3,
      after: "10m",
      scope: "restart",
      fallback: undefined,
      onlyPermitted: false,
      reset: undefined,
    });
  });

  test("every kind of state is recognised by its key", () => {
    const kinds = lifecycle("kinds", {
      initial: "works",
      retention: "60d",
      states: {
        works: { run: nothing, limit: 3, rate: "100/m", priority: -5, on: { x: "waits" } },
        waits: {
          timeout: [
            { after: "1h", send: "x" },
            { after: 5_000, send: "fail" },
          ],
          on: { x: "parks" },
        },
        parks: { release: { interval: "1m", limit: 500, send: "x" }, on: { x: "joins" } },
        joins: { join: {}, on: { joined: "ends" } },
        ends: { final: "failure" },
      },
    });
    const shown = [...kinds.states.values()].map((state) => `${state.name} ${state.kind} ${state.rank}`);
    expect(shown).toEqual([
      "works work 0",
      "waits wait 1",
      "parks park 2",
      "joins join 3",
      "ends end 4",
      "failed wait 5",
      "discarded end 6",
    ]);
    expect(kinds.states.get("works")).toMatchObject({ limit: 3, rate: "100/m", priority: -5, outcome: "x" });
    expect(kinds.states.get("waits")?.timeouts).toEqual([
      { after: "1h", send: "x" },
      { after: 5_000, send: "fail" },
    ]);
    expect(kinds.states.get("joins")?.join).toEqual({ failed: "fail" });
    expect(kinds.states.get(failed)).toMatchObject({ builtIn: true, forever: true });
    expect(kinds.states.get(discarded)).toMatchObject({ builtIn: true, final: "failure" });
    expect(kinds.retentionMs).toBe(60 * 86_400_000);
  });

  test("a state's own edges replace those of the lifecycle for their events; built-in ones come last", () => {
    const ordered = lifecycle("ordered", {
      initial: "a",
      on: { x: "c", y: {} },
      states: {
        a: { run: nothing, on: { x: [{ to: "b", guard: () => "not now" }], fail: { to: "b", guard: () => "no" } } },
        b: { forever: true, on: { z: "c" } },
        c: end,
      },
    });
    expect(ordered.edgesFrom("a", "x").map((edge) => edge.to)).toEqual(["b"]);
    expect(ordered.edgesFrom("a", "fail").map((edge) => [edge.to, edge.builtIn])).toEqual([
      ["b", false],
      [failed, true],
    ]);
    expect(ordered.eventsFrom("a")).toEqual(["x", "fail", "y", "discard"]);
    expect(ordered.eventsFrom("b")).toEqual(["z", "x", "y", "fail", "restart", "discard"]);
    expect(ordered.eventsFrom("c")).toEqual(["restart", "discard"]);
    expect(ordered.eventsFrom(failed)).toEqual(["x", "y", "recover", "restart", "discard"]);
    expect(ordered.edgesFrom("nowhere", "x")).toEqual([]);
    expect(ordered.eventsFrom("nowhere")).toEqual([]);
  });

  test("the outcome of a run that returns nothing is its state's only own event", () => {
    const outcomes = lifecycle("outcomes", {
      events: { paid: z.object({ amount: z.number() }), noted: z.string().optional() },
      initial: "one",
      on: { cancel: "done" },
      states: {
        one: { run: nothing, on: { x: "optional", fail: "done" } },
        optional: { run: () => {}, on: { noted: "needs" } },
        needs: { run: (step) => step.go("paid", { amount: 1 }), on: { paid: "two" } },
        two: { run: (step) => step.go("x"), on: { x: "done", y: "done" } },
        done: end,
      },
    });
    const own = [...outcomes.states.values()].filter((state) => state.kind === "work").map((state) => state.outcome);
    expect(own).toEqual(["x", "noted", undefined, undefined]);
  });

  test("hooks of built-in events are attached to their edges", () => {
    const hooked = lifecycle("hooked", {
      initial: "a",
      on: { fail: { after }, recover: { after }, discard: { guard } },
      states: { a: { run: nothing, on: { x: "b" } }, b: end },
    });
    expect(hooked.edgesFrom("a", "fail")).toMatchObject([{ to: failed, after, builtIn: true }]);
    expect(hooked.edgesFrom(failed, "recover")).toMatchObject([{ to: "a", after, builtIn: true }]);
    expect(hooked.edgesFrom("b", "discard")).toMatchObject([{ guard, after: undefined }]);
    expect(hooked.edgesFrom("b", "restart")).toMatchObject([{ after: undefined }]);
  });

  test("names that objects know already are names like others", () => {
    const odd = lifecycle("odd", {
      initial: "constructor",
      renamed: { valueof: "constructor" },
      states: { constructor: { forever: true, on: { hasownproperty: "end" } }, end },
    });
    expect(odd.eventsFrom("constructor")).toEqual(["hasownproperty", "fail", "discard"]);
    expect("toString" in odd.renamed).toBe(false);
  });
});
