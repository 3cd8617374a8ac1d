import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import type { Kernel } from "../../src/kernel/kernel.ts";
import { claimFromLanes } from "../../src/kernel/tasks/claim.ts";
import { report } from "../../src/kernel/tasks/report.ts";
import type { ClaimedTask } from "../../src/kernel/types/claimed-task.ts";
import { type Executor, sql } from "../../src/store/port/db.ts";
import type { TestClock } from "../../src/testing/clock.ts";
import { eachStore } from "../support/each-store.ts";

const run = () => {};
const chain = lifecycle("chain", {
  initial: "one",
  states: { one: { run, on: { next: "two" } }, two: { run, on: { next: "done" } }, done: { final: "success" } },
});
const holder = { worker: "w", leaseMs: 30_000 };
const outcome = { kind: "event", event: "next", payload: undefined, patch: {} } as const;
const claim = { lanes: ["chain@1/one"], limit: 1, share: 1, ...holder };

/** How many rows this transaction has written anew in their own pages, so that no index had to be told. */
async function inPlace(tx: Executor): Promise<{ tasks: number; instances: number }> {
  const [row] = await tx.rows<{ tasks: number; instances: number }>(sql`
    select pg_stat_get_xact_tuples_hot_updated('pawl.tasks'::regclass)::int as tasks,
      pg_stat_get_xact_tuples_hot_updated('pawl.instances'::regclass)::int as instances`);
  return row!;
}

eachStore((store) => {
  test("a step that follows another one is written in place, task and instance", async () => {
    await using t = await store.open({ lifecycles: [chain] });
    await t.pawl.start(chain, {});
    await t.db.transaction(async (tx) => {
      const kernel: Kernel = { ...t.kernel, db: { ...t.db, rows: (statement) => tx.rows(statement) } };
      const [task] = await claimFromLanes(kernel, claim);
      const before = await inPlace(tx);
      const next: ClaimedTask[] = [];
      const stay = { grant: () => holder, take: (one: ClaimedTask) => next.push(one) };
      await report(kernel, [{ task: task!, outcome, stay }]);
      expect(next.map((one) => one.lane)).toEqual(["chain@1/two"]);
      expect(await inPlace(tx)).toEqual({ tasks: before.tasks + 1, instances: before.instances + 1 });
    });
  });

  test("a lease stays as it is while more than two thirds of it are left, and begins anew after that", async () => {
    await using t = await store.open({ lifecycles: [chain] });
    const leftMs = async (spentMs: number): Promise<number> => {
      const { id } = await t.pawl.start(chain, {});
      const [task] = await claimFromLanes(t.kernel, claim);
      const clock = t.kernel.clock as TestClock;
      await clock.set(clock.nowMs() + spentMs);
      const stay = { grant: () => holder, take: () => {} };
      await report(t.kernel, [{ task: task!, outcome, stay }]);
      const [row] = await t.db.rows<{ left_ms: number }>(
        sql`select pawl.ms(leased_until) - pawl.ms(pawl.now()) as left_ms from pawl.tasks where id = ${id}::uuid`,
      );
      return row!.left_ms;
    };
    expect(await leftMs(9_000)).toBe(21_000);
    expect(await leftMs(11_000)).toBe(30_000);
  });
});
