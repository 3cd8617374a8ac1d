import { lifecycle, PawlError, type Step } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import type { TestPawl } from "../../../src/testing/test-pawl.ts";
import { eachStore } from "../../support/each-store.ts";
import { attemptWith, note, plan, solve } from "../../support/family.ts";

const attempt = attemptWith("fail");
const gone = () => Promise.reject(new PawlError("database_unreachable", "It is gone."));

/** Takes everything that is sent to it, and keeps it in its order. */
const box = lifecycle("box", {
  data: z.object({ held: z.array(z.string()).default([]) }),
  events: { put: z.object({ what: z.string() }) },
  initial: "open",
  states: {
    open: {
      forever: true,
      on: { put: { set: ({ data, payload }) => ({ held: [...data.held, payload.what] }) }, shut: "closed" },
    },
    closed: { final: "success" },
  },
});

/** The same, with a hook: each event takes a transaction of its own. */
const careful = lifecycle("careful", {
  data: z.object({ held: z.array(z.string()).default([]) }),
  events: { put: z.object({ what: z.string() }) },
  initial: "open",
  states: {
    open: {
      forever: true,
      on: {
        put: { set: ({ data, payload }) => ({ held: [...data.held, payload.what] }), before: () => {} },
        shut: "closed",
      },
    },
    closed: { final: "success" },
  },
});

/** Sends what a test wants it to. */
const sender: { say: (step: Pick<Step, "send" | "start">) => unknown } = { say: () => {} };
const writer = lifecycle("writer", {
  initial: "writing",
  states: {
    writing: {
      run: (step) => sender.say(step) as undefined,
      on: { written: "rests" },
      retry: { maxAttempts: 2, backoff: () => 0 },
    },
    rests: {
      forever: true,
      on: { again: "writing", nudge: { after: (effect) => sender.say(effect) }, finish: "done" },
    },
    done: { final: "success" },
  },
});

eachStore((store) => {
  async function open(say: typeof sender.say): Promise<TestPawl> {
    sender.say = say;
    const t = await store.open({ lifecycles: [writer, box, careful] });
    await t.pawl.start(box, { key: "b", data: {} });
    await t.pawl.start(writer, { key: "w" });
    return t;
  }

  const held = async (t: TestPawl, key = "b") => (await t.pawl.get(box, key))!.data.held;

  test("what a step sends arrives with its outcome, once and in its order, and tells who sent it", async () => {
    await using t = await open((step) => {
      for (const what of ["1", "2", "3"]) step.send(box, "b", "put", { what });
    });
    const worker = await t.claim("writer/writing");
    await t.advance("31s");
    await expect(worker.run()).rejects.toMatchObject({ code: "lease_lost" });
    await t.work();
    expect(await held(t)).toEqual(["1", "2", "3"]);
    expect((await t.pawl.journal(box, "b")).slice(1)).toMatchObject(
      ["1", "2", "3"].map((what) => ({
        event: "put",
        source: "pawl",
        actor: `writer:${worker.id}`,
        payload: { what },
      })),
    );
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("an event may be sent for later: it is delivered once and applied when its time comes", async () => {
    await using t = await open((step) => {
      step.send(box, "b", "put", { what: "late" }, { after: "10m" });
      step.send(box, "b", "put", { what: "now" });
      step.send(box, "b", "shut", { after: "20m" });
    });
    await (await t.claim("writer/writing")).run();
    const dead = await t.claim("box:send");
    t.faults.plant("report.delivered", gone);
    await expect(dead.run()).rejects.toMatchObject({ code: "database_unreachable" });
    await t.advance("31s");
    await t.work();
    expect(await held(t)).toEqual(["now"]);
    expect((await t.pawl.explain(box, "b")).waitingFor).toMatchObject([
      { kind: "events" },
      { kind: "delayed_event", event: "put" },
      { kind: "delayed_event", event: "shut" },
    ]);
    await t.advance("10m");
    expect(await held(t)).toEqual(["now", "late"]);
    await t.advance("10m");
    expect((await t.pawl.get(box, "b"))!.outcome).toBe("success");
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("an event for later that is refused when its time comes is noted in the history of its receiver", async () => {
    await using t = await open((step) => step.send(box, "b", "put", { what: "late" }, { after: "10m" }));
    await t.work();
    await t.pawl.send(box, "b", "shut");
    await t.advance("10m");
    expect(await held(t)).toEqual([]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("options of a send are checked when it is asked for", async () => {
    const refused: unknown[] = [];
    await using t = await open((step) => {
      const send = step.send as (...given: unknown[]) => void;
      for (const options of [{ afer: "1m" }, { after: "soon" }, "10m", 5]) {
        try {
          send(box, "b", "shut", options);
        } catch (error) {
          refused.push((error as PawlError).message);
        }
      }
    });
    await t.work();
    expect(refused).toEqual([
      "Unknown option `afer` for `step.send`. Did you mean `after`?",
      expect.stringMatching(/^step\.send of `shut`: after: "soon" is not a duration/),
      "`step.send` takes an object with `after`.",
      "`step.send` takes an object with `after`.",
    ]);
    expect((await t.pawl.get(box, "b"))!.state).toBe("open");
  });

  test("what cannot be sent now holds up what comes after it for the same instance, and nothing else", async () => {
    await using t = await open((step) => {
      for (const what of ["1", "2", "3"]) step.send(careful, "c", "put", { what });
      step.send(careful, "d", "put", { what: "4" });
    });
    for (const key of ["c", "d"]) await t.pawl.start(careful, { key, data: {} });
    const kept = async (key: string) => (await t.pawl.get(careful, key))!.data.held;
    t.faults.plant("transaction.locked", () => Promise.reject(new PawlError("database_refused", "No.")));
    await t.work();
    expect([await kept("c"), await kept("d")]).toEqual([[], ["4"]]);
    await t.advance("1h");
    await t.work();
    expect([await kept("c"), await kept("d")]).toEqual([["1", "2", "3"], ["4"]]);
  });

  test("an attempt that fails has sent nothing", async () => {
    let fails = true;
    await using t = await open((step) => {
      step.send(box, "b", "put", { what: "x" });
      if (fails) throw new Error("after the send");
    });
    await t.work();
    expect(await held(t)).toEqual([]);
    fails = false;
    await t.advance("1s");
    await t.work();
    expect(await held(t)).toEqual(["x"]);
  });

  test("a delivery arrives once, however often and by however many it is begun", async () => {
    await using t = await open((step) => step.send(box, "b", "put", { what: "x" }));
    await (await t.claim("writer/writing")).run();
    const dead = await t.claim("box:send");
    t.faults.plant("report.delivered", gone);
    await expect(dead.run()).rejects.toMatchObject({ code: "database_unreachable" });
    expect(await held(t)).toEqual(["x"]);
    await t.advance("31s");
    const slow = await t.claim("box:send");
    await t.advance("31s");
    await t.work();
    await expect(slow.run()).rejects.toMatchObject({ code: "lease_lost" });
    await expect(dead.run()).rejects.toMatchObject({ code: "lease_lost" });
    expect(await held(t)).toEqual(["x"]);
    expect(await t.pawl.journal(box, "b")).toHaveLength(2);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("two workers that bring the same letter at the same time move the instance once", async () => {
    await using t = await open((step) => step.send(box, "b", "put", { what: "x" }));
    await (await t.claim("writer/writing")).run();
    const slow = await t.claim("box:send");
    t.faults.plant("commit.before", async () => {
      await t.advance("31s");
      await t.work();
    });
    await expect(slow.run()).rejects.toMatchObject({ code: "lease_lost" });
    expect(await held(t)).toEqual(["x"]);
  });

  test("a refusal is kept in both histories, with its blockers, and keeps nobody else from his letter", async () => {
    await using t = await open((step) => {
      step.send(box, "shut", "put", { what: "x" });
      step.send(box, "b", "put", { what: "y" });
    });
    const shut = await t.pawl.start(box, { key: "shut", data: {} });
    await t.pawl.send(box, "shut", "shut");
    await t.work();
    expect(await held(t)).toEqual(["y"]);
    const blockers = [{ kind: "closed", event: "put", from: "closed", reason: "it has ended in `closed`" }];
    const refusals = async (of: typeof box | typeof writer, key: string) =>
      (await t.pawl.history(of, key)).filter((one) => one.kind === "attempt" && one.what === "refused");
    expect(await refusals(box, "shut")).toMatchObject([
      { detail: { event: "put", from: { lifecycle: "writer" }, blockers } },
    ]);
    expect(await refusals(writer, "w")).toMatchObject([
      { lane: "box@1:send", detail: { refused: [{ event: "put", instance: shut.id, blockers }] } },
    ]);
    expect(await t.pawl.deadLetters.list({ lifecycle: writer })).toEqual([]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a letter to an instance that is not there is a dead letter, and the others arrive", async () => {
    const nobody = "01890000-0000-7000-8000-000000000000";
    await using t = await open((step) => {
      step.send(box, "nowhere", "put", { what: "1" });
      step.send(box, { id: nobody }, "put", { what: "2" });
      step.send(box, { child: "none" }, "put", { what: "3" });
      step.send(box, "b", "put", { what: "4" });
    });
    await t.work();
    expect(await held(t)).toEqual(["4"]);
    const [letter, ...others] = await t.pawl.deadLetters.list({ lifecycle: writer });
    expect(others).toEqual([]);
    expect(letter).toMatchObject({ kind: "effect", origin: "box@1:send", reason: "instance_unknown", attempts: 1 });
    expect((letter!.payload as { to: unknown }[]).map((one) => one.to)).toEqual([
      { child: "none" },
      { key: "nowhere" },
      { id: nobody },
    ]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("what a receiver's own code refuses is tried again, and then given up; what has arrived does not arrive again", async () => {
    const picky = lifecycle("picky", {
      initial: "waits",
      states: {
        waits: { forever: true, on: { poke: { before: () => Promise.reject(new Error("not today")) }, stop: "done" } },
        done: { final: "success" },
      },
    });
    sender.say = (step) => {
      step.send(picky, "p", "poke");
      step.send(picky, "q", "stop");
    };
    await using t = await store.open({ lifecycles: [writer, box, picky] });
    await t.pawl.startMany(picky, [{ key: "p" }, { key: "q" }]);
    await t.pawl.start(writer, { key: "w" });
    for (let attempt = 1; attempt <= 4; attempt++) {
      await t.work();
      expect(await t.pawl.deadLetters.list({ lifecycle: writer })).toHaveLength(attempt === 4 ? 1 : 0);
      await t.advance("1m");
    }
    expect(await t.pawl.deadLetters.list({ lifecycle: writer })).toMatchObject([
      { reason: "hook_failed", attempts: 4, payload: [{ event: "poke" }] },
    ]);
    expect(await t.pawl.journal(picky, "q")).toHaveLength(2);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("an after-effect sends once it is carried out, and not when its lease was lost", async () => {
    await using t = await open(() => {});
    await t.work();
    sender.say = (effect) => effect.send(box, "b", "put", { what: "e" });
    await t.pawl.send(writer, "w", "nudge");
    const slow = await t.claim("writer:after");
    await t.advance("31s");
    await expect(slow.run()).rejects.toMatchObject({ code: "lease_lost" });
    expect(await held(t)).toEqual([]);
    await t.work();
    expect(await held(t)).toEqual(["e"]);
  });

  test("children get letters by the keys that they were started with, also in the same step", async () => {
    await using t = await open((step) => {
      step.start(box, { key: "mine", data: {} });
      step.send(box, { child: "mine" }, "put", { what: "x" });
    });
    await t.work();
    const { first } = await t.pawl.children(writer, "w");
    expect(first).toMatchObject([{ key: "mine", data: { held: ["x"] } }]);
  });

  test("letters to many are few tasks and few commits", async () => {
    await using t = await open((step) => {
      for (let place = 0; place < 600; place++) step.send(box, `b${place}`, "put", { what: "x" });
    });
    await t.pawl.startMany(
      box,
      Array.from({ length: 600 }, (_, place) => ({ key: `b${place}`, data: {} })),
    );
    await (await t.claim("writer/writing")).run();
    const { rows } = await t.pawl.transaction((tx) => tx.query("select id from pawl.tasks where lane = 'box@1:send'"));
    expect(rows).toHaveLength(2);
    const before = t.faults.visits("commit.before");
    await t.work();
    expect(t.faults.visits("commit.before") - before).toBe(2);
    expect(await held(t, "b599")).toEqual(["x"]);
  });

  test("a send with bad input is an attempt that failed, and sends nothing", async () => {
    const bad: Record<string, [(step: Pick<Step, "send">) => unknown, string]> = {
      "an unknown lifecycle": [(step) => step.send(solve, "b", "resubmit"), "not among the `lifecycles`"],
      "an unknown event": [(step) => step.send(box, "b", "putt" as never), "no event `putt`"],
      "no payload": [(step) => step.send(box, "b", "put", undefined as never), "its payload"],
      "a payload that cannot be stored": [
        (step) => step.send(box, "b", "put", { what: "\ud800" }),
        "The payload of `put`",
      ],
      "no instance": [
        (step) => step.send(box, undefined as never, "put", { what: "x" }),
        "Name the instance by its key",
      ],
      "an id that is none": [(step) => step.send(box, { id: "b" }, "put", { what: "x" }), "not an instance's id"],
      "a child's key that is too long": [
        (step) => step.send(box, { child: "k".repeat(501) }, "put", { what: "x" }),
        "The key of a child must be",
      ],
    };
    await using t = await open(() => {});
    await t.work();
    for (const [what, [say, message]] of Object.entries(bad)) {
      const { id } = await t.pawl.start(writer, {});
      sender.say = (step) => {
        step.send(box, "b", "put", { what });
        return say(step);
      };
      await t.work();
      expect((await t.pawl.history(writer, { id })).at(-1), what).toMatchObject({
        what: "failed",
        detail: { error: { message: expect.stringContaining(message) } },
      });
    }
    expect(await held(t)).toEqual([]);
  });

  test("a join waits for what its parent has sent: a child that was told to try again is not counted as failed", async () => {
    await using t = await store.open({ lifecycles: [attempt, solve, note] });
    plan.during = undefined;
    await t.pawl.start(attempt, { key: "a", data: { questions: ["q1"] } });
    await t.work();
    const { first } = await t.pawl.children(attempt, "a");
    await t.pawl.send(solve, { id: first[0]!.id }, "fail");
    await t.work();
    expect(await t.pawl.get(attempt, "a")).toMatchObject({ state: "failed" });
    plan.during = (step) => step.send(solve, { child: "q1" }, "resubmit");
    await t.pawl.send(attempt, "a", "recover");
    await (await t.claim("attempt/preparing")).run();
    await t.maintain();
    expect(await t.pawl.get(attempt, "a")).toMatchObject({ state: "solving" });
    expect(await t.pawl.inspect.verify()).toEqual([]);
    await t.work();
    expect(await t.pawl.get(attempt, "a")).toMatchObject({ state: "solving" });
    await t.pawl.send(solve, { id: first[0]!.id }, "verdict", { score: 1 });
    await t.work();
    expect(await t.pawl.get(attempt, "a")).toMatchObject({ state: "solved" });
  });
});
