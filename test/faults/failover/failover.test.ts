import { isPawlError } from "pawl";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openOn } from "../../../src/api/open/create.ts";
import { claimFromLanes } from "../../../src/kernel/tasks/claim.ts";
import { report } from "../../../src/kernel/tasks/report.ts";
import type { ClaimedTask } from "../../../src/kernel/types/claimed-task.ts";
import { openPostgres } from "../../../src/store/postgres/open.ts";
import { onOwnPostgres } from "../../setup/suites.ts";
import { Random, repeat, seed } from "../harm/random.ts";
import { Journey, standstills } from "./journey.ts";
import { Pair } from "./pair.ts";
import { leg } from "./trip.ts";

const failovers = Number(process.env.PAWL_TEST_FAILOVERS ?? 3);
/** What takes long, or needs the time that it takes. */
const all = process.env.PAWL_TEST_FAILOVERS !== undefined;

onOwnPostgres("failovers with a synchronous standby, under load", () => {
  let pair: Pair;
  let journey: Journey;
  beforeEach(async () => {
    pair = await Pair.start({ isSynchronous: true });
    journey = await Journey.begin(pair.url);
  }, 120_000);
  afterEach(async () => {
    await journey.close();
    await pair.stop();
  });

  test(
    `${failovers} times the primary is killed: nothing acknowledged is lost, no attempt is spent, work goes on by itself`,
    async () => {
      const random = new Random(seed);
      for (let number = 0; number < failovers; number++) {
        await journey.progress(20);
        // Every second time the old primary comes back before there is a new one, and takes no writes.
        const isBack = number % 2 === 1;
        const comeBack = () => pair.primary.restart({ default_transaction_read_only: "on" });
        await journey.outage(() => pair.failOver(random.below(2_000), isBack ? comeBack : undefined));
        await pair.rebuild();
      }
      expect(await journey.end(), repeat).toEqual([]);
      console.info(`${failovers} failovers: ${journey.summary} ${standstills(journey.outages)}`);
      for (const { stoodMs, tookMs } of journey.outages) expect(stoodMs, repeat).toBeLessThan(tookMs + 5_000);
    },
    120_000 + failovers * 60_000,
  );

  describe.skipIf(!all)("what takes longer (PAWL_TEST_FAILOVERS)", () => {
    test("40 seconds without any primary", async () => {
      await journey.progress(50);
      await journey.outage(() => pair.failOver(40_000));
      expect(await journey.end()).toEqual([]);
      const [{ stoodMs, tookMs }] = journey.outages as [{ stoodMs: number; tookMs: number }];
      console.info(`40 s without a primary: ${journey.summary} ${standstills(journey.outages)}`);
      expect(stoodMs).toBeLessThan(tookMs + 5_000);
    }, 300_000);

    test("a standby that hangs for 20 seconds: commits wait for it, and nothing else happens", async () => {
      await journey.progress(50);
      const receiver = await pair.receiver();
      process.kill(receiver, "SIGSTOP");
      await new Promise((resolve) => setTimeout(resolve, 20_000));
      process.kill(receiver, "SIGCONT");
      await journey.progress(50);
      expect(await journey.end()).toEqual([]);
      console.info(`a standby that hangs for 20 s: ${journey.summary}`);
    }, 300_000);
  });
});

onOwnPostgres("a failover with an asynchronous standby that lacks the last commits", () => {
  test("what is lost is lost whole: a worker of before holds no lease of after, and the history is legal", async () => {
    const pair = await Pair.start({ isSynchronous: false });
    const { pawl, kernel } = await openOn(await openPostgres({ url: pair.url }), { lifecycles: [leg], logger: false });
    try {
      await pawl.startMany(
        leg,
        Array.from({ length: 20 }, () => ({})),
      );
      await pair.cutOff();
      const claim = { lanes: ["leg@1/driving"], limit: 20, share: 20, worker: "before", leaseMs: 30_000 };
      const before = await claimFromLanes(kernel, claim);
      await pawl.start(leg, { key: "lost" });
      await pair.failOver(0);
      const after = await untilReached(() => claimFromLanes(kernel, { ...claim, worker: "after" }));
      const tasks = (some: readonly ClaimedTask[]) => some.map(({ lease }) => lease.taskId).sort();
      expect(tasks(after)).toEqual(tasks(before));
      expect(after).toHaveLength(20);
      const outcome = { kind: "event", event: "driven", payload: undefined, patch: {} } as const;
      const reported = (some: readonly ClaimedTask[]) =>
        report(
          kernel,
          some.map((task) => ({ task, outcome })),
        );
      expect(new Set(await reported(before))).toEqual(new Set(["lease_lost"]));
      expect(new Set(await reported(after))).toEqual(new Set(["written"]));
      expect(await pawl.get(leg, "lost")).toBeUndefined();
      expect(await pawl.start(leg, { key: "lost" })).toMatchObject({ created: true });
      expect(await pawl.inspect.verify()).toEqual([]);
    } finally {
      await pawl.close();
      await pair.stop();
    }
  }, 120_000);
});

/** A claim is not repeated by itself: nobody knows what it claimed. */
async function untilReached<Result>(call: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isPawlError(error) || error.fault !== "environment") throw error;
    }
  }
}
