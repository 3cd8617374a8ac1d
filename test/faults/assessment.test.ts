import { type Alert, createPawl, type Pawl } from "pawl";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Trouble } from "../../examples/assessment/services/trouble.ts";
import { type Stage, setStage } from "../../examples/assessment/stage.ts";
import { newPostgresStore, type TestStore } from "../../src/testing/stores.ts";
import { onPostgres } from "../setup/suites.ts";
import { WorkerProcess } from "./harm/worker-process.ts";

/** By candidate, the step at which it is held: `"attempt/completed before"` that has done its work, or `after`. */
type Holds = Readonly<Record<string, string>>;

onPostgres("an assessment whose workers are killed", () => {
  let store: TestStore;
  let stage: Stage;
  let pawl: Pawl;
  const workers: Worker[] = [];
  const alerts: Alert[] = [];

  beforeEach(async () => {
    store = await newPostgresStore(process.env.PAWL_TEST_POSTGRES_URL!);
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.kill()));
    await pawl.close();
    await stage.close();
    await store.dispose();
  });

  async function open(minuteMs: number): Promise<(holds: Holds) => Worker> {
    stage = await setStage(new Trouble(), { minuteMs });
    const { lifecycles } = stage;
    const hear = (alert: Alert) => void alerts.push(alert);
    pawl = await createPawl({ database: store.url!, lifecycles, alerts: [hear], logger: false });
    stage.takeVerdictsTo(pawl);
    const env = {
      PAWL_VICTIM_URL: store.url!,
      PAWL_VICTIM_ADDRESSES: JSON.stringify(stage.addresses),
      PAWL_VICTIM_MINUTE: String(minuteMs),
    };
    return (holds) => {
      const worker = new Worker(holds, env);
      workers.push(worker);
      return worker;
    };
  }

  const answers = ["two-sum", "knapsack"].map((question) => ({ question, code: `// ${question}` }));
  const start = (candidate: string) =>
    pawl.start(stage.attempt, { key: candidate, data: { candidate, finished: true, answers } });

  test("R36 killed in every state, before and after its step did its work, every attempt is processed, and no answer is scored twice", async () => {
    const begin = await open(400);
    const { attempt, solve, lifecycles, checker } = stage;
    const lanes = lifecycles.flatMap(({ name, states }) =>
      [...states.values()].filter((state) => state.kind === "work").map((state) => `${name}/${state.name}`),
    );
    const everywhere = [...lanes, "attempt/failed"].flatMap((lane) => [`${lane} before`, `${lane} after`]);
    expect(everywhere).toHaveLength(20);
    for (const candidate of everywhere) {
      await start(candidate);
      await pawl.send(attempt, candidate, candidate.startsWith("attempt/failed") ? "fail" : "complete");
    }
    const victim = begin(Object.fromEntries(everywhere.map((hold) => [hold, hold])));
    const survivor = begin({});
    await victim.work();
    await victim.kill();
    await survivor.work();
    for (const candidate of everywhere) {
      await pawl.wait(attempt, candidate, { until: "processed", timeout: "60s" });
    }
    expect(await pawl.deadLetters.list()).toEqual([]);
    // The attempt fails where its worker was killed, and only there; a solve or a recovery that was lost is simply
    // retried.
    for (const hold of everywhere) {
      const failures = (await pawl.journal(attempt, hold)).filter(({ to }) => to === "failed");
      const [lane] = hold.split(" ");
      const from = { "solve/submitting": [], "attempt/failed": ["created"] }[lane!] ?? [lane!.slice("attempt/".length)];
      expect(failures.map((failure) => failure.from)).toEqual(from);
    }
    // Each answer was scored once for each time that it was submitted, and its verdict applied once.
    const keys = checker.scored.map(({ idempotencyKey }) => idempotencyKey);
    expect(new Set(keys).size).toBe(keys.length);
    const solves = await pawl.list(solve, { limit: 1_000 });
    expect(solves).toHaveLength(everywhere.length * answers.length);
    for (const { id, state } of solves) {
      const events = (await pawl.journal(solve, { id })).map(({ event }) => event);
      expect([state, events.filter((event) => event === "verdict").length]).toEqual(["checked", 1]);
      const handedIn = 1 + events.filter((event) => event === "lost" || event === "resubmit").length;
      expect(checker.scored.filter((one) => one.solve === id).length).toBeLessThanOrEqual(handedIn);
    }
    expect(await pawl.inspect.verify()).toEqual([]);
  }, 180_000);

  test("R12 killed over the same step for the third time, it is given up with one alert", async () => {
    const begin = await open(100);
    const { attempt } = stage;
    await start("unlucky");
    await pawl.send(attempt, "unlucky", "complete");
    const victims = ["before", "after", "before"].map((when) => begin({ unlucky: `attempt/completed ${when}` }));
    const survivor = begin({});
    for (const victim of victims) {
      await victim.work();
      await victim.kill();
    }
    await survivor.work();
    await pawl.wait(attempt, "unlucky", { until: "failed", timeout: "60s" });
    pawl.maintain({ interval: "50ms" }); // Delivers alerts, too.
    await expect.poll(() => alerts, { timeout: 30_000 }).toMatchObject([{ kind: "instance_failed", key: "unlucky" }]);
    expect(await pawl.deadLetters.list()).toMatchObject([
      {
        reason: "recovery_exhausted",
        origin: "completed",
        details: { failures: 3 },
        payload: { reason: "lease_exhausted" },
      },
    ]);
    expect((await pawl.explain(attempt, "unlucky")).recovery?.next).toMatchObject({ kind: "person" });
    expect(await pawl.inspect.verify()).toEqual([]);
  }, 120_000);
});

/** A worker that waits for a signal to start, and holds the steps of some candidates. */
class Worker extends WorkerProcess {
  readonly #missing: Set<string>;
  readonly #holdsAll: Promise<void>;

  constructor(holds: Holds, env: Record<string, string>) {
    const missing = new Set(Object.keys(holds));
    const { promise, resolve } = withResolver();
    super(
      { ...env, PAWL_VICTIM_HOLDS: JSON.stringify(holds) },
      ({ what, words }) => {
        if (what === "held") missing.delete(words[0]!);
        if (missing.size === 0) resolve();
      },
      "test/faults/processes/assessment-child.ts",
    );
    this.#missing = missing;
    this.#holdsAll = promise;
  }

  /** Starts it; resolves when it holds all of them. */
  async work(): Promise<void> {
    this.tell("work");
    let timer: NodeJS.Timeout | undefined;
    const inVain = new Promise<never>((_, reject) => {
      const tell = () => reject(new Error(`It does not come to hold ${[...this.#missing].join(", ")}.`));
      timer = setTimeout(tell, 60_000);
    });
    await Promise.race([this.#holdsAll, inVain]).finally(() => clearTimeout(timer));
  }
}

function withResolver(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
