import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import { claimFromLanes } from "../../src/kernel/tasks/claim.ts";
import { sql } from "../../src/store/port/db.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { eachStore } from "../support/each-store.ts";
import { gateOf } from "../support/gate.ts";

/** What a step does, set by each test. */
let run: (n: number) => Promise<void> | void = () => {};

const task = lifecycle("task", {
  data: z.object({ n: z.number().default(0) }),
  initial: "work",
  states: {
    work: {
      run: async (step) => {
        await run(step.data.n);
        return undefined;
      },
      retry: { maxAttempts: 2, backoff: () => 0 },
      on: { ok: "done" },
    },
    done: { final: "success" },
  },
});

async function leased(t: TestPawl): Promise<{ all: number; begun: number }> {
  const [row] = await t.db.rows<{ all: number; begun: number }>(sql`
    select count(*)::int as all, count(*) filter (where begun)::int as begun from pawl.tasks where worker is not null`);
  return row!;
}

eachStore((store) => {
  const open = () => store.open({ lifecycles: [task] });

  test("a task that its worker held and had not begun spends no attempt when the worker dies, three times at most", async () => {
    await using t = await open();
    await t.pawl.start(task, { key: "a", data: {} });
    const lanes = ["task@1/work"];
    const claim = () =>
      claimFromLanes(t.kernel, { lanes, limit: 1, share: 1, worker: "w", leaseMs: 30_000, begins: 0 }).then(
        ([one]) => one!,
      );
    const attempts: number[] = [];
    for (let death = 0; death < 5; death++) {
      attempts.push((await claim()).attempt);
      await t.advance("31s");
    }
    // A step that kills its worker before it could be marked comes to an end, too.
    expect(attempts).toEqual([1, 1, 1, 1, 2]);
    expect(await t.pawl.get(task, "a")).toMatchObject({ state: "failed" });
    const history = await t.pawl.history(task, "a");
    const reasons = history.flatMap((one) => (one.kind === "attempt" && one.what === "lapsed" ? [one.detail] : []));
    expect(reasons.slice(0, 3)).toEqual([
      { reason: "not_started" },
      { reason: "not_started" },
      { reason: "not_started" },
    ]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("of the tasks that a worker holds, those that run are marked as begun, and the others are not", async () => {
    await using t = await open();
    const gate = gateOf();
    run = () => gate.promise;
    await t.pawl.startMany(
      task,
      Array.from({ length: 4 }, (_, n) => ({ key: `k${n}`, data: { n } })),
    );
    const worker = t.pawl.work({ concurrency: 1, prefetch: 2 });
    for (let begun = 0; begun === 0; ) ({ begun } = await leased(t));
    expect(await leased(t)).toEqual({ all: 3, begun: 1 });
    gate.resolve();
    for (let n = 0; n < 4; n++) await t.pawl.wait(task, `k${n}`, { until: "done" });
    await worker.stop();
  });

  test("what was taken in advance is given back when the steps before it turn out to be slow", async () => {
    await using t = await open();
    const gate = gateOf();
    const begun = { slow: 0 };
    run = async (n) => {
      if (n < 300) return;
      begun.slow += 1;
      await gate.promise;
    };
    await t.pawl.startMany(
      task,
      Array.from({ length: 400 }, (_, n) => ({ key: `k${n}`, data: { n } })),
    );
    const worker = t.pawl.work({ concurrency: 4, pollInterval: 50 });
    for (let held = 0; begun.slow < 4 || held !== 4; ) held = (await leased(t)).all;
    gate.resolve();
    await t.pawl.wait(task, "k399", { until: "done" });
    await worker.stop();
  });
});
