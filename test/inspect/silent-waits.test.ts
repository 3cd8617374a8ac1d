import { lifecycle, queue } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import { testPawl } from "../../src/testing/test-pawl.ts";

const checks = queue("checks", { label: z.object({ ok: z.boolean() }) });

const order = lifecycle("order", {
  data: z.object({ quiet: z.boolean().default(false) }),
  initial: "open",
  states: {
    open: { forever: true, on: { wait: "waiting", ask: "asking", park: "parked", maybe: "hoping" } },
    waiting: { timeout: { after: "1h", send: "remind" }, on: { remind: {}, done: "done" } },
    hoping: { timeout: { after: ({ data }) => (data.quiet ? null : "1h"), send: "done" }, on: { done: "done" } },
    asking: { ask: { queue: checks, sample: () => ({}) }, on: { answered: "done", unanswered: "done" } },
    parked: {
      release: { interval: "1m", limit: 5, send: "done" },
      on: {
        done: {
          to: "done",
          before: () => {
            throw new Error("the gate is jammed");
          },
        },
      },
    },
    done: { final: "success" },
  },
});

const damages: readonly [string, "wait" | "ask" | "park", string, string][] = [
  [
    "the timer of a wait",
    "wait",
    "delete from pawl.timers",
    'It waits in "waiting", which has a timeout, and it has no timer.',
  ],
  [
    "the question of an asking state",
    "ask",
    "update pawl.instances set parent_run = 9 where parent_id is not null",
    'It asks in "asking", its question does not exist, and it has no open check.',
  ],
  [
    "the answer to a question",
    "ask",
    "update pawl.samples set open = false",
    'It asks in "asking", its question has ended, and it has no open check.',
  ],
  [
    "the dead letter of a release that was given up",
    "park",
    "delete from pawl.dead_letters",
    'It is parked in "parked", is not released any more, and there is no dead letter.',
  ],
];

test.each(damages)("an instance without %s is a violation of I11", async (_, event, damage, message) => {
  await using t = await testPawl({ lifecycles: [order], queues: [checks] });
  const { id } = await t.pawl.start(order, { data: {} });
  await t.pawl.send(order, { id }, event);
  for (let turn = 0; turn < 10; turn++) await t.advance(event === "park" ? "10m" : "1s");
  expect(await t.pawl.inspect.verify()).toEqual([]);
  await t.db.script(`set session_replication_role = replica; ${damage}; set session_replication_role = origin;`);
  const found = (await t.pawl.inspect.verify()).filter((one) => one.instance === id && one.invariant === "I11");
  expect(found.map((one) => one.message)).toEqual([message]);
});

test("an instance without the timer of its deadline is a violation of I11, in any state", async () => {
  const hurried = lifecycle("hurried", {
    initial: "open",
    deadline: { within: "1d" },
    states: {
      open: { forever: true, on: { go: "working" } },
      working: { run: () => {}, on: { done: "done" } },
      done: { final: "success" },
    },
  });
  await using t = await testPawl({ lifecycles: [hurried] });
  for (const key of ["waiting", "working", "ended"]) await t.pawl.start(hurried, { key });
  await t.pawl.send(hurried, "working", "go");
  await t.pawl.send(hurried, "ended", "discard");
  expect(await t.pawl.inspect.verify()).toEqual([]);
  await t.db.script("delete from pawl.timers; update pawl.instances set next_due_at = null;");
  const found = (await t.pawl.inspect.verify()).filter((one) => one.invariant === "I11");
  expect(found.map((one) => one.message).sort()).toEqual([
    expect.stringMatching(/^It is in "open" with a deadline at .+, and it has no timer for it\.$/),
    expect.stringMatching(/^It is in "working" with a deadline at .+, and it has no timer for it\.$/),
  ]);
});

test("an instance whose deadline has passed, and one that then got a new deadline, are none", async () => {
  const hurried = lifecycle("hurried", {
    initial: "open",
    deadline: { within: "1d" },
    states: { open: { forever: true, recoverWith: "go", on: { go: "done" } }, done: { final: "success" } },
  });
  await using t = await testPawl({ lifecycles: [hurried] });
  await t.pawl.start(hurried, { key: "late" });
  await t.advance("2d");
  expect(await t.pawl.get(hurried, "late")).toMatchObject({ state: "failed" });
  expect(await t.pawl.inspect.verify()).toEqual([]);
  await t.pawl.send(hurried, "late", "restart");
  expect(await t.pawl.inspect.verify()).toEqual([]);
});

test("waits without an end that a definition declares are none", async () => {
  await using t = await testPawl({ lifecycles: [order], queues: [checks] });
  await t.pawl.start(order, { key: "forever", data: {} });
  for (const [key, event] of [
    ["reminded", "wait"],
    ["quiet", "maybe"],
  ] as const) {
    await t.pawl.start(order, { key, data: { quiet: true } });
    await t.pawl.send(order, key, event);
  }
  await t.advance("2h"); // The reminder stays in its state, and has no second one.
  expect((await t.pawl.get(order, "reminded"))!.state).toBe("waiting");
  expect(await t.pawl.inspect.verify()).toEqual([]);
});
