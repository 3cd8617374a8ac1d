import { createPawl, type Pawl } from "pawl";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openPostgres } from "../../src/store/postgres/open.ts";
import { verify } from "../../src/views/verify.ts";
import { type PostgresServer, startPostgres } from "../setup/postgres.ts";
import { Random, repeat, seed } from "./random.ts";
import { poison, relay, thinker } from "./relay.ts";
import { type Said, WorkerProcess } from "./worker-process.ts";

const instances = Number(process.env.PAWL_TEST_INSTANCES ?? 2_000);
const kills = Number(process.env.PAWL_TEST_WORKER_KILLS ?? 40);
const stops = Number(process.env.PAWL_TEST_WORKER_STOPS ?? 10);

describe("workers that are killed, stopped and held up", () => {
  let server: PostgresServer;
  let pawl: Pawl;
  const workers = new Set<WorkerProcess>();

  beforeAll(async () => {
    server = await startPostgres({ durable: true });
    pawl = await createPawl({ database: server.url, lifecycles: [relay, poison, thinker] });
  });
  afterEach(async () => {
    await Promise.all([...workers].map((worker) => worker.kill()));
    workers.clear();
  });
  afterAll(async () => {
    await pawl.close();
    await server.stop();
  });

  function begin(hear: (said: Said) => void, env: Record<string, string> = {}): WorkerProcess {
    const worker = new WorkerProcess({ PAWL_VICTIM_URL: server.url, ...env }, hear);
    workers.add(worker);
    return worker;
  }

  async function violations(): Promise<unknown[]> {
    const db = await openPostgres({ url: server.url });
    try {
      return await verify(db);
    } finally {
      await db.close();
    }
  }

  test("R36 R96 through kills and stops past the lease, every instance ends, on one path, and no step is lost", async () => {
    const random = new Random(seed);
    const begun = new Map<string, { by: Set<WorkerProcess>; attempts: Set<string> }>();
    const made = await pawl.startMany(
      relay,
      Array.from({ length: instances }, () => ({})),
    );
    let ends = 0;
    let faults = 0;
    let wakeUp: (() => void) | undefined;
    const hear = ({ by, what, words }: Said): void => {
      if (what === "begin") {
        const step = begun.get(words[2]!) ?? { by: new Set(), attempts: new Set() };
        step.by.add(by);
        step.attempts.add(words[1]!);
        begun.set(words[2]!, step);
      }
      if (what === "end") ends += 1;
      wakeUp?.();
    };
    /** Until what the workers say makes it true. */
    const until = async (isSo: () => boolean): Promise<void> => {
      while (!isSo()) {
        await new Promise<void>((resolve) => {
          wakeUp = resolve;
        });
      }
    };
    for (let count = 0; count < 4; count++) begin(hear);
    const every = Math.floor((instances * 3 * 0.9) / (kills + stops));
    for (let fault = 0; fault < kills + stops; fault++) {
      const from = ends;
      await until(() => ends - from >= every || ends >= instances * 3);
      const alive = [...workers].filter((worker) => worker.inHand.size > 0);
      const victim = random.pick(alive.length > 0 ? alive : [...workers]);
      if (fault % 5 === 4) {
        victim.stop();
        const held = [...victim.inHand];
        // Its leases lapse, and somebody else does what it held: only then it wakes up, believing that it still holds it.
        await until(() => held.length === 0 || held.some((key) => [...begun.get(key)!.by].some((by) => by !== victim)));
        victim.goOn();
      } else {
        workers.delete(victim);
        await victim.kill();
        begin(hear);
      }
      faults += 1;
    }
    await Promise.all(made.map(({ id }) => pawl.wait(relay, { id }, { until: "done", timeout: "90s" })));
    expect(faults, repeat).toBe(kills + stops);
    expect(await pawl.counts(relay), repeat).toEqual({ done: instances });
    expect(await violations(), repeat).toEqual([]);
    // Each step was begun at least once; more often only under another attempt, since a claim spends it.
    expect(begun.size, repeat).toBe(instances * 3);
    const again = [...begun.values()].filter((step) => step.attempts.size > 1).length;
    expect(again, `${repeat}: some step must have been cut off`).toBeGreaterThan(0);
    expect(again, repeat).toBeLessThanOrEqual((kills + stops) * 8 * 3);
  }, 240_000);

  test("a step that kills its worker ends as one dead letter, not as a loop, and others are not harmed", async () => {
    const { id } = await pawl.start(poison, {});
    const bystander = await pawl.start(relay, {});
    const failed = pawl.wait(poison, { id }, { until: "failed", timeout: "60s" });
    let deaths = 0;
    const replace = async (): Promise<void> => {
      const worker = begin(() => {});
      await worker.ended;
      workers.delete(worker);
      deaths += 1;
      if ((await pawl.get(poison, { id }))!.state !== "failed" && deaths < 10) await replace();
    };
    const replacing = Promise.race([replace(), failed]);
    expect(await failed).toMatchObject({ state: "failed" });
    await replacing;
    expect((await pawl.deadLetters(poison)).map((letter) => letter.reason)).toEqual(["worker_lost"]);
    begin(() => {});
    expect(await pawl.wait(relay, { id: bystander.id }, { timeout: "60s" })).toMatchObject({ outcome: "success" });
    expect(await violations()).toEqual([]);
  }, 120_000);

  test("a step that blocks its process for three leases keeps its task, also when steps hold every connection", async () => {
    await begin(() => {}, { PAWL_VICTIM_CONNECTIONS: "1" }).ready;
    await begin(() => {}).ready; // Somebody who would take it if it could be had.
    const { id } = await pawl.start(thinker, { data: { ms: 9_500 } });
    const thought = await pawl.wait(thinker, { id }, { timeout: "60s" });
    expect(thought).toMatchObject({ state: "done", data: { runs: 1 } });
    const history = await pawl.journal(thinker, { id }, { attempts: true });
    expect(history.filter((one) => one.kind === "attempt").map((one) => one.what)).toEqual(["claimed"]);
  }, 120_000);
});
