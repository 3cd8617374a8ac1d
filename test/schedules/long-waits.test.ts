import { job, lifecycle } from "pawl";
import { expect, test } from "vitest";
import type { TestClock } from "../../src/testing/clock.ts";
import { eachStore } from "../support/each-store.ts";

const trial = lifecycle("trial", {
  initial: "running",
  deadline: { within: "60d" },
  states: { running: { on: { paid: "customer" } }, customer: { final: "success" } },
});
const errand = job("errand", { run: () => {} });
const dayMs = 86_400_000;

eachStore((store) => {
  test("a deadline of sixty days strikes once, at its time; also when everything was down by then", async () => {
    await using t = await store.open({ lifecycles: [trial] });
    await t.pawl.start(trial, { key: "kept", data: {} });
    await t.advance("59d");
    expect(await t.pawl.get(trial, "kept")).toMatchObject({ state: "running" });
    await t.advance("1d");
    await t.maintain();
    expect((await t.pawl.journal(trial, "kept")).map((one) => one.event)).toEqual(["start", "fail"]);
    await t.pawl.start(trial, { key: "slept", data: {} });
    const clock = t.kernel.clock as TestClock;
    await clock.set(clock.nowMs() + 90 * dayMs);
    expect(await t.maintain()).toMatchObject({ fired: 1 });
    expect(await t.maintain()).toMatchObject({ fired: 0 });
    expect(await t.pawl.journal(trial, "slept")).toHaveLength(2);
  });

  test("no wait is too long for a timer: a worker with rests of months sleeps, wakes and stops", async () => {
    await using t = await store.open({ lifecycles: [errand] });
    const warnings: string[] = [];
    const hear = (warning: Error) => warnings.push(warning.name);
    process.on("warning", hear);
    try {
      const worker = t.pawl.work({
        pollInterval: "60d",
        leaseDuration: "90d",
        shutdownGrace: "60d",
        maintenanceInterval: "60d",
      });
      const driver = t.pawl.maintain({ interval: "60d" });
      await t.pawl.enqueue(errand, {}, { key: "e" });
      expect(await t.pawl.wait(errand, "e")).toMatchObject({ outcome: "success" });
      await worker.stop();
      await driver.stop();
      await new Promise((resolve) => setImmediate(resolve)); // Warnings are told a turn later.
    } finally {
      process.off("warning", hear);
    }
    expect(warnings).not.toContain("TimeoutOverflowWarning");
  });
});
