import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import { sql } from "../../../src/store/port/db.ts";
import { CapturedLog } from "../../support/captured-log.ts";
import { eachStore } from "../../support/each-store.ts";
import { essay, grade, llm, some, speech, steps } from "../../support/essay.ts";
import { metric } from "../../support/metric.ts";
import { openSecondProcess } from "../../support/second-process.ts";

const breakers = { llm: { minimum: 3, probes: 2, publish: "pawl.breaker" }, quiet: {} } as const;

eachStore((store) => {
  const open = async (logger?: CapturedLog) => {
    steps.grade = () => {};
    steps.listen = () => {};
    const t = await store.open({ lifecycles: [essay, speech], breakers, logger });
    await t.pawl.startMany(essay, some(12, {}));
    return t;
  };

  test("an operator holds a breaker open, in all processes, until it is released; then probes tell whether it may close", async () => {
    await using t = await open();
    await using other = await openSecondProcess(t, [essay, speech], [], { breakers });
    const forced = await t.pawl.breakers.force("llm", "open", { reason: "an outage is announced", actor: "grace" });
    expect(forced).toMatchObject({
      state: "open",
      forced: "open",
      openUntil: null,
      reason: "an outage is announced",
      actor: "grace",
    });
    await t.advance("2h");
    expect(await other.work()).toBe(0);
    expect(await t.pawl.lanes.list()).toContainEqual(
      expect.objectContaining({
        lane: "essay@1/grading",
        closed: {
          by: "breaker",
          since: forced.since,
          reason: "The breaker llm is open. an outage is announced",
          actor: "grace",
        },
      }),
    );
    expect(await t.pawl.breakers.force("llm", null, { actor: "ada" })).toMatchObject({
      state: "half_open",
      forced: null,
    });
    await grade(other, { good: 2 });
    expect(await llm(t)).toMatchObject({ state: "closed", actor: null });
    const causes = (await t.pawl.breakers.history("llm", { limit: 2 })).map(({ cause, actor }) => [cause, actor]);
    expect(causes).toEqual([
      ["probes_passed", null],
      ["released", "ada"],
    ]);
  });

  test("an operator holds a breaker closed, whatever its calls come to, and released it counts anew", async () => {
    await using t = await open();
    await grade(t, { failed: 2 });
    await t.pawl.breakers.force("llm", "closed", { reason: "we know it is slow" });
    await grade(t, { failed: 5 });
    expect(await llm(t)).toMatchObject({ state: "closed", forced: "closed", calls: { failed: 5 } });
    await t.pawl.breakers.force("llm", null);
    expect(await llm(t)).toMatchObject({ state: "closed", forced: null, calls: { failed: 0 } });
    await grade(t, { failed: 2 });
    expect(await llm(t)).toMatchObject({ state: "closed" });
    await grade(t, { failed: 1 });
    expect(await llm(t)).toMatchObject({ state: "open" });
    await t.pawl.breakers.force("llm", "closed", { reason: "it is back" });
    expect(await t.work()).toBeGreaterThan(0); // At once, and without holding back.
    expect(await t.pawl.breakers.force("stt", null)).toMatchObject({ state: "closed" }); // Nothing held it.
    expect(await t.pawl.breakers.history("stt")).toEqual([]);
  });

  test("a force wins over what the breaker would do at the same moment, and an old probe tells nothing any more", async () => {
    await using t = await open();
    await grade(t, { failed: 3 });
    await t.advance("30s");
    const probe = await t.claim("essay/grading");
    await t.pawl.breakers.force("llm", "open", { reason: "not now" });
    await probe.report("graded");
    expect(await llm(t)).toMatchObject({ state: "open", forced: "open", probes: { done: 0 } });
    await Promise.all([
      t.pawl.breakers.force("llm", "closed", { reason: "a" }),
      t.pawl.breakers.force("llm", "open", { reason: "b" }),
      t.pawl.breakers.force("llm", "closed", { reason: "c" }),
    ]);
    expect(await t.pawl.breakers.history("llm")).toMatchObject([
      { number: 6 },
      { number: 5 },
      { number: 4 },
      {},
      {},
      {},
    ]);
  });

  test("every flip is kept and, only where `publish` is set, published, in order, with what led to it", async () => {
    await using t = await open();
    await grade(t, { good: 1, failed: 2 });
    await t.advance("30s");
    await grade(t, { good: 2 });
    await t.pawl.breakers.force("quiet", "open", { reason: "x" });
    const published = await t.db.rows<{ payload: object }>(sql`
      select aggregate_type, aggregate_id, message_type, payload from pawl.messages order by position`);
    const at = (await t.pawl.breakers.history("llm")).map((flip) => flip.at.toISOString());
    const none = { reason: null, actor: null, openUntil: null, good: 0, failed: 0 };
    expect(published.map(({ payload }) => payload)).toEqual([
      {
        ...none,
        breaker: "llm",
        number: 1,
        from: "closed",
        to: "open",
        cause: "failures",
        good: 1,
        failed: 2,
        reason: "2 of 3 calls failed.",
        at: at[2],
        openUntil: at[1],
      },
      { ...none, breaker: "llm", number: 2, from: "open", to: "half_open", cause: "rested", at: at[1] },
      {
        ...none,
        breaker: "llm",
        number: 3,
        from: "half_open",
        to: "closed",
        cause: "probes_passed",
        good: 2,
        at: at[0],
      },
    ]);
    expect(published[0]).toMatchObject({
      aggregate_type: "breaker",
      aggregate_id: "llm",
      message_type: "pawl.breaker",
    });
    expect(await t.pawl.breakers.history("quiet")).toHaveLength(1);
  });

  test("the newest thousand flips of a breaker are kept, and calls as long as they count", async () => {
    await using t = await open();
    await t.pawl.breakers.force("llm", "closed", { reason: "x" });
    await t.db.script(`
      update pawl.breakers set flip = 1500 where name = 'llm';
      insert into pawl.breaker_flips select 'llm', n, 'closed', 'closed', 'forced', 0, 0, null, null, null, pawl.now()
      from generate_series(2, 1500) as n`);
    await t.pawl.breakers.force("llm", null);
    const kept = await t.db.rows(sql`select min(flip) as first, count(*)::int as flips from pawl.breaker_flips`);
    expect(kept).toEqual([{ first: 502, flips: 1000 }]);
    await grade(t, { good: 3 });
    const calls = sql`select sum(good)::int as good from pawl.breaker_counts`;
    expect(await t.db.rows(calls)).toEqual([{ good: 3 }]);
    await t.advance("66s");
    await t.maintain();
    expect(await t.db.rows(calls)).toEqual([{ good: null }]);
  });

  test("metrics tell how breakers stand and how often they flipped, and the log when and why", async () => {
    const log = new CapturedLog();
    await using t = await open(log);
    expect(metric(await t.pawl.inspect.metrics(), 'pawl_breaker_state{breaker="llm"}')).toBeUndefined(); // Nobody has called it.
    await grade(t, { failed: 3 });
    const text = await t.pawl.inspect.metrics();
    expect(metric(text, 'pawl_breaker_state{breaker="llm"}')).toBe(2);
    expect(metric(text, 'pawl_breaker_changes_total{breaker="llm",to="open"}')).toBe(1);
    await t.advance("30s");
    await grade(t, { good: 1 });
    expect(metric(await t.pawl.inspect.metrics(), 'pawl_breaker_state{breaker="llm"}')).toBe(1);
    expect(log.lines).toContainEqual(
      expect.objectContaining({
        level: "warn",
        message: "The breaker llm is open now.",
        fields: expect.objectContaining({ breaker: "llm", cause: "failures", failed: 3 }),
      }),
    );
  });

  test("what cannot be meant is refused, and nothing is written", async () => {
    await using t = await open();
    const invalid = { code: "option_invalid" };
    await expect(t.pawl.breakers.force("lmm", "open", { reason: "x" })).rejects.toMatchObject({
      code: "breaker_unknown",
      message: 'There is no breaker `lmm`. Did you mean "llm"?',
    });
    await expect(t.pawl.breakers.history("lmm")).rejects.toMatchObject({ code: "breaker_unknown" });
    await expect(t.pawl.breakers.force("llm", "open")).rejects.toMatchObject(invalid);
    await expect(t.pawl.breakers.force("llm", "ajar" as never, { reason: "x" })).rejects.toMatchObject(invalid);
    await expect(t.pawl.breakers.force("llm", undefined as never, { reason: "x" })).rejects.toMatchObject(invalid);
    await expect(t.pawl.breakers.force("llm", "open", { reason: "\u0000" })).rejects.toMatchObject(invalid);
    await expect(t.pawl.breakers.force("llm", null, { why: "x" } as never)).rejects.toThrow("Unknown option `why`");
    await expect(t.pawl.breakers.force("", "open", { reason: "x" })).rejects.toMatchObject(invalid);
    await expect(t.pawl.breakers.history("llm", { limit: 0 })).rejects.toMatchObject(invalid);
    expect(await t.db.rows(sql`select name from pawl.breakers`)).toEqual([]);
    await expect(store.open({ lifecycles: [essay], breakers: { llm: { probes: 0 } } })).rejects.toMatchObject(invalid);
    const nameless = lifecycle("nameless", {
      initial: "a",
      states: { a: { run: () => {}, uses: "a\u0000", on: { b: "b" } }, b: { final: "success" } },
    });
    await expect(store.open({ lifecycles: [nameless] })).rejects.toMatchObject(invalid);
    const caught: unknown[] = [];
    steps.listen = async (step) => {
      for (const [name, work] of [["llm"], ["", () => {}], [7, () => {}]] as never[][]) {
        await step.call(name!, work!).catch((error) => caught.push((error as { code: string }).code));
      }
    };
    await t.pawl.start(speech, {});
    await t.work();
    expect(caught).toEqual(["option_invalid", "option_invalid", "option_invalid"]);
  });
});
