import { lifecycle, PawlError, schedule } from "pawl";
import { expect, test } from "vitest";
import type { FaultPoint } from "../../src/kernel/faults.ts";
import { lanesOf } from "../../src/kernel/lanes/lanes.ts";
import { maintain } from "../../src/maintenance/round.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { Worker } from "../../src/worker/worker.ts";
import { eachStore } from "../support/each-store.ts";
import { gateOf } from "../support/gate.ts";

const errand = lifecycle("errand", {
  initial: "running",
  states: { running: { run: () => {}, on: { ran: "done" } }, done: { final: "success" } },
});

const waiting = lifecycle("waiting", {
  initial: "waits",
  states: {
    waits: { timeout: { after: "1m", send: "over" }, on: { over: { to: "done", before: () => held.hook() } } },
    done: { final: "success" },
  },
});

const parent = lifecycle("parent", {
  initial: "joining",
  states: { joining: { join: {}, on: { joined: "done" } }, done: { final: "success" } },
});

const held: { hook: () => unknown } = { hook: () => {} };
const hourly = schedule("hourly", { interval: "1h", start: errand, key: ({ at }) => at });

eachStore((store) => {
  const open = () => store.open({ lifecycles: [errand, waiting, parent], schedules: [hourly] });

  /** Something for every part of a round to do. */
  async function prepare(t: TestPawl): Promise<void> {
    held.hook = () => {};
    await t.maintain();
    await t.pawl.start(errand, { key: "lapsed" });
    await t.claim("errand/running");
    await t.pawl.start(waiting, { key: "due" });
    await t.db.script("update pawl.test_clock set now = now + interval '2 hours'");
    await t.pawl.start(parent, { key: "joins" });
  }

  const parts: [FaultPoint, string][] = [
    ["lapse.read", "reclaim lapsed leases"],
    ["promote.before", "ready scheduled tasks"],
    ["fire.before", "fire timers"],
    ["check.read", "check joins and questions"],
    ["schedule.read", "run schedules"],
  ];

  test.each(parts)("a round that fails at %s does everything else", async (point, part) => {
    await using t = await open();
    await prepare(t);
    t.faults.plant(point, "throw");
    const { failures, lapsed, fired, joined, ticks } = await maintain(t.kernel, await lanesOf(t.kernel));
    expect(failures).toMatchObject([{ id: part, error: { message: expect.stringContaining(`could not ${part}`) } }]);
    const done = { "lapse.read": lapsed, "fire.before": fired, "check.read": joined, "schedule.read": ticks };
    for (const [other, count] of Object.entries(done)) expect(count, other).toBe(other === point ? 0 : 1);
    expect(await maintain(t.kernel, await lanesOf(t.kernel))).toMatchObject({ failures: [] });
  });

  test("a database that cannot be reached ends a round at once", async () => {
    await using t = await open();
    await prepare(t);
    t.faults.plant("lapse.read", () => {
      throw new PawlError("database_unreachable", "The database is away.");
    });
    await expect(maintain(t.kernel, await lanesOf(t.kernel))).rejects.toMatchObject({ code: "database_unreachable" });
    expect(t.faults.visits("check.read")).toBe(0);
  });

  test("a chore that throws is a failure of its own", async () => {
    await using t = await open();
    await prepare(t);
    const chores = [
      { name: "break", round: () => Promise.reject(new Error("broken")) },
      { name: "work", round: () => Promise.resolve([{ id: "one", error: new Error("an item") }]) },
    ];
    const { failures, fired } = await maintain({ ...t.kernel, chores }, await lanesOf(t.kernel));
    expect(failures.map(({ id }) => id)).toEqual(["break", "one"]);
    expect(fired).toBe(1);
  });

  test("a worker runs steps while maintenance fails, and while it does not end", async () => {
    await using t = await open();
    const forever = gateOf();
    const rounds = [() => Promise.reject(new Error("broken")), () => forever.promise.then(() => ({ failures: [] }))];
    for (const [index, round] of rounds.entries()) {
      const failures: unknown[] = [];
      const worker = new Worker(t.kernel, round, { pollInterval: 10, onFailure: (error) => failures.push(error) });
      await t.pawl.start(errand, { key: `e${index}` });
      await t.pawl.wait(errand, `e${index}`, { until: "done" });
      expect(failures).toHaveLength(index === 0 ? 1 : 0);
      forever.resolve();
      await worker.stop();
    }
  });

  test("a worker runs steps while a hook of a due timer does not end", async () => {
    await using t = await open();
    await prepare(t);
    const [begun, goOn] = [gateOf(), gateOf()];
    held.hook = () => {
      begun.resolve();
      return store.kind === "pglite" ? undefined : goOn.promise;
    };
    const worker = t.pawl.work({ pollInterval: 10 });
    await begun.promise;
    await t.pawl.start(errand, { key: "beside" });
    await t.pawl.wait(errand, "beside", { until: "done" });
    goOn.resolve();
    await worker.stop();
    expect(await t.pawl.get(waiting, "due")).toMatchObject({ state: "done" });
  });
});
