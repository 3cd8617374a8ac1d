import { job } from "pawl";
import { memoryBroker } from "pawl/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import { CapturedLog } from "../support/captured-log.ts";
import { eachStore } from "../support/each-store.ts";

const errand = job("errand", {
  payload: z.object({ fails: z.boolean() }),
  run: (step) => {
    step.log("It runs.");
    if (step.data.fails) throw new Error("no luck");
  },
  retry: { maxAttempts: 1, backoff: () => 0 },
});

const throws = () => {
  throw new Error("a callback throws");
};
const rejects = () => Promise.reject(new Error("a callback rejects"));
const hangs = () => new Promise<never>(() => {});

eachStore((store) => {
  test.each([
    ["throw", throws],
    ["reject", rejects],
    ["never settle", hangs],
  ])("callbacks of a worker that %s stop neither its steps nor its leases", async (how, callback) => {
    const logger = new CapturedLog();
    await using t = await store.open({ lifecycles: [errand], logger });
    const broken = { onMove: callback, onFailure: callback, onLog: callback } as object;
    const worker = t.pawl.work({ ...broken, leaseDuration: 150, pollInterval: 10, maintenanceInterval: 0 });
    t.faults.plant("fire.before", "throw"); // Something for `onFailure`.
    t.faults.plant("renew.before", "throw");
    await t.pawl.enqueueMany(
      errand,
      [1, 2, 3].map((n) => ({ key: `${n}`, payload: { fails: n === 2 } })),
    );
    for (const key of ["1", "2", "3"]) await t.pawl.wait(errand, key);
    expect(await t.pawl.inspect.counts(errand)).toMatchObject({ done: 2 });
    await worker.stop();
    if (how !== "never settle") expect(logger.said("error").join("\n")).toContain("a callback");
  });

  test("a logger that throws keeps nothing from being done", async () => {
    const logger = { debug: throws, info: throws, warn: throws, error: throws };
    await using t = await store.open({ lifecycles: [errand], logger });
    const worker = t.pawl.work({ pollInterval: 10 });
    await t.pawl.enqueue(errand, { fails: false }, { key: "one" });
    expect(await t.pawl.wait(errand, "one")).toMatchObject({ state: "done" });
    await worker.stop();
  });

  test("a worker that cannot begin leaves nothing behind, and `prefetch` is a whole number", async () => {
    await using t = await store.open({ lifecycles: [errand], outbox: { brokers: [memoryBroker()] } });
    for (const options of [{ concurrency: 0 }, { prefetch: -1 }, { prefetch: Number.NaN }, { prefetch: 1.5 }]) {
      expect(() => t.pawl.work(options)).toThrow(expect.objectContaining({ code: "option_invalid" }));
    }
    expect(t.faults.visits("relay.afterLock")).toBe(0);
    await t.pawl.publish("a.message", {}, { aggregate: { type: "thing", id: "1" } });
    expect(await t.relay()).toMatchObject([{ what: "published" }]);
  });
});
