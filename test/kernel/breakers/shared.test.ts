import { once } from "node:events";
import { lifecycle } from "pawl";
import { describe, expect, test } from "vitest";
import { advanceBreakers, writeCalls } from "../../../src/kernel/breakers/breakers.ts";
import { makeKernel } from "../../../src/kernel/kernel.ts";
import { claimFromLanes } from "../../../src/kernel/tasks/claim.ts";
import { report } from "../../../src/kernel/tasks/report.ts";
import type { ClaimedTask } from "../../../src/kernel/types/claimed-task.ts";
import { sql } from "../../../src/store/port/db.ts";
import type { TestPawl } from "../../../src/testing/test-pawl.ts";
import { testPawl } from "../../../src/testing/test-pawl.ts";
import { Claimer } from "../../../src/worker/claimer.ts";
import { freshMs, Lanes } from "../../../src/worker/lanes.ts";
import { run } from "../../../src/worker/steps/run.ts";
import { eachStore } from "../../support/each-store.ts";
import { essay, grade, llm, some, speech, steps } from "../../support/essay.ts";
import { openSecondProcess } from "../../support/second-process.ts";

const breakers = { llm: { minimum: 3, probes: 2 } };
const lane = "essay@1/grading";

/** A process of its own, as far as breakers go: it knows only what it has read itself. */
function processOn(t: TestPawl, number: number) {
  const { db, clock, telemetry, lifecycles } = t.kernel;
  const kernel = makeKernel({ db, clock, telemetry, lifecycles: [...lifecycles.values()], breakers });
  const lanes = new Lanes(kernel);
  const claims = new Claimer(kernel, lanes, { worker: `worker-${number}`, leaseMs: 30_000 });
  return {
    kernel,
    /** Looks afresh, and claims. */
    async take(room: number): Promise<ClaimedTask[]> {
      await lanes.read();
      return claims.claim(room);
    },
    async work(tasks: readonly ClaimedTask[]): Promise<void> {
      const abort = new AbortController();
      const outcomes = await Promise.all(tasks.map((one) => run(kernel, one, { abort, log: () => {} })));
      await report(
        kernel,
        tasks.map((one, index) => ({ task: one, outcome: outcomes[index]! })),
      );
    },
  };
}

const server = process.env.PAWL_TEST_POSTGRES_URL;

describe.skipIf(server === undefined)("fifty processes and one dependency that is away", () => {
  test("never have more than one probe out, spend no attempt while it is open, and do all of it once it is back", async () => {
    await using t = await testPawl({ lifecycles: [essay], breakers, server });
    await t.pawl.startMany(essay, some(120, {}));
    let isAway = true;
    let inFlight = 0;
    let most = 0;
    steps.grade = async () => {
      most = Math.max(most, ++inFlight);
      await new Promise(setImmediate);
      inFlight -= 1;
      if (isAway) throw new Error("no answer");
    };
    const processes = some(50, t).map(processOn);
    const round = async (room: number) => {
      const all = await Promise.all(processes.map(async (one) => ({ one, tasks: await one.take(room) })));
      most = 0;
      await Promise.all(all.map(({ one, tasks }) => one.work(tasks)));
      await Promise.all(processes.map(({ kernel }) => writeCalls(kernel)));
      return all.reduce((sum, { tasks }) => sum + tasks.length, 0);
    };
    expect(await round(1)).toBe(50);
    expect(await llm(t)).toMatchObject({ state: "open" });
    expect(await t.pawl.breakers.history("llm")).toHaveLength(1); // Many saw it, and one flipped it.
    const attempts = sql`select sum(attempt)::float8 as spent from pawl.tasks`;
    const spent = await t.db.rows(attempts);
    for (let turn = 0; turn < 3; turn++) {
      expect(await round(5)).toBe(0);
      await t.advance("9s");
    }
    expect(await t.db.rows(attempts)).toEqual(spent);
    for (let turn = 0; turn < 2; turn++) {
      await t.advance("31s");
      expect(await round(5)).toBe(1); // One probe, which fails.
      expect([most, (await llm(t)).state]).toEqual([1, "open"]);
      expect(await round(5)).toBe(0);
    }
    isAway = false;
    await t.advance("31s");
    expect([await round(5), most]).toEqual([1, 1]);
    expect([await round(5), most, (await llm(t)).state]).toEqual([1, 1, "closed"]);
    for (let turn = 0; turn < 4; turn++) {
      const begun = await round(5); // What has healed is not flooded.
      expect(begun).toBeGreaterThan(0);
      expect(begun).toBeLessThanOrEqual(2 * 2 ** turn);
      await t.advance("1s");
    }
    await t.advance("10s");
    while ((await round(5)) > 0);
    expect(await t.pawl.inspect.counts(essay)).toEqual({ done: 120 });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  }, 60_000);
});

eachStore((store) => {
  const open = async (essays = 12) => {
    steps.grade = () => {};
    steps.listen = () => {};
    const t = await store.open({ lifecycles: [essay, speech], breakers });
    await t.pawl.startMany(essay, some(essays, {}));
    return t;
  };
  const halfOpen = async () => {
    const t = await open();
    await grade(t, { failed: 3 });
    await t.advance("30s");
    return t;
  };

  test("what processes count is added up, and a flip is seen by all of them at their next look, within a second", async () => {
    await using t = await open();
    await using other = await openSecondProcess(t, [essay, speech], [], { breakers });
    expect(freshMs).toBeLessThanOrEqual(500);
    const lanes = new Lanes(other.kernel);
    await lanes.read();
    await lanes.refresh();
    await grade(t, { failed: 2 });
    expect(await llm(t)).toMatchObject({ state: "closed" });
    await grade(other, { failed: 1 });
    expect(await llm(other)).toMatchObject({ state: "open", reason: "3 of 3 calls failed." });
    expect(t.kernel.breakers.of("llm").state).toBe("closed"); // Nobody has told it yet.
    await expect(t.claim("essay/grading")).rejects.toThrow("open");
    expect(lanes.mayGrant(lane)).toBe(false);
    await lanes.read();
    await lanes.refresh();
    expect(lanes.freeInTurn()).not.toContain(lane);
    expect(lanes.closed.get(lane)).toMatchObject({ by: "breaker" });
    await t.pawl.breakers.force("llm", "closed", { reason: "it is back" });
    await advanceBreakers(other.kernel);
    expect(other.kernel.breakers.of("llm")).toMatchObject({ state: "closed", forced: "closed" });
  });

  test("a prober that is killed blocks nobody: with its lease its probe is over, and does not count", async () => {
    await using t = await halfOpen();
    const killed = await t.claim("essay/grading");
    await t.advance("29s");
    await expect(t.claim("essay/grading")).rejects.toThrow("half-open");
    await t.advance("1s"); // Its lease lapses, and maintenance gives the task back.
    await (await t.claim("essay/grading")).report("graded");
    await expect(killed.fail(new Error("I was only asleep"))).rejects.toMatchObject({ code: "lease_lost" });
    expect(await llm(t)).toMatchObject({ state: "half_open", probes: { done: 1, good: 1 } });
  });

  test("a process that is killed between the last probe and the flip leaves it to the next one that looks", async () => {
    await using t = await halfOpen();
    await grade(t, { good: 1 });
    await t.db.script("update pawl.breakers set probes_done = 2, probes_good = 2");
    await advanceBreakers(t.kernel);
    expect(await llm(t)).toMatchObject({ state: "closed" });
  });

  test("a call inside a step can be the probe, and beside it all others are refused", async () => {
    await using t = await halfOpen();
    await t.pawl.lanes.pause(essay, { reason: "only calls here" });
    let end = () => {};
    let begun = () => {};
    const runs = new Promise<void>((resolve) => {
      begun = resolve;
    });
    steps.listen = (step) =>
      step.call("llm", () => {
        begun();
        return new Promise<void>((resolve) => {
          end = resolve;
        });
      });
    await t.pawl.startMany(speech, [{ key: "a" }, { key: "b" }]);
    await t.advance("0s");
    const first = (await t.claim("speech/listening")).run();
    await runs;
    await (await t.claim("speech/listening")).run();
    expect((await t.pawl.history(speech, "b")).at(-1)).toMatchObject({
      what: "deferred",
      detail: { reason: "The breaker `llm` is half-open, and its probe is under way." },
    });
    end();
    await first;
    expect(await llm(t)).toMatchObject({ state: "half_open", probes: { done: 1, good: 1, underWay: false } });
    steps.listen = (step) => step.call("llm", () => Promise.reject(new Error("no answer")));
    await t.advance("3s");
    await (await t.claim("speech/listening")).run();
    expect(await llm(t)).toMatchObject({ state: "open" });
  });

  test("a step that calls what its state uses is counted by its calls, and not once more", async () => {
    await using t = await open();
    steps.grade = async (step) => {
      await step.call("llm", async () => {});
      await step.call("llm", () => Promise.reject(new Error("no answer"))).catch(() => {});
    };
    await (await t.claim("essay/grading")).run();
    expect(await llm(t)).toMatchObject({ calls: { good: 1, failed: 1 } });
    await (await t.claim("essay/grading")).run();
    await advanceBreakers(t.kernel);
    await t.pawl.breakers.force("llm", "open", { reason: "x" });
    await t.pawl.breakers.force("llm", null);
    await (await t.claim("essay/grading")).run(); // As a probe: one of its calls failed, though the step did not.
    expect(await llm(t)).toMatchObject({ state: "open", reason: "A probe failed, after 0 that went well." });
  });

  test("a closed breaker costs no statement a call", async () => {
    await using t = await open();
    let statements = 0;
    const { db } = t.kernel;
    const counting = {
      ...db,
      rows: (statement: never) => {
        statements += 1;
        return db.rows(statement);
      },
    };
    const kernel = { ...t.kernel, db: counting as never };
    let spent = 0;
    steps.listen = async (step) => {
      await step.call("stt", async () => {});
      const before = statements;
      for (let call = 0; call < 100; call++) await step.call("stt", async () => {});
      spent = statements - before;
    };
    await t.pawl.start(speech, { key: "s" });
    const lanes = new Lanes(kernel, ["speech"]);
    await lanes.read();
    const [task] = await new Claimer(kernel, lanes, { worker: "w", leaseMs: 30_000 }).claim(1);
    await run(kernel, task!, { abort: new AbortController(), log: () => {} });
    expect(spent).toBe(0);
    await writeCalls(kernel);
    expect((await t.pawl.breakers.list())[1]).toMatchObject({ name: "stt", calls: { good: 101, failed: 0 } });
  });

  test("a step whose state ran out of time is a call that failed", async () => {
    const slow = lifecycle("slow", {
      initial: "asking",
      states: {
        asking: { run: () => {}, uses: "llm", timeout: { after: "10s", send: "fail" }, on: { ok: "done" } },
        done: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [slow], breakers });
    await t.pawl.start(slow, {});
    const asked = await t.claim("slow/asking");
    await t.advance("11s");
    await expect(asked.report("ok")).rejects.toMatchObject({ code: "lease_lost" });
    expect(await llm(t)).toMatchObject({ calls: { good: 0, failed: 1 } });
    const { id } = await t.pawl.start(slow, {});
    const called = await t.claim("slow/asking");
    await t.pawl.send(slow, { id }, "fail", { reason: "an operator" } as never);
    await expect(called.report("ok")).rejects.toMatchObject({ code: "lease_lost" });
    expect(await llm(t)).toMatchObject({ calls: { good: 0, failed: 1 } });
  });

  test("a call that hangs until its step's time runs out has failed; one that is cut off for another reason tells nothing", async () => {
    const hanging = lifecycle("hanging", {
      initial: "asking",
      states: {
        asking: {
          run: (step) =>
            step.call("stt", async (signal) => {
              await once(signal, "abort");
              throw signal.reason;
            }),
          timeout: { after: "10s", send: "fail" },
          on: { ok: "done" },
        },
        done: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [hanging] });
    const { kernel } = t;
    const hang = async (key: string, happens: () => Promise<unknown>) => {
      await t.pawl.start(hanging, { key });
      const claim = { lanes: ["hanging@1/asking"], limit: 1, share: 1, worker: "w", leaseMs: 30_000 };
      const [task] = await claimFromLanes(kernel, claim);
      const abort = new AbortController();
      const outcome = run(kernel, task!, { abort, log: () => {} });
      await happens();
      abort.abort(new Error("it would not count"));
      expect(await report(kernel, [{ task: task!, outcome: await outcome }])).toEqual(["lease_lost"]);
      await writeCalls(kernel);
      return (await t.pawl.breakers.list())[0]?.calls ?? { good: 0, failed: 0 };
    };
    expect(await hang("a", () => t.pawl.send(hanging, "a", "discard"))).toEqual({ good: 0, failed: 0 });
    expect(await hang("b", () => t.advance("10s"))).toEqual({ good: 0, failed: 1 });
  });

  test("a probe keeps to the limit and the rate of its state", async () => {
    const narrow = lifecycle("narrow", {
      initial: "asking",
      states: { asking: { run: () => {}, uses: "llm", limit: 1, on: { ok: "done" } }, done: { final: "success" } },
    });
    await using t = await store.open({ lifecycles: [narrow], breakers });
    await t.pawl.startMany(narrow, some(4, {}));
    const old = await t.claim("narrow/asking");
    await t.pawl.breakers.force("llm", "open", { reason: "x" });
    await t.pawl.breakers.force("llm", null);
    await expect(t.claim("narrow/asking")).rejects.toThrow("limit");
    await old.report("ok");
    await (await t.claim("narrow/asking")).report("ok");
    expect(await llm(t)).toMatchObject({ state: "half_open", probes: { good: 1 } });
  });
});
