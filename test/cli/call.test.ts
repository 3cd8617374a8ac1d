import { lifecycle } from "pawl";
import { type TestPawl, testPawl } from "pawl/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { callIn } from "../../src/cli/transport/reach.ts";
import { problemOf } from "../../src/http/problem.ts";
import type { RouteName } from "../../src/http/routes/routes.ts";

const essay = lifecycle("essay", {
  data: z.object({ text: z.string(), score: z.number().optional() }),
  events: { grade: z.object({ score: z.number() }) },
  initial: "written",
  states: {
    written: {
      forever: true,
      on: {
        grade: { to: "graded", set: ({ payload }) => payload },
        burn: { to: "burnt", guard: () => "paper is dear" },
      },
    },
    graded: { final: "success" },
    burnt: { final: "failure" },
  },
});

let t: TestPawl;
beforeAll(async () => {
  t = await testPawl({ lifecycles: [essay], breakers: { llm: {} } });
  await t.pawl.start(essay, { key: "e3", data: { text: "…" } });
});
afterAll(() => t.close());

function ask(verb: RouteName, args: Record<string, unknown> = {}) {
  return callIn(t.pawl)(verb, args);
}

test("every operation takes and gives plain JSON", async () => {
  const started = await ask("start", {
    lifecycle: "essay",
    key: "e1",
    data: { text: "…" },
    actor: "ada",
    reason: "homework",
  });
  expect(started).toMatchObject({ key: "e1", state: "written", created: true, createdAt: expect.stringMatching(/Z$/) });
  const { id } = started as { id: string };
  expect(await ask("get", { id })).toMatchObject({ key: "e1" });
  await expect(ask("get", { lifecycle: "essay", key: "nobody" })).rejects.toMatchObject({ code: "instance_unknown" });
  expect(await ask("counts", { lifecycle: "essay" })).toEqual({ written: 2 });
  expect(await ask("allowedEvents", { lifecycle: "essay", key: "e1" })).toContainEqual({
    event: "burn",
    permitted: "no",
    blockers: [expect.objectContaining({ reason: "paper is dear" })],
  });
  expect(await ask("children", { lifecycle: "essay", key: "e1" })).toEqual({
    total: 0,
    open: 0,
    succeeded: 0,
    failed: 0,
    discarded: 0,
    first: [],
  });
  expect(await ask("listInstances", { lifecycle: "essay", parent: id })).toEqual([]);
  const graded = await ask("send", {
    lifecycle: "essay",
    key: "e1",
    event: "grade",
    payload: { score: 7 },
    expectedVersion: 1,
  });
  expect(graded).toMatchObject({ state: "graded", data: { text: "…", score: 7 }, closedAt: expect.any(String) });
  expect(await ask("listInstances", { lifecycle: "essay", state: ["graded", "burnt"], limit: 5 })).toMatchObject([
    { id },
  ]);
  expect(await ask("listInstances", { lifecycle: "essay", after: id })).toMatchObject([{ key: "e3" }]);
  expect(await ask("wait", { lifecycle: "essay", key: "e1", until: "graded", timeout: "1s" })).toMatchObject({ id });
  expect(await ask("history", { lifecycle: "essay", key: "e1" })).toMatchObject([
    { kind: "move", event: "start", actor: "ada", reason: "homework", at: expect.stringMatching(/Z$/) },
    { kind: "move", event: "grade", from: "written", to: "graded" },
  ]);
  expect(await ask("lifecycles")).toMatchObject([
    {
      name: "essay",
      version: 1,
      initial: "written",
      states: [
        { name: "written", kind: "wait", instances: 1 },
        { name: "graded", final: "success", instances: 1 },
        {},
        {},
        {},
      ],
    },
  ]);
  expect(await ask("diagram", { lifecycle: "essay" })).toContain("stateDiagram-v2");
  expect(await ask("diagram", { lifecycle: "essay", format: "svg" })).toContain("<svg");
});

test("lanes are shown, paused and resumed by name", async () => {
  expect(await ask("lanes")).toMatchObject([{ lane: "essay@1:after", closed: null }]);
  await ask("pause", { lane: "essay@1:after", reason: "quiet", actor: "ada" });
  expect(await ask("lanes")).toMatchObject([{ closed: { reason: "quiet", since: expect.stringMatching(/Z$/) } }]);
  expect(await ask("resume", { lane: "essay" })).toBe(true);
  await expect(ask("pause", { lane: "essay/written", reason: "x" })).rejects.toMatchObject({ code: "option_invalid" });
  await expect(ask("pause", { lane: "/written", reason: "x" })).rejects.toMatchObject({ code: "option_invalid" });
  await expect(ask("pause", { lane: "esay", reason: "x" })).rejects.toThrow('Did you mean "essay"?');
  await expect(ask("pause", { lane: "essay" })).rejects.toThrow("needs `reason`");
});

test("breakers are shown, forced and released by name", async () => {
  expect(await ask("breakers")).toMatchObject([{ name: "llm", state: "closed", since: null, usedBy: [] }]);
  const forced = await ask("forceBreaker", { breaker: "llm", to: "open", reason: "an outage", actor: "ada" });
  expect(forced).toMatchObject({ state: "open", forced: "open", since: expect.stringMatching(/Z$/) });
  expect(await ask("releaseBreaker", { breaker: "llm" })).toMatchObject({ state: "half_open", forced: null });
  expect(await ask("breakerHistory", { breaker: "llm", limit: 1 })).toMatchObject([{ number: 2, cause: "released" }]);
  await expect(ask("forceBreaker", { breaker: "llm", to: "open" })).rejects.toMatchObject({ code: "option_invalid" });
  await expect(ask("forceBreaker", { breaker: "llm", to: "ajar", reason: "x" })).rejects.toThrow(
    'Choose one of "open", "closed"',
  );
  await expect(ask("releaseBreaker", { breaker: "lmm" })).rejects.toMatchObject({ code: "breaker_unknown" });
});

test("what failed is explained by its id alone, and its dead letter is shown, requeued and discarded", async () => {
  const { id } = (await ask("start", { lifecycle: "essay", key: "lost", data: { text: "…" } })) as { id: string };
  await ask("send", { lifecycle: "essay", key: "lost", event: "fail", payload: { reason: "ink" } });
  expect(await ask("explain", { id })).toMatchObject({ recovery: { failure: { reason: "ink" } }, next: null });
  expect(await ask("explain", { lifecycle: "essay", key: "lost" })).toMatchObject({ id });
  const [letter] = (await ask("deadLetters", { lifecycle: "essay" })) as { id: string }[];
  expect(await ask("deadLetter", { id: letter!.id })).toMatchObject({ instance: id, key: "lost", status: "open" });
  const changed = { id: letter!.id, data: { text: "found" }, actor: "ada", reason: "new ink" };
  expect(await ask("requeue", changed)).toMatchObject({ status: "requeued", decidedBy: "ada" });
  expect(await ask("get", { id })).toMatchObject({ state: "written", data: { text: "found" } });
  await ask("send", { lifecycle: "essay", key: "lost", event: "fail" });
  const [again] = (await ask("deadLetters", { status: "open" })) as { id: string }[];
  expect(await ask("discardDeadLetter", { id: again!.id })).toMatchObject({ status: "discarded" });
  expect(await ask("deadLetters", { status: "requeued", limit: 5 })).toMatchObject([{ id: letter!.id }]);
  await ask("send", { lifecycle: "essay", key: "lost", event: "discard" });
});

test("an event can be sent later", async () => {
  await ask("start", { lifecycle: "essay", key: "e2", data: { text: "…" } });
  await ask("send", { lifecycle: "essay", key: "e2", event: "grade", payload: { score: 1 }, after: "10m" });
  expect(await ask("get", { lifecycle: "essay", key: "e2" })).toMatchObject({ state: "written" });
  await t.advance("10m");
  expect(await ask("get", { lifecycle: "essay", key: "e2" })).toMatchObject({ state: "graded" });
});

describe("what cannot be done is said in words", () => {
  test.each([
    ["option_invalid", "deadLetters", { status: "opn" }, 'Did you mean "open"?'],
    ["dead_letter_unknown", "deadLetter", { id: "01b8dd58-e200-7001-9beb-f7b99343f5ec" }, "does not exist"],
    ["instance_unknown", "explain", { id: "01b8dd58-e200-7001-9beb-f7b99343f5ec" }, "does not exist"],
    ["option_invalid", "listInstances", {}, "`listInstances` needs `lifecycle`"],
    ["option_invalid", "listInstances", { lifecycle: "essay", limit: "many" }, "`limit` must be a whole number"],
    ["option_invalid", "listInstances", { lifecycle: "essay", sate: "written" }, "has no argument `sate`"],
    ["option_invalid", "listInstances", { lifecycle: "essay", limit: 0 }, "`limit` must be a whole number"],
    ["option_invalid", "listInstances", { lifecycle: "essay", state: ["writen"] }, 'Did you mean "written"?'],
    ["option_invalid", "wait", { lifecycle: "essay", key: "e1", until: "gradd" }, 'Did you mean "graded"?'],
    ["option_invalid", "wait", { lifecycle: "essay", key: "e1", timeout: "soon" }, "is not a duration"],
    ["option_invalid", "get", { lifecycle: "essay" }, "`get` needs `id`"],
    ["option_invalid", "get", { lifecycle: "essay", key: "a", id: "b" }, "has no argument `id`"],
    ["option_invalid", "get", { lifecycle: "essay", key: ".." }, "Use the id instead"],
    ["instance_unknown", "get", { id: "b" }, 'Instance "b" does not exist.'],
    ["option_invalid", "send", { lifecycle: "essay", key: "e1", event: "grade", at: "noon" }, "`at` must be a time"],
    ["option_invalid", "lanes", { internal: "yes" }, "must be true or false"],
    ["option_invalid", "diagram", { lifecycle: "essay", format: "png" }, "`format` cannot be"],
    ["option_invalid", "overview", { x: 1 }, "It has no arguments"],
    ["lifecycle_unknown", "listInstances", { lifecycle: "esay" }, 'Did you mean "essay"?'],
    ["instance_unknown", "journal", { lifecycle: "essay", key: "nobody" }, "nobody"],
    ["data_invalid", "start", { lifecycle: "essay", data: { text: 1 } }, "text"],
    ["payload_invalid", "send", { lifecycle: "essay", key: "e3", event: "grade", payload: {} }, "score"],
  ])("%s: %s %j", async (code, verb, args, told) => {
    await expect(ask(verb as RouteName, args)).rejects.toMatchObject({ code, message: expect.stringContaining(told) });
  });
});

test("the owner of a process is told of its failures in full, and others only that there was one", () => {
  const failure = new TypeError("x is not y");
  expect(problemOf(failure, { isLocal: true })).toMatchObject({ status: 500, detail: "x is not y" });
  expect(problemOf(failure)).toEqual({
    type: "about:blank",
    title: "Internal error",
    status: 500,
    code: "invariant_broken",
  });
});
