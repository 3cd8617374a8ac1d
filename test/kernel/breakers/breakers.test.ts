import { CircuitOpenError, PermanentError, TransientError } from "pawl";
import { expect, test } from "vitest";
import { sql } from "../../../src/store/port/db.ts";
import type { TestPawl } from "../../../src/testing/test-pawl.ts";
import { eachStore } from "../../support/each-store.ts";
import { essay, grade, llm, some, speech, steps } from "../../support/essay.ts";

eachStore((store) => {
  const open = async (essays = 30) => {
    steps.grade = () => {};
    steps.listen = () => {};
    const t = await store.open({ lifecycles: [essay, speech] });
    await t.pawl.startMany(essay, some(essays, {}));
    return t;
  };
  /** Ten calls that failed. */
  const opened = async (essays?: number) => {
    const t = await open(essays);
    await grade(t, { failed: 10 });
    expect(await llm(t)).toMatchObject({ state: "open" });
    return t;
  };
  const attempts = async (t: TestPawl) => {
    const rows = await t.db.rows<{ attempt: number }>(sql`select attempt from pawl.tasks order by id`);
    return rows.map((row) => row.attempt);
  };

  test("R80 each dependency has its breaker, which opens when more than half of at least ten calls have failed lately", async () => {
    await using t = await open();
    await t.pawl.start(speech, { key: "s" });
    expect(await t.pawl.breakers.list()).toMatchObject([
      { name: "llm", state: "closed", since: null, usedBy: ["essay/grading"] },
      { name: "stt", state: "closed", usedBy: ["speech/listening"] },
    ]);
    await grade(t, { failed: 9 });
    expect(await llm(t)).toMatchObject({ state: "closed", calls: { good: 0, failed: 9 } }); // Nine are too few.
    await t.advance("61s"); // And these are past.
    await grade(t, { good: 5, failed: 5 });
    expect(await llm(t)).toMatchObject({ state: "closed", calls: { good: 5, failed: 5 } }); // Half is not more than half.
    await grade(t, { failed: 1 });
    expect(await llm(t)).toMatchObject({
      state: "open",
      since: t.now(),
      openUntil: new Date(t.now().getTime() + 30_000),
      reason: "6 of 11 calls failed.",
      calls: { good: 0, failed: 0 },
    });
    expect(await t.work()).toBe(1); // The other dependency's work goes on.
    expect(await t.pawl.get(speech, "s")).toMatchObject({ state: "done" });
  });

  test("R81 an open breaker refuses at once, and after 30 s lets a first probe through", async () => {
    await using t = await opened();
    const before = await attempts(t);
    let called = 0;
    const caught: unknown[] = [];
    steps.listen = async (step) => {
      try {
        await step.call("llm", async () => {
          called += 1;
        });
      } catch (error) {
        caught.push(error);
        throw error;
      }
    };
    await t.pawl.start(speech, { key: "s" });
    await t.advance("10s");
    expect(await t.work()).toBe(1); // The step that calls by itself; nothing of the lane.
    expect(caught).toEqual([expect.any(CircuitOpenError)]);
    expect(caught[0]).toMatchObject({ code: "circuit_open", breaker: "llm", retryAfterMs: 20_000 });
    await expect(t.claim("essay/grading")).rejects.toThrow("The breaker llm is open. 10 of 10 calls failed.");
    const journal = await t.pawl.history(speech, "s");
    expect(journal.at(-1)).toMatchObject({
      what: "deferred",
      detail: { reason: "The breaker `llm` is open. 10 of 10 calls failed." },
    });
    await t.advance("19999ms");
    expect(await t.work()).toBe(0);
    expect(await llm(t)).toMatchObject({ state: "open" });
    expect([called, await attempts(t)]).toEqual([0, [...before, 0]]);
    await t.advance("1ms");
    const probe = await t.claim("essay/grading");
    expect(await llm(t)).toMatchObject({ state: "half_open", since: t.now(), openUntil: null });
    await expect(t.claim("essay/grading")).rejects.toThrow("half-open");
    await probe.release();
  });

  test("a step that calls by itself is the probe where no state that uses the dependency has work", async () => {
    await using t = await opened(10);
    await t.pawl.sendMany(
      essay,
      (await t.pawl.list(essay)).map(({ id }) => ({ to: { id }, event: "discard" as const })),
    );
    steps.listen = (step) => step.call("llm", async () => {});
    await t.pawl.startMany(speech, some(5, {}));
    for (let round = 0; round < 10; round++) {
      await t.advance("30s");
      await t.work();
    }
    expect(await llm(t)).toMatchObject({ state: "closed" });
    expect(await t.pawl.inspect.counts(speech)).toEqual({ done: 5 });
  });

  test("R82 probes go one at a time; when five went well it closes and counts anew, any that fails opens it again", async () => {
    await using t = await opened();
    await t.advance("30s");
    await grade(t, { good: 3 });
    expect(await llm(t)).toMatchObject({ state: "half_open", probes: { done: 3, good: 3, needed: 5 } });
    await grade(t, { failed: 1 });
    expect(await llm(t)).toMatchObject({ state: "open", reason: "A probe failed, after 3 that went well." });
    expect(await t.work()).toBe(0);
    await t.advance("29999ms");
    expect(await t.work()).toBe(0);
    await t.advance("1ms");
    for (let place = 1; place <= 5; place++) {
      const probe = await t.claim("essay/grading");
      await expect(t.claim("essay/grading")).rejects.toThrow("half-open");
      expect(await llm(t)).toMatchObject({ state: "half_open", probes: { done: place - 1, underWay: true } });
      await probe.report("graded");
    }
    expect(await llm(t)).toMatchObject({ state: "closed", since: t.now(), calls: { good: 0, failed: 0 } });
    await grade(t, { failed: 9 });
    expect(await llm(t)).toMatchObject({ state: "closed" }); // Only what came since then counts.
    await grade(t, { failed: 1 });
    expect(await llm(t)).toMatchObject({ state: "open" });
    const causes = (await t.pawl.breakers.history("llm")).map(({ number, from, to, cause, good, failed }) => [
      number,
      `${from} → ${to}`,
      cause,
      good,
      failed,
    ]);
    expect(causes.reverse()).toEqual([
      [1, "closed → open", "failures", 0, 10],
      [2, "open → half_open", "rested", 0, 0],
      [3, "half_open → open", "probe_failed", 3, 1],
      [4, "open → half_open", "rested", 0, 0],
      [5, "half_open → closed", "probes_passed", 5, 0],
      [6, "closed → open", "failures", 0, 10],
    ]);
  });

  test("R68 an open breaker pauses the queue until it closes: no attempt is spent, no order lost, all is done at last", async () => {
    await using t = await opened(40);
    const before = await attempts(t);
    for (let turn = 0; turn < 4; turn++) {
      await t.advance("7s");
      expect(await t.work()).toBe(0);
    }
    expect(await attempts(t)).toEqual(before);
    expect(await t.pawl.lanes.list()).toContainEqual(
      expect.objectContaining({
        lane: "essay@1/grading",
        ready: 40,
        closed: expect.objectContaining({ by: "breaker", reason: "The breaker llm is open. 10 of 10 calls failed." }),
      }),
    );
    const order: string[] = [];
    steps.grade = (step) => void order.push(step.id);
    await t.advance("2s");
    for (let seconds = 0; seconds < 12; seconds++) {
      await t.work();
      await t.advance("1s");
    }
    expect(await t.pawl.inspect.counts(essay)).toEqual({ done: 40 });
    expect(order).toEqual([...order].sort());
  });

  test("a step that is put off keeps its attempt and its place, and is due when the breaker may let it through", async () => {
    await using t = await opened();
    const order: string[] = [];
    steps.listen = (step) => step.call("llm", async () => void order.push(step.key!));
    for (const key of ["a", "b", "c"]) await t.pawl.start(speech, { key });
    expect(await t.work()).toBe(3);
    const { openUntil } = await llm(t);
    const due = sql`select attempt, pawl.ms(due_at) as due from pawl.tasks where lane = 'speech@1/listening'`;
    expect(await t.db.rows(due)).toEqual(some(3, { attempt: 0, due: openUntil!.getTime() }));
    await t.pawl.breakers.force("llm", "closed", { reason: "it is back" });
    await t.advance("30s");
    await t.pawl.lanes.pause(essay, { reason: "not these" });
    expect(await t.work()).toBe(3);
    expect(order).toEqual(["a", "b", "c"]);
  });

  test("a step that catches the refusal goes another way", async () => {
    await using t = await opened();
    steps.listen = async (step) => {
      const heard = await step.call("llm", async () => "by the model").catch((error) => (error as Error).name);
      step.log(heard);
      expect(heard).toBe("CircuitOpenError");
    };
    await t.pawl.start(speech, { key: "s" });
    await t.work();
    expect(await t.pawl.get(speech, "s")).toMatchObject({ state: "done" });
  });

  test("what tells nothing of the dependency does not count: giving up, putting off, permanent errors, lost leases", async () => {
    await using t = await open();
    const claim = () => t.claim("essay/grading");
    await (await claim()).giveUp("no such essay");
    await (await claim()).fail(new PermanentError("it is empty"));
    await (await claim()).retryLater("1h");
    await (await claim()).release();
    const stale = await claim();
    await t.advance("31s");
    await expect(stale.fail(new Error("too late"))).rejects.toMatchObject({ code: "lease_lost" });
    expect(await llm(t)).toMatchObject({ calls: { good: 0, failed: 0 } });
    await (await claim()).fail(new TransientError("busy"));
    await (await claim()).fail("a text");
    await (await claim()).report("graded");
    expect(await llm(t)).toMatchObject({ calls: { good: 1, failed: 2 } });
  });

  test("a probe that tells nothing is over, and the next one comes", async () => {
    await using t = await opened();
    await t.advance("30s");
    await (await t.claim("essay/grading")).giveUp("no such essay");
    await (await t.claim("essay/grading")).fail(new PermanentError("it is empty"));
    await (await t.claim("essay/grading")).release();
    expect(await llm(t)).toMatchObject({ state: "half_open", probes: { done: 0, underWay: false } });
    await grade(t, { good: 5 });
    expect(await llm(t)).toMatchObject({ state: "closed" });
  });

  test("a dependency that asks to be left alone is left alone, up to an hour; also when it asks late, or a probe", async () => {
    await using t = await open();
    const late = await t.claim("essay/grading");
    await (await t.claim("essay/grading")).fail(new TransientError("429", { retryAfterMs: 90_000 }));
    await grade(t, { failed: 9 });
    const openFor = async () => (await llm(t)).openUntil!.getTime() - t.now().getTime();
    expect(await openFor()).toBe(90_000);
    await late.fail(new TransientError("429", { retryAfterMs: 120_000 }));
    expect(await openFor()).toBe(120_000);
    await t.advance("2m");
    await (await t.claim("essay/grading")).fail(new TransientError("429", { retryAfterMs: Number.POSITIVE_INFINITY }));
    expect(await openFor()).toBe(3_600_000);
    expect(await llm(t)).toMatchObject({ state: "open" });
  });

  test("calls that began before it opened do not count after it has closed", async () => {
    await using t = await open();
    let end = () => {};
    const held = new Promise<void>((resolve) => {
      end = resolve;
    });
    steps.grade = async () => {
      await held;
      throw new Error("no answer, after a long time");
    };
    const old = await Promise.all(some(15, "essay/grading").map((lane) => t.claim(lane)));
    const running = old.map((one) => one.run().catch(() => {}));
    await grade(t, { failed: 10 });
    await t.advance("30s");
    await grade(t, { good: 5 });
    end();
    await Promise.all(running);
    expect(await llm(t)).toMatchObject({ state: "closed", calls: { good: 0, failed: 0 } });
  });
});
