import { job, lifecycle } from "pawl";
import { expect, test } from "vitest";
import { gatesOf } from "../../src/kernel/lanes/gates.ts";
import { claimFromGates } from "../../src/kernel/tasks/claim.ts";
import { sql } from "../../src/store/port/db.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { eachStore } from "../support/each-store.ts";
import { openSecondProcess } from "../support/second-process.ts";

/** What steps do, set by each test. */
const steps: { run: () => unknown } = { run: () => {} };
const retry = { maxAttempts: 3, backoff: () => 0 };

const model = lifecycle("model", {
  initial: "asking",
  states: {
    asking: { run: () => steps.run() as undefined, limit: 3, retry, on: { ok: "done" } },
    done: { final: "success" },
  },
});

const mail = job("mail", { run: () => steps.run() as undefined, rate: "5/m", retry });
const plain = job("plain", { run: () => steps.run() as undefined });

/** Tasks of a gated lane, claimed as by one worker. */
function claim(t: TestPawl, lane: string, limit: number) {
  return claimFromGates(t.kernel, { gates: gatesOf(t.kernel, [lane]), limit, worker: "w", leaseMs: 30_000 });
}

eachStore((store) => {
  const some = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

  test("no more steps of a state run at once than its limit, over all workers of all processes", async () => {
    await using t = await store.open({ lifecycles: [model, plain] });
    await using other = await openSecondProcess(t, [model, plain]);
    let running = 0;
    let most = 0;
    steps.run = async () => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running -= 1;
    };
    const made = await t.pawl.startMany(model, some(30, {}));
    const workers = [t, t, other].map(({ pawl }) => pawl.work({ concurrency: 8, pollInterval: 20 }));
    await Promise.all(made.map(({ id }) => t.pawl.wait(model, { id })));
    await Promise.all(workers.map((worker) => worker.stop()));
    expect(most).toBe(3);
  });

  test("many that claim at the same moment get no more together than the limit, and none waits for another", async () => {
    await using t = await store.open({ lifecycles: [model] });
    await t.pawl.startMany(model, some(20, {}));
    for (let turn = 0; turn < 5; turn++) {
      const all = await Promise.all(some(8, "model@1/asking").map((lane) => claim(t, lane, 2)));
      const first = all.flat();
      expect(first.length).toBeGreaterThan(0);
      const rest = await claim(t, "model@1/asking", 10);
      expect(first.length + rest.length).toBe(3);
      expect(await claim(t, "model@1/asking", 10)).toEqual([]);
      await t.advance("31s"); // All of them lapse.
    }
  });

  test("what fails, lapses, is given back or put off makes room again", async () => {
    await using t = await store.open({ lifecycles: [model] });
    await t.pawl.startMany(model, some(6, {}));
    const three = async () => [
      await t.claim("model/asking"),
      await t.claim("model/asking"),
      await t.claim("model/asking"),
    ];
    const [failed, released, later] = await three();
    await expect(t.claim("model/asking")).rejects.toThrow("limit");
    await failed!.fail(new Error("x"));
    await released!.release();
    await later!.retryLater("1h");
    await t.maintain();
    await three();
    await expect(t.claim("model/asking")).rejects.toThrow("limit");
    await t.advance("31s");
    await three();
  });

  test("a limit counts the steps of every version of a lifecycle", async () => {
    await using t = await store.open({ lifecycles: [model] });
    await t.pawl.startMany(model, some(3, {}));
    const next = lifecycle("model", {
      version: 2,
      initial: "thinking",
      renamed: { asking: "thinking" },
      states: { thinking: { run: () => {}, limit: 3, on: { ok: "done" } }, done: { final: "success" } },
    });
    const olders = [await t.claim("model/asking"), await t.claim("model/asking")];
    await using newer = await openSecondProcess(t, [next]);
    await newer.pawl.startMany(next, some(3, {}));
    await newer.claim("model/thinking");
    await expect(newer.claim("model/thinking")).rejects.toThrow("limit");
    await olders[0]!.release();
    await newer.claim("model/thinking");
    await expect(newer.claim("model/thinking")).rejects.toThrow("limit");
  });

  test("no more steps begin in any stretch of time than the rate says, and no fewer than it allows", async () => {
    await using t = await store.open({ lifecycles: [mail] });
    await t.pawl.enqueueMany(mail, some(60, { payload: {} }));
    const begun: number[] = [];
    const inWindow = (at: number) => begun.filter((one) => one > at - 60_000 && one <= at).length;
    for (const seconds of [
      0, 0, 7, 30, 1, 21.999, 0.001, 45, 3, 12.5, 59.999, 0.001, 60, 200, 1, 1, 57.999, 0.001, 5,
    ]) {
      await t.advance(seconds * 1_000);
      const now = t.now().getTime();
      const asked = begun.length % 3 === 0 ? 2 : 9;
      const allowed = Math.min(asked, 5 - inWindow(now));
      expect(await claim(t, "mail@1/pending", asked)).toHaveLength(allowed);
      begun.push(...some(allowed, now));
    }
    expect(begun.length).toBeGreaterThan(20);
  });

  test("a rate of many is counted in slices: never more than it says, and all of it again after a window", async () => {
    const bulk = job("bulk", { run: () => {}, rate: "1200/m" });
    await using t = await store.open({ lifecycles: [bulk] });
    await t.pawl.enqueueMany(bulk, some(1_500, { payload: {} }));
    expect(await claim(t, "bulk@1/pending", 1_000)).toHaveLength(1_000);
    expect(await claim(t, "bulk@1/pending", 1_000)).toHaveLength(200);
    await t.db.script("update pawl.test_clock set now = now + interval '59999 milliseconds'");
    expect(await claim(t, "bulk@1/pending", 1_000)).toEqual([]);
    await t.db.script("update pawl.test_clock set now = now + interval '60 milliseconds'");
    expect(await claim(t, "bulk@1/pending", 1_000)).toHaveLength(300);
  });

  test("beginnings that no window reaches are forgotten, and a clock that is set back stops a rate for two windows at most", async () => {
    await using t = await store.open({ lifecycles: [mail] });
    await t.pawl.enqueueMany(mail, some(20, { payload: {} }));
    expect(await claim(t, "mail@1/pending", 5)).toHaveLength(5);
    await t.db.script("update pawl.test_clock set now = now - interval '3 hours'");
    expect(await claim(t, "mail@1/pending", 5)).toHaveLength(5);
    await t.advance("4h");
    await t.maintain();
    expect(await t.db.rows(sql`select gate from pawl.begun`)).toEqual([]);
  });

  test("a worker takes up a rate again as soon as it allows, without looking in between", async () => {
    const pulse = job("pulse", { run: () => steps.run() as undefined, rate: "2/s" });
    await using t = await store.open({ lifecycles: [pulse] });
    await t.db.script(
      "create or replace function pawl.now() returns timestamptz language sql stable as 'select clock_timestamp()'",
    );
    steps.run = () => {};
    const made = await t.pawl.enqueueMany(pulse, some(3, { payload: {} }));
    const worker = t.pawl.work({ pollInterval: "1h", maintenanceInterval: "1h" });
    await Promise.all(made.map(({ id }) => t.pawl.wait(pulse, { id })));
    await worker.stop();
    const begun = await t.db.rows<{ at: number }>(sql`select pawl.ms(at) as at from pawl.attempts order by at`);
    expect(begun[2]!.at - begun[0]!.at).toBeGreaterThanOrEqual(1_000);
  });

  test("lanes with a limit are not starved by full lanes without one, nor the other way round", async () => {
    await using t = await store.open({ lifecycles: [model, plain] });
    steps.run = () => {};
    await t.pawl.enqueueMany(plain, some(60, { payload: {} }));
    await t.pawl.startMany(model, some(20, {}));
    const worker = t.pawl.work({ concurrency: 2, prefetch: 0 });
    const ended = async () =>
      ((await t.pawl.inspect.counts(plain)).done ?? 0) + ((await t.pawl.inspect.counts(model)).done ?? 0);
    while ((await ended()) < 80) await new Promise(setImmediate);
    await worker.stop();
    const claims = await t.db.rows<{ lane: string }>(sql`select lane from pawl.attempts order by position`);
    const first = (lane: string) => claims.findIndex((claim) => claim.lane === lane);
    expect(first("model@1/asking")).toBeLessThan(20);
    expect(first("plain@1/pending")).toBeLessThan(20);
  });

  test("the next step of a chain is not granted with the report where its lane has a limit or a rate", async () => {
    const chain = lifecycle("chain", {
      initial: "one",
      states: {
        one: { run: () => {}, on: { next: "two" } },
        two: { run: () => {}, on: { next: "three" } },
        three: { run: () => {}, limit: 2, on: { next: "four" } },
        four: { run: () => {}, rate: "100/s", on: { next: "done" } },
        done: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [chain] });
    const { id } = await t.pawl.start(chain, {});
    const worker = t.pawl.work({ pollInterval: 20 });
    await t.pawl.wait(chain, { id });
    await worker.stop();
    const claims = await t.db.rows<{ lane: string }>(sql`select lane from pawl.attempts order by position`);
    expect(claims.map(({ lane }) => lane)).toEqual(["chain@1/one", "chain@1/three", "chain@1/four"]);
  });
});
