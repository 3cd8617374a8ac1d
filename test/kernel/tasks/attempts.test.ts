import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import { eachStore } from "../../support/each-store.ts";

const chain = lifecycle("chain", {
  initial: "first",
  states: {
    first: { run: () => {}, on: { next: "second" } },
    second: {
      run: (step) => {
        if (step.attempt === 1) throw new Error("no ink");
      },
      retry: { maxAttempts: 2, backoff: () => 0 },
      on: { next: "third" },
    },
    third: { run: () => {}, on: { next: "done" } },
    done: { final: "success" },
  },
});

eachStore((store) => {
  test("R100 A59 every attempt has worker, start, end and outcome in the history, also a step that came with a report", async () => {
    await using t = await store.open({ lifecycles: [chain] });
    const worker = t.pawl.work({ concurrency: 1 });
    await t.pawl.start(chain, { key: "a" });
    await t.pawl.wait(chain, "a", { until: "done" });
    await worker.stop();
    const history = await t.pawl.history(chain, "a");
    const attempts = history.flatMap((one) => (one.kind === "attempt" && one.what === "claimed" ? [one] : []));
    expect(attempts.map(({ lane, attempt, outcome }) => [lane, attempt, outcome])).toEqual([
      ["chain@1/first", 1, "next"],
      ["chain@1/second", 1, "failed"],
      ["chain@1/second", 2, "next"],
      ["chain@1/third", 1, "next"],
    ]);
    for (const { worker: by, at, endedAt } of attempts) {
      expect(by).toBe(worker.id);
      expect(endedAt!.getTime()).toBeGreaterThanOrEqual(at.getTime());
    }
    // In the order in which it happened: a step is claimed after the move into its state, and before it ends.
    expect(history.map((one) => (one.kind === "move" ? `→ ${one.to}` : one.what))).toEqual([
      "→ first",
      "claimed",
      "→ second",
      "claimed",
      "failed",
      "claimed",
      "→ third",
      "claimed",
      "→ done",
    ]);
  });

  test("an attempt that runs has no end yet", async () => {
    await using t = await store.open({ lifecycles: [chain] });
    await t.pawl.start(chain, { key: "a" });
    await t.claim("chain/first");
    const [, claimed] = await t.pawl.history(chain, "a");
    expect(claimed).toMatchObject({ what: "claimed", worker: "test-worker-1", endedAt: null, outcome: null });
  });
});
