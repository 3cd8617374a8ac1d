import { job, type Pawl, schedule } from "pawl";
import { expect, test } from "vitest";
import { openOn } from "../../src/api/open/create.ts";
import type { FaultPoint } from "../../src/kernel/faults.ts";
import { maintain } from "../../src/maintenance/round.ts";
import type { TestClock } from "../../src/testing/clock.ts";
import { newPostgresStore } from "../../src/testing/stores.ts";
import { pointsMet } from "../faults/harm/points.ts";
import { WorkerProcess } from "../faults/harm/worker-process.ts";
import { onPostgres } from "../setup/suites.ts";
import { eachStore } from "../support/each-store.ts";
import { openSecondProcess } from "../support/second-process.ts";
import { everySecond, tick } from "./every-second.ts";

const tidy = job("tidy", { run: () => {} });
const minutely = schedule("minutely", { cron: "* * * * *", start: tidy, missed: "all" });
const often = schedule("often", { interval: "10s", start: tidy, missed: "all" });

/** Everything that was started, by its key, and how often. */
async function startedKeys(pawl: Pawl): Promise<string[]> {
  const keys: string[] = [];
  for (let page = await pawl.list(tidy, { limit: 1_000 }); page.length > 0; ) {
    keys.push(...page.map((one) => one.key!));
    page = await pawl.list(tidy, { limit: 1_000, after: page.at(-1)! });
  }
  return keys.sort();
}

function keysOf(name: string, everyMs: number, fromMs: number, toMs: number): string[] {
  const keys: string[] = [];
  for (let at = fromMs + everyMs; at <= toMs; at += everyMs) keys.push(`${name}@${new Date(at).toISOString()}`);
  return keys;
}

eachStore((store) => {
  const open = () => store.open({ lifecycles: [tidy], schedules: [minutely, often] });

  test("three processes run each tick once, however they meet", async () => {
    await using t = await open();
    const others = [
      await openSecondProcess(t, [tidy], [minutely, often]),
      await openSecondProcess(t, [tidy], [minutely, often]),
    ];
    const all = [t, ...others];
    for (const one of all) await one.maintain();
    const clock = t.kernel.clock as TestClock;
    const fromMs = clock.nowMs();
    let ticks = 0;
    for (let round = 1; round <= 25; round++) {
      // Sometimes nothing is due, sometimes one tick is, sometimes several of both schedules are.
      await clock.set(clock.nowMs() + [4_000, 27_000, 60_000][round % 3]!);
      const rounds = await Promise.all([...all, ...all].map((one) => one.maintain()));
      ticks += rounds.reduce((sum, one) => sum + one.ticks, 0);
    }
    const toMs = clock.nowMs();
    const expected = [...keysOf("minutely", 60_000, fromMs, toMs), ...keysOf("often", 10_000, fromMs, toMs)].sort();
    expect(await startedKeys(t.pawl)).toEqual(expected);
    expect(ticks).toBe(expected.length);
    expect(await t.pawl.inspect.verify()).toEqual([]);
    for (const one of others) await one.pawl.close();
  });

  test.each<FaultPoint>(["schedule.read", "schedule.taken", "start.after", "schedule.started", "schedule.committed"])(
    "a process that fails at %s loses no tick and repeats none",
    async (point) => {
      await using t = await open();
      const other = await openSecondProcess(t, [tidy], [minutely, often]);
      for (const one of [t, other]) await one.maintain();
      const clock = t.kernel.clock as TestClock;
      const fromMs = clock.nowMs();
      await clock.set(fromMs + 60_000);
      t.faults.plant(point, "throw");
      await expect(t.maintain()).rejects.toThrow();
      await other.maintain();
      await t.maintain();
      const toMs = clock.nowMs();
      expect(await startedKeys(t.pawl)).toEqual(
        [...keysOf("minutely", 60_000, fromMs, toMs), ...keysOf("often", 10_000, fromMs, toMs)].sort(),
      );
      await other.pawl.close();
    },
  );
});

onPostgres("processes that die", () => {
  test("in the middle of running a tick leave it to the next, and none is run twice", async () => {
    const store = await newPostgresStore(process.env.PAWL_TEST_POSTGRES_URL!);
    try {
      for (const point of pointsMet("a keeper of schedules")) {
        const nth = point === "schedule.started" ? 2 : 1;
        const env = { PAWL_VICTIM_URL: store.url!, PAWL_FAULT: `${point}:crash:${nth}` };
        const keeper = new WorkerProcess(env, () => {}, "test/schedules/schedule-child.ts");
        expect(await keeper.ended).toBe("SIGKILL");
      }
      const { pawl, kernel } = await openOn(store.db, { lifecycles: [tick], schedules: [everySecond], logger: false });
      // Those that the dead have left, and the next one that comes.
      for (let ticks = 0; ticks < 2; ) ticks += (await maintain(kernel, [])).ticks;
      const seconds = (await pawl.list(tick, { limit: 1_000 }))
        .map((one) => Date.parse(one.key!.slice("every-second@".length)) / 1_000)
        .sort((one, other) => one - other);
      expect(seconds.length).toBeGreaterThanOrEqual(4);
      expect(seconds).toEqual(seconds.map((_, index) => seconds[0]! + index));
    } finally {
      await store.dispose();
    }
  }, 60_000);
});
