import { constant, lifecycle, PermanentError, TransientError } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import type { TestPawl } from "../../../src/testing/test-pawl.ts";
import { eachStore } from "../../support/each-store.ts";
import { openSecondProcess } from "../../support/second-process.ts";

const once = { maxAttempts: 1, backoff: constant("1s") };

/** Works, waits, and comes back from failures on its own. */
const claim = lifecycle("claim", {
  data: z.object({ ready: z.boolean().default(true), note: z.string().optional() }),
  initial: "checking",
  recovery: { maxFailures: 3, after: "10m" },
  states: {
    checking: { run: async () => {}, retry: once, on: { checked: "deciding" } },
    deciding: {
      timeout: { after: "1h", send: "fail" },
      on: {
        decided: "paid",
        rejected: "failed",
        ask_again: { to: "checking", guard: ({ data }) => data.ready || "it is not ready" },
      },
      recoverWith: "ask_again",
    },
    paid: { final: "success" },
    failed: { on: { noted: { set: ({ actor }) => ({ note: actor ?? "nobody" }) }, wait: "failed" } },
  },
});

eachStore((store) => {
  async function open(): Promise<TestPawl> {
    const t = await store.open({ lifecycles: [claim] });
    await t.pawl.start(claim, { key: "c", data: {} });
    return t;
  }
  const failStep = async (t: TestPawl, error: unknown = new Error("no answer")) =>
    (await t.claim("claim/checking")).fail(error);
  const recover = async (t: TestPawl) => (await t.claim("claim/failed")).run();
  const state = async (t: TestPawl) => (await t.pawl.get(claim, "c"))!.state;
  const moves = async (t: TestPawl) => (await t.pawl.journal(claim, "c")).map((move) => `${move.event}: ${move.to}`);

  test("whichever way an instance fails, its recovery is scheduled with that very move", async () => {
    const ways: Record<string, (t: TestPawl, key: string) => Promise<unknown>> = {
      thrown: async (t) => failStep(t),
      "given up": async (t) => (await t.claim("claim/checking")).giveUp("no such claim"),
      permanent: async (t) => failStep(t, new PermanentError("no such claim")),
      "worker lost": async (t) => {
        await t.claim("claim/checking");
        await t.advance("30s");
      },
      called: (t, key) => t.pawl.send(claim, key, "fail"),
      "called in a transaction": (t, key) =>
        t.pawl.transaction((tx) => t.pawl.send(claim, key, "fail", undefined, { tx })),
      later: async (t, key) => {
        await t.pawl.send(claim, key, "fail", undefined, { after: "1m" });
        await t.advance("1m");
      },
      "timed out": async (t) => {
        await (await t.claim("claim/checking")).report("checked");
        await t.advance("1h");
      },
      "by another event": async (t, key) => {
        await (await t.claim("claim/checking")).report("checked");
        await t.pawl.send(claim, key, "rejected");
      },
    };
    await using t = await store.open({ lifecycles: [claim] });
    for (const [way, fail] of Object.entries(ways)) {
      await t.pawl.start(claim, { key: way, data: {} });
      await fail(t, way);
      expect(await t.pawl.get(claim, way), way).toMatchObject({ state: "failed" });
      const [task] = await t.db.rows<{ due_ms: number; lane: string }>({
        text: "select pawl.ms(due_at) as due_ms, lane from pawl.tasks",
        values: [],
        name: "",
      });
      expect(task, way).toEqual({ due_ms: t.now().getTime() + 600_000, lane: "claim@1/failed" });
      expect(await t.pawl.inspect.verify(), way).toEqual([]);
      await t.pawl.send(claim, way, "discard");
    }
    expect(await t.pawl.deadLetters.list({ lifecycle: claim })).toEqual([]);
  });

  test("R20 R22 what a recovery sends is refused if a guard is against it: it stays failed, and a person is asked", async () => {
    await using t = await store.open({ lifecycles: [claim] });
    await t.pawl.start(claim, { key: "c", data: { ready: false } });
    await t.work();
    await t.pawl.send(claim, "c", "fail");
    await t.advance("10m");
    await recover(t);
    expect(await moves(t)).toEqual(["start: checking", "checked: deciding", "fail: failed"]);
    expect(await t.pawl.deadLetters.list({ lifecycle: claim })).toMatchObject([
      { reason: "recover_refused", origin: "deciding", error: { message: expect.stringContaining("it is not ready") } },
    ]);
    await t.advance("1d");
    expect(await t.work()).toBe(0);
    await expect(t.pawl.send(claim, "c", "recover")).rejects.toMatchObject({
      code: "transition_refused",
      details: { blockers: [{ kind: "guard", reason: "it is not ready" }] },
    });
    expect(await t.pawl.allowedEvents(claim, "c")).toContainEqual({
      event: "recover",
      permitted: "no",
      blockers: [expect.objectContaining({ reason: "it is not ready" })],
    });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a recovery and the event that follows it are one commit, the second of them by Pawl itself", async () => {
    await using t = await open();
    await t.work();
    await t.pawl.send(claim, "c", "fail");
    await t.advance("10m");
    await recover(t);
    const [recovered, asked] = (await t.pawl.journal(claim, "c")).slice(-2);
    expect(recovered).toMatchObject({ event: "recover", to: "deciding", source: "worker" });
    expect(asked).toMatchObject({ event: "ask_again", from: "deciding", to: "checking", source: "pawl" });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a recovery into the state that failed goes on with its visit: the idempotency key stays", async () => {
    const keys: string[] = [];
    const t = await store.open({
      lifecycles: [claim],
      steps: {
        "claim/checking": (step) => {
          keys.push(step.idempotencyKey);
          if (keys.length < 3) throw new Error("no answer");
        },
      },
    });
    await using _ = t;
    await t.pawl.start(claim, { key: "c", data: {} });
    for (const _turn of [1, 2, 3]) {
      await t.work();
      await t.advance("10m");
    }
    expect(new Set(keys).size).toBe(1);
    expect(await state(t)).toBe("deciding");
  });

  test("an instance that stays failed keeps its recovery, at its time", async () => {
    await using t = await open();
    await failStep(t);
    await t.advance("4m");
    await t.pawl.send(claim, "c", "noted", { actor: "ada" });
    await t.advance("6m");
    await recover(t);
    expect(await moves(t)).toEqual(["start: checking", "fail: failed", "noted: failed", "recover: checking"]);
    await failStep(t);
    await t.pawl.send(claim, "c", "wait"); // enters `failed` anew
    await t.advance("10m");
    await recover(t);
    expect(await state(t)).toBe("checking");
    expect(await t.pawl.get(claim, "c")).toMatchObject({ data: { note: "ada" } });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("of a scheduled recovery and a person's, exactly one is made", async () => {
    await using t = await open();
    await failStep(t);
    await t.advance("10m");
    const scheduled = await t.claim("claim/failed");
    const results = await Promise.allSettled([scheduled.run(), t.pawl.send(claim, "c", "recover")]);
    expect(results.filter((one) => one.status === "fulfilled")).toHaveLength(1);
    expect(await moves(t)).toEqual(["start: checking", "fail: failed", "recover: checking"]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a person's recovery needs no budget, and can be sent for later", async () => {
    await using t = await open();
    for (const isLast of [false, false, true]) {
      await failStep(t);
      if (!isLast) await t.pawl.send(claim, "c", "recover");
    }
    expect(await t.pawl.deadLetters.list({ lifecycle: claim })).toMatchObject([{ reason: "recovery_exhausted" }]);
    await t.pawl.send(claim, "c", "recover", { after: "1d", actor: "ada", reason: "they are back on Monday" });
    await t.advance("1d");
    expect((await t.pawl.journal(claim, "c")).at(-1)).toMatchObject({
      event: "recover",
      actor: "ada",
      source: "timer",
    });
    expect(await t.pawl.deadLetters.list({ lifecycle: claim })).toEqual([]);
    await failStep(t);
    expect(await t.pawl.deadLetters.list({ lifecycle: claim })).toMatchObject([{ details: { failures: 4 } }]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("two processes count the same failures", async () => {
    await using t = await open();
    await using other = await openSecondProcess(t, [claim]);
    await failStep(t);
    await other.pawl.send(claim, "c", "recover");
    await failStep(other);
    await t.pawl.send(claim, "c", "recover");
    await failStep(t);
    expect(await other.pawl.deadLetters.list({ lifecycle: claim })).toMatchObject([{ reason: "recovery_exhausted" }]);
  });

  test("a budget may be for each state, or for all of its life", async () => {
    const make = <S extends "state" | "lifetime">(scope: S) =>
      lifecycle(`by_${scope}`, {
        initial: "a",
        recovery: { maxFailures: 2, after: "1m", scope },
        states: {
          a: { run: async () => {}, retry: once, on: { x: "b" } },
          b: { run: async () => {}, retry: once, on: { y: "c" } },
          c: { final: "success" },
        },
      });
    const [byState, byLife] = [make("state"), make("lifetime")];
    await using t = await store.open({ lifecycles: [byState, byLife] });
    await t.pawl.start(byState, { key: "k" });
    await (await t.claim("by_state/a")).fail(new Error("1"));
    await t.pawl.send(byState, "k", "recover");
    await (await t.claim("by_state/a")).report("x");
    await (await t.claim("by_state/b")).fail(new Error("2"));
    await t.advance("1m");
    await (await t.claim("by_state/failed")).run();
    await (await t.claim("by_state/b")).fail(new Error("3"));
    expect(await t.pawl.deadLetters.list({ lifecycle: byState })).toMatchObject([
      { origin: "b", details: { failures: 2 } },
    ]);

    await t.pawl.start(byLife, { key: "k" });
    await (await t.claim("by_lifetime/a")).fail(new Error("1"));
    await t.pawl.send(byLife, "k", "restart");
    await (await t.claim("by_lifetime/a")).fail(new Error("2"));
    expect(await t.pawl.deadLetters.list({ lifecycle: byLife })).toMatchObject([{ details: { failures: 2 } }]);
  });

  test("what fails without a recovery declared waits for a person, whichever way it failed", async () => {
    const plain = lifecycle("plain", {
      initial: "a",
      states: {
        a: { forever: true, on: { x: "b", sink: "failed" } },
        b: { run: async () => {}, retry: once, on: { y: "c" } },
        c: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [plain] });
    await t.pawl.start(plain, { key: "called" });
    await t.pawl.send(plain, "called", "fail", { reason: "by hand" });
    await t.pawl.start(plain, { key: "sunk" });
    await t.pawl.send(plain, "sunk", "sink", { reason: "leaky" });
    await t.pawl.start(plain, { key: "thrown" });
    await t.pawl.send(plain, "thrown", "x");
    await (await t.claim("plain/b")).fail(new Error("no"));
    expect(
      (await t.pawl.deadLetters.list({ lifecycle: plain })).map((letter) => [letter.origin, letter.reason]),
    ).toEqual([
      ["b", "attempts_used_up"],
      ["a", "leaky"],
      ["a", "by hand"],
    ]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
    await t.pawl.send(plain, "called", "recover");
    await t.pawl.send(plain, "sunk", "discard");
    expect(await t.pawl.deadLetters.list({ lifecycle: plain })).toHaveLength(1);
  });

  test("a state's own way out of a failure is no failure of the instance; a dead letter comes with it where it says so", async () => {
    const graded = lifecycle("graded", {
      initial: "grading",
      recovery: {},
      states: {
        grading: {
          run: async () => {},
          retry: once,
          on: {
            done: "done",
            fail: [
              {
                to: "reviewing",
                deadLetter: true,
                guard: ({ payload }) => payload.error?.name === "Doubt" || "no doubt",
              },
              { to: "backup", guard: ({ payload }) => payload.error?.name === "Outage" || "no outage" },
            ],
          },
        },
        reviewing: { forever: true, on: { reviewed: "done" }, recoverWith: "reviewed" },
        backup: { run: async () => {}, on: { done: "done" } },
        done: { final: "success" },
      },
    });
    const named = (name: string) => Object.assign(new Error("hm"), { name });
    await using t = await store.open({ lifecycles: [graded] });
    for (const name of ["Doubt", "Outage", "Other"]) {
      await t.pawl.start(graded, { key: name });
      await (await t.claim("graded/grading")).fail(named(name));
    }
    const states = await Promise.all(["Doubt", "Outage", "Other"].map((key) => t.pawl.get(graded, key)));
    expect(states.map((one) => one!.state)).toEqual(["reviewing", "backup", "failed"]);
    expect(await t.pawl.deadLetters.list({ lifecycle: graded })).toMatchObject([
      { origin: "grading", error: { name: "Doubt" } },
    ]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  const timed = lifecycle("timed", {
    initial: "grading",
    deadline: { within: "20m" },
    recovery: { after: "10m" },
    states: {
      grading: { run: async () => {}, retry: { maxAttempts: 9, backoff: constant("4m") }, on: { done: "done" } },
      done: { final: "success" },
    },
  });

  test("a recovery that would come at the deadline or later is given up early, and one that the deadline failed is", async () => {
    await using t = await store.open({ lifecycles: [timed] });
    await t.pawl.start(timed, { key: "early" });
    await t.pawl.start(timed, { key: "late" });
    await t.pawl.send(timed, "early", "fail");
    await t.advance("10m");
    await t.work();
    expect(await t.pawl.get(timed, "early")).toMatchObject({ state: "done" });
    expect(await t.pawl.get(timed, "late")).toMatchObject({ state: "done" });
    await t.pawl.start(timed, { key: "exact" });
    await t.advance("10m");
    await t.pawl.send(timed, "exact", "fail");
    expect(await t.pawl.deadLetters.list({ lifecycle: timed })).toMatchObject([
      { reason: "deadline", payload: { reason: "failed" } },
    ]);
    await t.pawl.start(timed, { key: "over" });
    await t.advance("20m");
    expect(await t.pawl.deadLetters.list({ lifecycle: timed })).toMatchObject([
      { reason: "deadline", payload: { reason: "deadline" } },
      { reason: "deadline" },
    ]);
    await t.advance("1d");
    expect(await t.work()).toBe(0);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a recovery that was scheduled in time and found no worker before the deadline is given up", async () => {
    const ran: string[] = [];
    const resetting = lifecycle("resetting", {
      initial: "fetching",
      deadline: { within: "20m" },
      recovery: { after: "10m", reset: { before: "grading", run: async ({ key }) => void ran.push(key!) } },
      states: {
        fetching: { run: async () => {}, on: { fetched: "grading" } },
        grading: { run: async () => {}, checkpoint: "fetching", on: { done: "done" } },
        done: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [timed, resetting] });
    for (const key of ["unserved", "asked"]) {
      await t.pawl.start(resetting, { key });
      await (await t.claim("resetting/fetching")).run();
      await t.pawl.send(resetting, key, "fail");
    }
    await t.advance("20m");
    expect(await t.pawl.get(resetting, "unserved")).toMatchObject({ failure: { reason: "failed" }, timedOutAt: null });
    await t.pawl.send(resetting, "asked", "recover", { actor: "grace" });
    await t.work();
    expect(await t.pawl.get(resetting, "unserved")).toMatchObject({ state: "failed", failure: { reason: "failed" } });
    expect(ran).toEqual(["asked"]);
    expect(await t.pawl.deadLetters.list()).toMatchObject([{ kind: "instance", reason: "deadline" }]);
    expect((await t.pawl.explain(resetting, "unserved")).stuck).toMatchObject({ reason: "dead_letter" });
    // A person's recovery is made, in new time.
    const asked = (await t.pawl.get(resetting, "asked"))!;
    expect(asked).toMatchObject({ state: "done" });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("what failed before its deadline and goes on after it has new time, and does not wait without an end", async () => {
    const waiting = lifecycle("waiting", {
      initial: "asking",
      deadline: { within: "20m" },
      recovery: { maxFailures: 1 },
      states: { asking: { on: { answered: "done" } }, done: { final: "success" } },
    });
    await using t = await store.open({ lifecycles: [waiting] });
    await t.pawl.start(waiting, { key: "w" });
    await t.pawl.send(waiting, "w", "fail");
    await t.advance("30m");
    await t.pawl.send(waiting, "w", "recover", { actor: "grace" });
    const again = (await t.pawl.get(waiting, "w"))!;
    expect(again).toMatchObject({ state: "asking", deadlineAt: new Date(t.now().getTime() + 20 * 60_000) });
    await t.advance("20m");
    expect(await t.pawl.get(waiting, "w")).toMatchObject({ state: "failed", failure: { reason: "deadline" } });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a retry that would come at the deadline or later is given up early, also when the service names the time", async () => {
    await using t = await store.open({ lifecycles: [timed] });
    await t.pawl.start(timed, { key: "k" });
    for (const _ of [1, 2, 3, 4]) {
      await (await t.claim("timed/grading")).fail(new Error("busy"));
      expect(await t.pawl.get(timed, "k")).toMatchObject({ state: "grading" });
      await t.advance("4m");
    }
    await (await t.claim("timed/grading")).fail(new Error("busy")); // its next would come just at the deadline
    expect((await t.pawl.journal(timed, "k")).at(-1)).toMatchObject({ event: "fail", payload: { reason: "deadline" } });
    await t.pawl.start(timed, { key: "told" });
    await (await t.claim("timed/grading")).fail(new TransientError("busy", { retryAfterMs: 3_600_000 }));
    expect(await t.pawl.get(timed, "told")).toMatchObject({ state: "failed" });
  });

  test("a parent waits for a failed child as long as that is to be recovered, and hears when it is given up", async () => {
    const piece = lifecycle("piece", {
      data: z.object({ broken: z.boolean() }),
      initial: "cutting",
      recovery: { maxFailures: 2, after: "10m", onlyPermitted: true },
      states: {
        cutting: { run: async () => {}, retry: once, on: { cut: "drying" } },
        drying: {
          forever: true,
          on: { dried: { to: "done", guard: ({ data }) => !data.broken || "it is broken" } },
        },
        done: { final: "success" },
      },
    });
    const table = lifecycle("table", {
      initial: "planning",
      recovery: { maxFailures: 2, after: "10m" },
      states: {
        planning: {
          run: (step) => {
            step.start(piece, { key: "good", data: { broken: false } });
            step.start(piece, { key: "bad", data: { broken: true } });
          },
          on: { planned: "waiting" },
        },
        waiting: { join: { failed: "fail" }, on: { joined: "built" } },
        built: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [table, piece] });
    await t.pawl.start(table, { key: "t" });
    await (await t.claim("table/planning")).run();
    const { first } = await t.pawl.children(table, "t");
    const [good, bad] = first.map(({ id }) => ({ id }));
    const parent = async () => (await t.pawl.get(table, "t"))!.state;
    for (const _ of [good, bad]) await (await t.claim("piece/cutting")).report("cut");
    for (const child of [good!, bad!]) await t.pawl.send(piece, child, "fail");
    await t.work();
    expect(await parent()).toBe("waiting"); // Both are failed, and to be recovered.
    await t.advance("10m");
    await t.work();
    expect(await t.pawl.get(piece, good!)).toMatchObject({ state: "done" });
    expect(await t.pawl.deadLetters.list({ lifecycle: piece })).toEqual([]); // Its parent deals with it.
    expect(await t.pawl.get(piece, bad!)).toMatchObject({ state: "failed" });
    expect((await t.pawl.journal(table, "t")).at(-1)).toMatchObject({ event: "fail", from: "waiting", to: "failed" });
    expect(await t.pawl.inspect.verify()).toEqual([]);
    // Its own recovery looks at the children again, and finds one that is given up.
    await t.advance("10m");
    await t.work();
    expect(await t.pawl.deadLetters.list({ lifecycle: table })).toMatchObject([
      { reason: "recovery_exhausted", origin: "waiting" },
    ]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });
});
