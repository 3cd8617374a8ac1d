import fc from "fast-check";
import { type Duration, job, lifecycle } from "pawl";
import { testPawl } from "pawl/testing";
import { expect, test } from "vitest";
import type { TestClock } from "../../src/testing/clock.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { eachStore } from "../support/each-store.ts";
import { metric } from "../support/metric.ts";
import { openSecondProcess } from "../support/second-process.ts";

const outcome = { fails: false };
const email = job("email", {
  retry: { maxAttempts: 1, backoff: () => 0 },
  run: () => {
    if (outcome.fails) throw new Error("no server");
  },
});
const claim = claimKept("30d");

function claimKept(retention: Duration) {
  return lifecycle("claim", {
    initial: "open",
    retention,
    states: {
      open: { forever: true, on: { settle: { to: "settled", after: () => {} }, drop: "settled", work: "working" } },
      working: { run: (step) => step.publish("claim.paid", {}), on: { paid: "settled" } },
      settled: { final: "success" },
    },
  });
}
const family = lifecycle("family", {
  initial: "founding",
  retention: "30d",
  states: {
    founding: {
      run: (step) => {
        for (const key of ["one", "two"]) step.start(email, { key, data: {} });
      },
      on: { founded: "together" },
    },
    together: { forever: true, on: { part: "apart" } },
    apart: { final: "success" },
  },
});
const household = lifecycle("household", {
  initial: "asked",
  states: {
    asked: {
      retry: { maxAttempts: 1, backoff: () => 0 },
      run: () => {
        throw new Error("nobody is at home");
      },
      on: { answered: "done" },
    },
    done: { final: "success" },
  },
});
/** Counts its failed children, and is done. */
const census = lifecycle("census", {
  initial: "starting",
  retention: "30d",
  states: {
    starting: { run: (step) => step.start(household, { key: "h" }), on: { started: "counting" } },
    counting: { join: { failed: "count" }, on: { joined: "counted" } },
    counted: { final: "success" },
  },
});
const record = lifecycle("record", {
  initial: "open",
  states: { open: { forever: true, on: { close: "closed" } }, closed: { final: "success" } },
});

/** How many rows the tables of instances hold. */
async function rowsOf(t: TestPawl): Promise<Record<string, number>> {
  const tables = [
    "instances",
    "journal",
    "attempts",
    "tasks",
    "timers",
    "messages",
    "requests",
    "memos",
    "dead_letters",
  ];
  const rows: Record<string, number> = {};
  for (const table of tables) {
    const [{ count }] = (await t.db.rows({
      text: `select count(*)::int as count from pawl.${table}`,
      name: "",
      values: [],
    })) as [{ count: number }];
    if (count > 0) rows[table] = count;
  }
  return rows;
}

eachStore((store) => {
  const open = () => store.open({ lifecycles: [census, household, email, claim, family, record] });

  test("what has ended goes when its time is over, with all that belongs to it, and not before", async () => {
    await using t = await open();
    outcome.fails = false;
    await t.pawl.enqueueMany(
      email,
      Array.from({ length: 3 }, (_, n) => ({ payload: {}, key: `e${n}` })),
    );
    await t.pawl.start(claim, { key: "c", data: {} });
    await t.pawl.send(claim, "c", "settle", { idempotencyKey: "once" });
    await t.pawl.start(record, { key: "r", data: {} });
    await t.pawl.send(record, "r", "close");
    await t.work();
    await t.advance("6d");
    expect(await t.prune()).toBe(0);
    await t.advance("1d");
    expect(await t.prune()).toBe(3);
    expect(await t.pawl.get(email, "e0")).toBeUndefined();
    expect(await t.pawl.inspect.counts(email)).toEqual({});
    await t.advance("23d");
    expect(await t.prune()).toBe(1);
    await t.advance("3650d");
    expect(await t.prune(), "without `retention` it is kept for ever").toBe(0);
    expect(await t.pawl.get(record, "r")).toMatchObject({ state: "closed" });
    expect(await rowsOf(t)).toEqual({ instances: 1, journal: 2 });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("nothing goes while anything of it is still to be done", async () => {
    await using t = await open();
    outcome.fails = true;
    await t.pawl.enqueue(email, {}, { key: "given-up" });
    await t.work();
    await t.pawl.start(claim, { key: "effect", data: {} });
    await t.pawl.send(claim, "effect", "settle");
    await t.pawl.start(claim, { key: "open", data: {} });
    await t.advance("365d");
    expect(await t.prune()).toBe(0);
    expect(await t.pawl.deadLetters.list({ lifecycle: email })).toHaveLength(1);
    // A person decides, the effect is carried out: now they may go.
    await t.db.script("update pawl.dead_letters set status = 'discarded', decided_at = pawl.now()");
    await t.work();
    await t.advance("1h");
    expect(await t.prune()).toBe(2);
    expect((await t.pawl.list(claim)).map((one) => one.key)).toEqual(["open"]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a message that waits to be sent outlives its instance", async () => {
    await using t = await open();
    await t.pawl.start(claim, { key: "c", data: {} });
    await t.pawl.send(claim, "c", "work");
    await t.work();
    await t.advance("31d");
    expect(await t.prune()).toBe(1);
    expect(await rowsOf(t)).toEqual({ messages: 1 });
    expect(metric(await t.pawl.inspect.metrics(), "pawl_outbox_oldest_pending_seconds")).toBe(31 * 86_400);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a child that has ended stays as long as its parent is open, which counts it", async () => {
    await using t = await open();
    outcome.fails = false;
    await t.pawl.start(family, { key: "f", data: {} });
    await t.work();
    await t.advance("365d");
    expect(await t.prune()).toBe(0);
    expect(await t.pawl.inspect.counts(email)).toEqual({ done: 2 });
    await t.pawl.send(family, "f", "part");
    expect(await t.prune()).toBe(0);
    await t.advance("1h");
    expect(await t.prune(), "its children, which were closed long ago").toBe(2);
    await t.advance("30d");
    expect(await t.prune()).toBe(1);
    expect(await rowsOf(t)).toEqual({});
  });

  test("a failed child that was left to its parent is discarded when the parent goes, and does not stay failed", async () => {
    await using t = await open();
    const { id } = await t.pawl.start(census, { key: "c" });
    await t.work();
    expect(await t.pawl.get(census, "c")).toMatchObject({ state: "counted", outcome: "success" });
    expect(await t.pawl.deadLetters.list()).toEqual([]);
    await t.advance("31d");
    expect(await t.prune()).toBe(1);
    expect(await t.pawl.get(census, { id })).toBeUndefined();
    const [child] = await t.pawl.list(household);
    expect(child).toMatchObject({ state: "discarded", outcome: "discarded", parent: null });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("those that stay hold up nobody behind them", async () => {
    await using t = await open();
    const settle = async (event: "settle" | "drop", count: number) => {
      const made = await t.pawl.startMany(
        claim,
        Array.from({ length: count }, () => ({ data: {} })),
      );
      await t.pawl.sendMany(
        claim,
        made.map(({ id }) => ({ to: { id }, event })),
      );
    };
    await settle("settle", 600); // Each with an effect that nobody carries out.
    await settle("drop", 700);
    await t.advance("31d");
    expect(await t.prune()).toBe(700);
    expect(await t.pawl.inspect.counts(claim)).toEqual({ settled: 600 });
    await t.work();
    await t.advance("1h");
    expect(await t.prune()).toBe(600);
    expect(await rowsOf(t)).toEqual({});
  });

  test("how long is what the process that started last says", async () => {
    await using t = await open();
    await t.pawl.start(claim, { key: "c", data: {} });
    await t.pawl.send(claim, "c", "drop");
    await t.advance("2d");
    expect(await t.prune()).toBe(0);
    const next = await openSecondProcess(t, [claimKept("1d")]);
    await t.advance("1h");
    expect(await t.prune()).toBe(1);
    await next.pawl.close();
  });

  test("processes that prune at the same time never meet, and each instance goes once", async () => {
    await using t = await open();
    outcome.fails = false;
    const others = [
      await openSecondProcess(t, [email, claim, record]),
      await openSecondProcess(t, [email, claim, record]),
    ];
    await t.pawl.enqueueMany(
      email,
      Array.from({ length: 1_200 }, () => ({ payload: {} })),
    );
    for (let left = 1_200; left > 0; ) left -= await t.work();
    await t.advance("7d");
    const removed = await Promise.all([t, ...others].map((one) => one.prune()));
    const later = await t.prune();
    expect(removed.reduce((sum, one) => sum + one, later)).toBe(1_200);
    expect(await rowsOf(t)).toEqual({});
    for (const one of others) await one.pawl.close();
  });

  test("a job that a person restarts while it is about to go stays", async () => {
    await using t = await open();
    outcome.fails = true;
    await t.pawl.enqueue(email, {}, { key: "again" });
    await t.work();
    await t.db.script("update pawl.dead_letters set status = 'discarded', decided_at = pawl.now()");
    await t.advance("8d");
    t.faults.plant("prune.before", async () => void (await t.pawl.send(email, "again", "restart")));
    expect(await t.prune()).toBe(0);
    expect(await t.pawl.get(email, "again")).toMatchObject({ state: "pending" });
  });
});

test("whatever happens, live, ended and pruned instances are all that were ever accepted", async () => {
  const gone = { count: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom("enqueue", "work", "fail", "start", "settle", "prune", "day", "restart"), {
        minLength: 10,
        maxLength: 40,
      }),
      async (acts) => {
        await using t = await testPawl({ lifecycles: [email, claim] });
        const clock = t.kernel.clock as TestClock;
        let [accepted, pruned] = [0, 0];
        const waiting = new Set<string>();
        for (const act of acts) {
          if (act === "enqueue") {
            const many = await t.pawl.enqueueMany(email, [{ payload: {} }, { payload: {} }]);
            for (const { id } of many) waiting.add(id);
            accepted += many.length;
          }
          if (act === "start") {
            waiting.add((await t.pawl.start(claim, { data: {} })).id);
            accepted += 1;
          }
          if (act === "work" || act === "fail") {
            outcome.fails = act === "fail";
            await t.work();
          }
          if (act === "settle") {
            for (const { id } of await t.pawl.list(claim, { state: "open", limit: 1 })) {
              await t.pawl.send(claim, { id }, "settle");
            }
          }
          if (act === "restart") {
            for (const { id } of await t.pawl.list(email, { state: "error", limit: 1 })) {
              await t.pawl.send(email, { id }, "restart");
            }
          }
          if (act === "day") await clock.set(clock.nowMs() + 20 * 86_400_000);
          if (act === "prune") pruned += await t.prune();
          const counts = [
            ...Object.values(await t.pawl.inspect.counts(email)),
            ...Object.values(await t.pawl.inspect.counts(claim)),
          ];
          expect(counts.reduce((sum, one) => sum + one, pruned)).toBe(accepted);
        }
        for (const each of [email, claim] as const) {
          for (const id of waiting) {
            // Whoever is gone had ended: what waits is never deleted.
            const one = await t.pawl.get(each, { id });
            if (one !== undefined) waiting.delete(id);
          }
        }
        expect(waiting.size).toBe(pruned);
        expect(await t.pawl.inspect.verify()).toEqual([]);
        gone.count += pruned;
      },
    ),
    // The first of them prunes for certain.
    { numRuns: 15, examples: [[["enqueue", "work", "start", "settle", "day", "prune"]]] },
  );
  expect(gone.count, "something was pruned").toBeGreaterThan(0);
}, 60_000);
