import { constant, lifecycle } from "pawl";
import { expect, test } from "vitest";
import { eachStore } from "../../support/each-store.ts";
import { openSecondProcess } from "../../support/second-process.ts";

const once = { maxAttempts: 1, backoff: constant("1s") };

/** How often each instance's steps have been tried, over all processes of a test. */
class Tries {
  readonly of = new Map<string, number>();

  /** Fails the first time. */
  readonly run = (step: { readonly key: string | null }): void => {
    const tries = (this.of.get(step.key!) ?? 0) + 1;
    this.of.set(step.key!, tries);
    if (tries === 1) throw new Error("not at first");
  };
}

/** The next version calls the second state something else, and falls back to the first. */
function versions(run: (step: { readonly key: string | null }) => void) {
  const older = lifecycle("claim", {
    initial: "checking",
    recovery: { maxFailures: 3, after: "10m" },
    states: {
      checking: { run: async () => {}, retry: once, on: { checked: "deciding" } },
      deciding: { run, retry: once, on: { decided: "done" } },
      done: { final: "success" },
      failed: { on: { noted: {} } },
    },
  });
  const newer = lifecycle("claim", {
    version: 2,
    initial: "checking",
    renamed: { deciding: "judging" },
    recovery: { maxFailures: 3, after: "10m" },
    states: {
      checking: { run: async () => {}, retry: once, on: { checked: "judging" } },
      judging: { run, retry: once, on: { decided: "done" }, checkpoint: "checking" },
      done: { final: "success" },
      failed: { on: { noted: {} } },
    },
  });
  return { older, newer };
}

eachStore((store) => {
  test("workers of two versions share a database: each instance fails, recovers and ends, and never goes back a version", async () => {
    const tries = new Tries();
    const { older, newer } = versions(tries.run);
    await using t = await store.open({ lifecycles: [older] });
    await using next = await openSecondProcess(t, [newer]);
    const keys = Array.from({ length: 12 }, (_, n) => `k${n}`);
    for (const [n, key] of keys.entries()) {
      if (n % 2 === 0) await t.pawl.start(older, { key });
      else await next.pawl.start(newer, { key });
    }
    const workers = [t.pawl.work({ pollInterval: "20ms" }), next.pawl.work({ pollInterval: "20ms" })];
    for (const key of keys) await next.pawl.wait(newer, key, { until: "failed" });
    await t.advance("10m");
    for (const key of keys) await next.pawl.wait(newer, key, { until: "done" });
    for (const worker of workers) await worker.stop();
    for (const key of keys) {
      const journal = await next.pawl.journal(newer, key);
      const definitions = journal.map((move) => move.definition);
      expect(definitions, key).toEqual([...definitions].sort());
      expect(journal.filter((move) => move.event === "recover")).toHaveLength(1);
    }
    expect(await next.pawl.deadLetters.list({ lifecycle: newer })).toEqual([]);
    expect(await next.pawl.inspect.verify()).toEqual([]);
  });

  test("what failed under a name that is gone resumes by the newer definition: under its new name's checkpoint", async () => {
    const { older, newer } = versions(() => {});
    await using t = await store.open({ lifecycles: [older] });
    await t.pawl.start(older, { key: "c" });
    await (await t.claim("claim/checking")).report("checked");
    await (await t.claim("claim/deciding")).fail(new Error("no"));
    await using next = await openSecondProcess(t, [newer]);
    await next.advance("10m");
    await next.work();
    const journal = await next.pawl.journal(newer, "c");
    expect(journal.map((move) => `${move.definition} ${move.event}: ${move.to}`)).toEqual([
      "1 start: checking",
      "1 checked: deciding",
      "1 fail: failed",
      "2 recover: checking",
      "2 checked: judging",
      "2 decided: done",
    ]);
    expect(await next.pawl.inspect.verify()).toEqual([]);
  });

  test("a newer process that touches a failed instance takes its recovery over, at its time", async () => {
    const { older, newer } = versions(() => {});
    await using t = await store.open({ lifecycles: [older] });
    await t.pawl.start(older, { key: "c" });
    await t.pawl.send(older, "c", "fail");
    await using next = await openSecondProcess(t, [newer]);
    await t.advance("4m");
    await next.pawl.send(newer, "c", "noted");
    await t.advance("6m");
    expect(await t.work()).toBe(0); // It is none of the older process's any more.
    await next.maintain();
    expect(await next.work()).toBeGreaterThan(0);
    expect(await next.pawl.get(newer, "c")).toMatchObject({ state: "done", definition: 2 });
    expect(await next.pawl.inspect.verify()).toEqual([]);
  });

  test("failures count over versions, and a newer one may give more of them", async () => {
    const { older } = versions(() => {});
    await using t = await store.open({ lifecycles: [older] });
    await t.pawl.start(older, { key: "c" });
    for (const isLast of [false, false, true]) {
      await (await t.claim("claim/checking")).fail(new Error("no"));
      if (!isLast) await t.pawl.send(older, "c", "recover");
    }
    expect(await t.pawl.deadLetters.list({ lifecycle: older })).toHaveLength(1);
    const patient = lifecycle("claim", {
      version: 2,
      initial: "checking",
      recovery: { maxFailures: 5, after: "10m" },
      states: {
        checking: { run: async () => {}, retry: once, on: { checked: "deciding" } },
        deciding: { run: async () => {}, retry: once, on: { decided: "done" } },
        done: { final: "success" },
        failed: { on: { noted: {} } },
      },
    });
    await using next = await openSecondProcess(t, [patient]);
    const [letter] = await next.pawl.deadLetters.list({ lifecycle: patient });
    await next.pawl.deadLetters.requeue(letter!.id, { actor: "ada" });
    await (await next.claim("claim/checking")).fail(new Error("no"));
    expect(await next.pawl.deadLetters.list({ lifecycle: patient })).toEqual([]);
    expect((await next.pawl.explain(patient, "c")).recovery).toMatchObject({
      failures: 4,
      maxFailures: 5,
      next: { kind: "recovery" },
    });
  });

  test("a recovery that was scheduled comes also where the newer definition has none", async () => {
    const { older } = versions(() => {});
    await using t = await store.open({ lifecycles: [older] });
    await t.pawl.start(older, { key: "c" });
    await t.pawl.send(older, "c", "fail");
    const plain = lifecycle("claim", {
      version: 2,
      initial: "checking",
      states: {
        checking: { run: async () => {}, retry: once, on: { checked: "deciding" } },
        deciding: { run: async () => {}, retry: once, on: { decided: "done" } },
        done: { final: "success" },
        failed: { on: { noted: {} } },
      },
    });
    await using next = await openSecondProcess(t, [plain]);
    await next.advance("10m");
    await next.work();
    expect(await next.pawl.get(plain, "c")).toMatchObject({ state: "done" });
    await next.pawl.start(plain, { key: "d" });
    await next.pawl.send(plain, "d", "fail");
    expect(await next.pawl.deadLetters.list({ lifecycle: plain })).toMatchObject([{ key: "d" }]);
    expect(await next.pawl.inspect.verify()).toEqual([]);
  });
});
