import { describe, expect, test } from "vitest";
import { z } from "zod";
import { lifecycle } from "../lifecycle.ts";
import type { LifecycleModel } from "../model.ts";
import { decide, decideStart } from "./decide.ts";
import type { InstanceModel } from "./instance.ts";
import { afterFailure, countedFailures, type PastFailure, planRecovery } from "./recover.ts";

const nowMs = Date.UTC(2030, 0, 1);
const nobody = { actor: null, reason: null };
const run = async () => {};

/** An instance that went through these events and then failed. */
function failedAfter(model: LifecycleModel, data: object, ...events: string[]): InstanceModel {
  let { instance } = decideStart(model, { id: "i", key: null, data, ...nobody }, nowMs);
  for (const name of [...events, "fail"]) {
    const decided = decide(model, instance, { name, payload: undefined, ...nobody }, nowMs);
    if (decided.kind === "refused") throw new Error(decided.blockers[0]!.reason);
    instance = decided.instance;
  }
  return instance;
}

function ways(model: LifecycleModel, instance: InstanceModel): string[] {
  const plan = planRecovery(model, instance, nobody, nowMs);
  if (plan.kind === "refused") return plan.blockers.map((one) => `refused: ${one.reason}`);
  return plan.decisions.map((one) => `${one.from} -${one.event}-> ${one.to}`);
}

const order = lifecycle("order", {
  data: z.object({ paid: z.boolean().default(false), lucky: z.boolean().default(false) }),
  events: { weighed: z.object({ kilos: z.number() }), noted: z.string().optional() },
  initial: "open",
  recovery: { onlyPermitted: true, fallback: "reopen", reset: { before: "packing", run } },
  on: { shelve: { guard: ({ data }) => data.lucky || "not that kind of order" } },
  states: {
    open: {
      forever: true,
      on: {
        pay: { to: "packing", guard: ({ data }) => data.paid || "there is no money" },
        give: { to: "packing", guard: ({ data }) => data.lucky || "nothing is free" },
      },
    },
    checking: { run, on: { checked: "packing" } },
    packing: { forever: true, on: { packed: "sent", weighed: "sent" }, recoverWith: "packed" },
    sent: { forever: true, on: { weighed: "done", noted: {} }, checkpoint: "packing" },
    lost: { forever: true, on: { found: "sent" }, recoverWith: "reopen" },
    parked: { release: { interval: "1m", limit: 10, send: "go" }, on: { go: "done" } },
    done: { final: "success" },
    failed: { on: { reopen: "open", lose: "lost", check: "checking", park: "parked" } },
  },
}) as LifecycleModel;

describe("R22 the event of a recovery", () => {
  test("is the one that the target names, after `recover` into it", () => {
    expect(ways(order, failedAfter(order, { paid: true }, "pay"))).toEqual([
      "failed -recover-> packing",
      "packing -packed-> sent",
    ]);
  });

  test("is sent from failed, without `recover`, when failed has it and the target has not", () => {
    expect(ways(order, failedAfter(order, {}, "fail", "lose"))).toEqual(["failed -reopen-> open"]);
  });

  test("is none for a state that works or is parked: that is taken up again", () => {
    expect(ways(order, failedAfter(order, {}, "fail", "check"))).toEqual(["failed -recover-> checking"]);
    expect(ways(order, failedAfter(order, {}, "fail", "park"))).toEqual(["failed -recover-> parked"]);
  });

  test("R20 is the only one that is permitted: guards are asked, payloads and built-in events count for nothing", () => {
    expect(ways(order, failedAfter(order, { paid: true }))).toEqual(["failed -recover-> open", "open -pay-> packing"]);
  });

  test("is the fallback when none is permitted, and when several are", () => {
    expect(ways(order, failedAfter(order, {}))).toEqual(["failed -reopen-> open"]);
    expect(ways(order, failedAfter(order, { paid: true, lucky: true }))).toEqual(["failed -reopen-> open"]);
  });

  test("is refused with the reason when there is none to be found", () => {
    const { fallback: _, ...recovery } = order.recovery!;
    const strict = { ...order, recovery: { ...recovery, fallback: undefined } };
    expect(ways(strict, failedAfter(strict, {}))).toEqual([
      "refused: `open` only waits, and none of its events is permitted; give it `recoverWith`, or the recovery a `fallback`",
    ]);
    expect(ways(strict, failedAfter(strict, { paid: true, lucky: true }))).toEqual([
      "refused: `open` only waits, and several events are permitted: `pay`, `give`, `shelve`; give it `recoverWith`, or the recovery a `fallback`",
    ]);
  });

  test("is to wait again for a state that failed while it waited, but not for a checkpoint that waits", () => {
    const waiting = lifecycle("waiting", {
      initial: "asked",
      recovery: {},
      states: { asked: { timeout: { after: "1d", send: "fail" }, on: { paid: "done" } }, done: { final: "success" } },
    });
    expect(ways(waiting, failedAfter(waiting, {}))).toEqual(["failed -recover-> asked"]);
    const { fallback: _, ...recovery } = order.recovery!;
    const plain = { ...order, recovery: { ...recovery, fallback: undefined, onlyPermitted: false } };
    expect(ways(plain, failedAfter(plain, {}))).toEqual(["failed -recover-> open"]);
  });

  test("where nothing is said of recovery, a person who recovers it lets it wait again", () => {
    const plain = { ...order, recovery: undefined };
    expect(ways(plain, failedAfter(plain, {}))).toEqual(["failed -recover-> open"]);
  });

  test("is refused as a whole when a guard is against what follows on `recover`", () => {
    const claim = lifecycle("claim", {
      data: z.object({ ready: z.boolean() }),
      initial: "open",
      recovery: {},
      states: {
        open: {
          forever: true,
          on: { submit: { to: "done", guard: ({ data }) => data.ready || "it is not ready" } },
          recoverWith: "submit",
        },
        done: { final: "success" },
      },
    }) as LifecycleModel;
    expect(ways(claim, failedAfter(claim, { ready: false }))).toEqual(["refused: it is not ready"]);
  });
});

test("R13 only a failed instance is recovered", () => {
  const { instance } = decideStart(order, { id: "i", key: null, data: {}, ...nobody }, nowMs);
  expect(ways(order, instance)).toEqual(["refused: `recover` is not allowed in `open`; it is allowed in `failed`"]);
});

test("R21 what lies behind the target is reset if the target ranks before it, and by its checkpoint", () => {
  const resets = (...events: string[]) =>
    planRecovery(order, failedAfter(order, { paid: true }, ...events), nobody, nowMs) as { resets?: boolean };
  expect(resets()).toMatchObject({ target: "open", resets: true });
  expect(resets("fail", "check")).toMatchObject({ target: "checking", resets: true });
  expect(resets("pay")).toMatchObject({ target: "packing", resets: false });
  expect(resets("pay", "packed")).toMatchObject({ target: "packing", resets: false });
});

test("a recovery carries who wants it, why, and a change of the data, into its first move", () => {
  const cause = { actor: "ada", reason: "paid in cash", patch: { paid: true } };
  const plan = planRecovery(order, failedAfter(order, {}), cause, nowMs);
  expect(plan).toMatchObject({
    decisions: [
      { event: "recover", actor: "ada", reason: "paid in cash", patch: { paid: true } },
      { event: "pay", actor: "ada", patch: null, instance: { data: { paid: true }, state: "packing" } },
    ],
  });
});

describe("R9 what follows on a failure", () => {
  const recovery = { ...order.recovery!, maxFailures: 3, after: "10m" as const };
  const tenMinutes = 600_000;

  test.each([
    [1, { kind: "recover", afterMs: tenMinutes }],
    [2, { kind: "recover", afterMs: tenMinutes }],
    [3, { kind: "give_up", reason: "recovery_exhausted" }],
    [4, { kind: "give_up", reason: "recovery_exhausted" }],
  ])("after failure %i of 3", (failures, follows) => {
    expect(afterFailure({ recovery }, { failures, nowMs, deadlineAtMs: null })).toEqual(follows);
  });

  test("nothing is scheduled for the deadline or later, and nothing at all where nothing is said", () => {
    const at = (deadlineAtMs: number) => afterFailure({ recovery }, { failures: 1, nowMs, deadlineAtMs });
    expect(at(nowMs + tenMinutes + 1)).toEqual({ kind: "recover", afterMs: tenMinutes });
    expect(at(nowMs + tenMinutes)).toEqual({ kind: "give_up", reason: "deadline" });
    expect(at(nowMs)).toEqual({ kind: "give_up", reason: "deadline" });
    expect(afterFailure({ recovery: undefined }, { failures: 1, nowMs, deadlineAtMs: null })).toEqual({
      kind: "give_up",
      reason: "no_recovery",
    });
  });
});

describe("R8 failures are counted from the journal", () => {
  const moves: readonly (readonly [event: string, from: string, to: string])[] = [
    ["fail", "open", "failed"],
    ["recover", "failed", "open"],
    ["fail", "sent", "failed"],
    ["again", "failed", "failed"],
    ["restart", "failed", "open"],
    ["lost", "sent", "failed"],
    ["recover", "failed", "packing"],
    ["fail", "posted", "failed"],
    ["recover", "failed", "packing"],
    ["fail", "open", "failed"],
  ];
  const history: PastFailure[] = moves.map(([event, from, to], at) => ({ version: at + 2, event, from, to }));
  const counted = (scope: "restart" | "state" | "lifetime", state: string) => {
    const model = { ...order, recovery: { ...order.recovery!, scope }, renamed: { posted: "sent" } };
    return countedFailures(model, history, state).map((move) => move.version);
  };

  test("since the last restart, over all states", () => expect(counted("restart", "open")).toEqual([7, 9, 11]));
  test("in the same state since then, by whichever name", () => expect(counted("state", "sent")).toEqual([7, 9]));
  test("or all there ever were; staying in failed is none", () =>
    expect(counted("lifetime", "open")).toEqual([2, 4, 7, 9, 11]));
  test("of a lifecycle that has its own state of that name, none are", () => {
    expect(countedFailures({ ...order, builtIns: false }, history, "open")).toEqual([]);
  });
});
