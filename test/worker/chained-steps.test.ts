import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import { claimFromLanes } from "../../src/kernel/tasks/claim.ts";
import { reportEach } from "../../src/kernel/tasks/report.ts";
import { eachStore } from "../support/each-store.ts";
import { gateOf } from "../support/gate.ts";

const chain = lifecycle("chain", {
  initial: "first",
  states: {
    first: { run: () => {}, retry: { maxAttempts: 1, backoff: () => 0 }, on: { next: "second" } },
    second: { run: () => {}, retry: { maxAttempts: 1, backoff: () => 0 }, on: { next: "done" } },
    done: { final: "success" },
  },
});

eachStore((store) => {
  // The clock stands still: a step that its worker forgot would never run again.
  test("the step that came with a report runs, although a later part of the batch fails", async () => {
    await using t = await store.open({ lifecycles: [chain] });
    const failures: unknown[] = [];
    t.faults.plant("report.after", "throw");
    const worker = t.pawl.work({ concurrency: 1, onFailure: (error) => failures.push(error) });
    await t.pawl.start(chain, { key: "a" });
    await t.pawl.wait(chain, "a", { until: "done" });
    await worker.stop();
    expect(failures).toHaveLength(1);
    const history = await t.pawl.history(chain, "a");
    expect(history.filter((one) => one.kind !== "move" && one.what !== "claimed")).toEqual([]);
  });

  test("one report that cannot be written hides nothing of the others in its batch", async () => {
    await using t = await store.open({ lifecycles: [chain] });
    await t.pawl.start(chain, { key: "a" });
    await t.pawl.start(chain, { key: "b" });
    const lanes = ["chain@1/first"];
    const [good, bad] = await claimFromLanes(t.kernel, { lanes, limit: 2, share: 2, worker: "w", leaseMs: 30_000 });
    // Only an after-effect is simply done.
    const answers = await reportEach(t.kernel, [
      { task: bad!, outcome: { kind: "done" } },
      { task: good!, outcome: { kind: "event", event: "next", payload: undefined, patch: {} } },
    ]);
    expect(answers).toMatchObject([{ error: { code: "option_invalid" } }, "written"]);
  });

  test("tasks whose claim got no reply are returned unspent by the worker that claimed them", async () => {
    await using t = await store.open({ lifecycles: [chain] });
    await t.pawl.startMany(
      chain,
      ["a", "b"].map((key) => ({ key })),
    );
    t.faults.plant("claim.after", "throw");
    const worker = t.pawl.work({ onFailure: () => {} });
    for (const key of ["a", "b"]) await t.pawl.wait(chain, key, { until: "done", timeout: "30s" });
    await worker.stop();
    const attempts = (await t.pawl.history(chain, "a")).filter((one) => one.kind === "attempt");
    expect(attempts.map(({ what, attempt }) => [what, attempt]).slice(0, 3)).toEqual([
      ["claimed", 1],
      ["released", 1],
      ["claimed", 1],
    ]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a worker that stops returns them, too, and nothing of another worker or of what it runs", async () => {
    await using t = await store.open({ lifecycles: [chain] });
    await t.pawl.start(chain, { key: "other's" });
    const other = await t.claim("chain/first");
    await t.pawl.start(chain, { key: "lost" });
    const failed = gateOf();
    t.faults.plant("claim.after", "throw");
    const worker = t.pawl.work({ onFailure: () => failed.resolve() });
    await failed.promise;
    await worker.stop();
    expect((await t.pawl.history(chain, "lost")).at(-1)).toMatchObject({ what: "released" });
    await other.report("next");
    expect(await t.pawl.get(chain, "other's")).toMatchObject({ state: "second" });
  });
});
