import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import { sql } from "../../../src/store/port/db.ts";
import type { TestPawl } from "../../../src/testing/test-pawl.ts";
import { eachStore } from "../../support/each-store.ts";
import { essay, llm, some, steps } from "../../support/essay.ts";
import { gateOf } from "../../support/gate.ts";
import { openSecondProcess } from "../../support/second-process.ts";

const breakers = { llm: { minimum: 3, probes: 2, ramp: 0 } };

/** Looks again and again until it is so. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise(setImmediate);
}

eachStore((store) => {
  const open = async (essays: number) => {
    const t = await store.open({ lifecycles: [essay], breakers });
    await t.pawl.startMany(essay, some(essays, {}));
    return t;
  };
  const inLane = async (t: TestPawl) => (await t.pawl.lanes.list()).find((one) => one.state === "grading")!;

  test("what a worker has claimed and not begun when a breaker opens is given back unspent, and what runs is let finish", async () => {
    await using t = await open(3);
    const end = gateOf();
    let ran = 0;
    steps.grade = async () => {
      ran += 1;
      await end.promise;
    };
    const worker = t.pawl.work({ concurrency: 1, prefetch: 2, pollInterval: 20 });
    await until(async () => (await inLane(t)).running === 3);
    await t.pawl.breakers.force("llm", "open", { reason: "an outage" });
    await until(async () => (await inLane(t)).running === 1);
    expect(await inLane(t)).toMatchObject({ running: 1, ready: 2 });
    end.resolve();
    await until(async () => (await inLane(t)).running === 0);
    await worker.stop();
    expect([ran, await t.pawl.inspect.counts(essay)]).toEqual([1, { done: 1, grading: 2 }]);
    const tasks = await t.db.rows(sql`select attempt from pawl.tasks`);
    expect(tasks).toEqual(some(2, { attempt: 0 }));
  });

  test("the next step of a chain is not granted into the lane of a breaker that is not closed", async () => {
    const chain = lifecycle("chain", {
      initial: "one",
      states: {
        one: { run: () => {}, on: { next: "two" } },
        two: { run: () => {}, uses: "llm", on: { next: "done" } },
        done: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [chain], breakers });
    const granted = async (id: string) =>
      await t.db.rows(
        sql`select granted is not null as granted from pawl.journal where instance_id = ${id}::uuid and version = 2`,
      );
    await t.pawl.breakers.force("llm", "open", { reason: "x" });
    const { id } = await t.pawl.start(chain, {});
    const worker = t.pawl.work({ pollInterval: 20 });
    await t.pawl.wait(chain, { id }, { until: "two" });
    expect(await granted(id)).toEqual([{ granted: false }]);
    await t.pawl.breakers.force("llm", "closed", { reason: "x" });
    await t.pawl.wait(chain, { id });
    const { id: next } = await t.pawl.start(chain, {});
    await t.pawl.wait(chain, { id: next });
    await worker.stop();
    expect(await granted(next)).toEqual([{ granted: true }]);
  });

  test("workers of two processes open a breaker by what fails, rest, probe, close it, and finish", async () => {
    await using t = await open(24);
    await using other = await openSecondProcess(t, [essay], [], { breakers });
    let isAway = true;
    steps.grade = () => {
      if (isAway) throw new Error("no answer");
    };
    const workers = [t, other].map(({ pawl }) => pawl.work({ concurrency: 2, prefetch: 0, pollInterval: 20 }));
    // Who does not know of it yet would go on, and leave nothing to probe with.
    await until(() => [t, other].every(({ kernel }) => kernel.breakers.of("llm").state === "open"));
    await until(async () => (await inLane(t)).running === 0);
    isAway = false;
    await t.advance("30s");
    await until(async () => (await t.pawl.breakers.history("llm")).some((flip) => flip.cause === "probes_passed"));
    await until(async () => (await t.pawl.inspect.counts(essay)).done === 24);
    await Promise.all(workers.map((worker) => worker.stop()));
    expect((await t.pawl.breakers.history("llm")).map((flip) => flip.cause)).toEqual([
      "probes_passed",
      "rested",
      "failures",
    ]);
    expect(await t.pawl.deadLetters.list({ lifecycle: essay })).toEqual([]);
  });

  test("a worker that stops writes down what it has counted", async () => {
    await using t = await open(1);
    steps.grade = () => {};
    const worker = t.pawl.work();
    await until(async () => (await t.pawl.inspect.counts(essay)).done === 1);
    await worker.stop();
    expect(await llm(t)).toMatchObject({ calls: { good: 1, failed: 0 } });
  });
});
