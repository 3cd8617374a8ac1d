import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import { claimFromLanes } from "../../src/kernel/tasks/claim.ts";
import { reportEach } from "../../src/kernel/tasks/report.ts";
import { eachStore } from "../support/each-store.ts";

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
});
