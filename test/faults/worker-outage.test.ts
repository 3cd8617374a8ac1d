import { lifecycle } from "pawl";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isPawlError } from "../../src/base/errors.ts";
import { sql } from "../../src/store/port/db.ts";
import { type PostgresServer, startPostgres } from "../setup/postgres.ts";
import { gateOf } from "../support/gate.ts";
import { type BehindProxy, openBehindProxy } from "./harm/behind-proxy.ts";

interface Running {
  once(name: string, work: () => string): Promise<string>;
  children(): Promise<readonly unknown[]>;
  call(dependency: string, work: () => Promise<string>): Promise<string>;
}

/** What the step does, set by each test. */
let work: (step: Running) => Promise<void> | void = () => {};

const errandOfOne = lifecycle("errand_of_one", {
  initial: "working",
  states: {
    working: { run: (step) => work(step), retry: { maxAttempts: 1, backoff: () => 0 }, on: { worked: "packing" } },
    packing: { run: () => {}, retry: { maxAttempts: 1, backoff: () => 0 }, on: { packed: "done" } },
    done: { final: "success" },
  },
});

function cut(t: BehindProxy): void {
  t.proxy.refuse = Number.POSITIVE_INFINITY;
  t.proxy.cutAll();
}

describe("the database goes away for a while", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  const open = () => openBehindProxy(server.url, undefined, { lifecycles: [errandOfOne] });

  async function returned(t: BehindProxy): Promise<string[]> {
    const rows = await t.db.rows<{ what: string }>(sql`select what from pawl.attempts where what <> 'claimed'`);
    return rows.map(({ what }) => what);
  }

  /** By the straight way: a connection of the pool may be one that was cut. */
  async function ended(t: BehindProxy, id: string): Promise<void> {
    for (let state = ""; state !== "done"; ) {
      const [row] = await t.db.rows<{ state: string }>(sql`select state from pawl.instances where id = ${id}::uuid`);
      ({ state } = row!);
      if (state === "failed") throw new Error("The instance failed.");
    }
  }

  test("a report that meets an outage is tried again until it is written, and its only attempt is not lost", async () => {
    await using t = await open();
    const [begun, finish, failed] = [gateOf(), gateOf(), gateOf()];
    work = () => {
      begun.resolve();
      return finish.promise;
    };
    const worker = t.pawl.work({ concurrency: 1, onFailure: () => failed.resolve() });
    const { id } = await t.pawl.start(errandOfOne, {});
    await begun.promise;
    cut(t);
    await failed.promise;
    finish.resolve();
    while (worker.slots.ReportingSuccess === 0) await new Promise(setImmediate);
    t.proxy.refuse = 0;
    await ended(t, id);
    expect(await returned(t)).toEqual([]);
    await worker.stop();
  }, 60_000);

  test("what a step keeps and asks for while the database is away waits for it, and its only attempt is not lost", async () => {
    await using t = await open();
    const away = () => {
      t.proxy.cutAll();
      t.proxy.refuse = 3;
    };
    let calls = 0;
    const answers: unknown[] = [];
    work = async (step) => {
      away();
      answers.push(await step.children());
      away();
      answers.push(await step.once("kept", () => `result ${++calls}`));
      t.proxy.loseReplies(/insert into pawl\.memos/, 1);
      answers.push(await step.once("lost", () => `result ${++calls}`));
      away();
      answers.push(await step.call("carrier", async () => "called"));
    };
    const worker = t.pawl.work({ concurrency: 1, onFailure: () => {} });
    const { id } = await t.pawl.start(errandOfOne, {});
    await ended(t, id);
    expect(answers).toEqual([[], "result 1", "result 2", "called"]);
    expect(t.proxy.cuts.replies).toBe(1);
    expect(await returned(t)).toEqual([]);
    await worker.stop();
  }, 60_000);

  test("a report whose reply is lost goes on with the step that came with it", async () => {
    await using t = await open();
    work = () => t.proxy.loseReplies(/update pawl\.instances as/, 1);
    const worker = t.pawl.work({ concurrency: 1, onFailure: () => {} });
    const { id } = await t.pawl.start(errandOfOne, {});
    await ended(t, id);
    expect(t.proxy.cuts.replies).toBe(1);
    expect(await returned(t)).toEqual([]);
    await worker.stop();
  }, 60_000);

  test("a step that has ended is reported, and not run again, by a worker that is stopped meanwhile", async () => {
    await using t = await open();
    const [begun, finish] = [gateOf(), gateOf()];
    let runs = 0;
    work = () => {
      runs += 1;
      begun.resolve();
      return finish.promise;
    };
    const worker = t.pawl.work({ concurrency: 1, shutdownGrace: "1s", onFailure: () => {} });
    const { id } = await t.pawl.start(errandOfOne, {});
    await begun.promise;
    cut(t);
    finish.resolve();
    while (worker.slots.ReportingSuccess === 0) await new Promise(setImmediate);
    const stopped = worker.stop();
    t.proxy.refuse = 0;
    await stopped;
    const next = t.pawl.work({ concurrency: 1, onFailure: () => {} });
    await ended(t, id);
    expect(runs).toBe(1);
    await next.stop();
  }, 60_000);

  test("hints of work do not shorten the wait after an error", async () => {
    await using t = await open();
    const moves: string[] = [];
    const waits = gateOf();
    const again = gateOf();
    const worker = t.pawl.work({
      pollInterval: 20,
      onFailure: () => {},
      onMove: ({ from, to }) => {
        moves.push(`${from} → ${to}`);
        if (to === "ErrorWait") waits.resolve();
        if (from === "ErrorWait") again.resolve();
      },
    });
    await t.pawl.start(errandOfOne, {});
    cut(t);
    await waits.promise;
    for (let hint = 0; hint < 40; hint++) {
      t.kernel.signals.hint("errand_of_one@1/working");
      await new Promise(setImmediate);
    }
    expect(worker.state).toBe("ErrorWait");
    expect(moves.filter((move) => move.endsWith("→ ErrorWait"))).toHaveLength(1);
    t.proxy.refuse = 0;
    await again.promise;
    await worker.stop();
  }, 60_000);

  test("a worker that waits after an error stops at once", async () => {
    await using t = await open();
    const waits = gateOf();
    const worker = t.pawl.work({ onFailure: () => {}, onMove: ({ to }) => to === "ErrorWait" && waits.resolve() });
    cut(t);
    await waits.promise;
    await worker.stop();
    expect(worker.state).toBe("ErrorWait");
    await expect(t.pawl.inspect.counts(errandOfOne)).rejects.toSatisfy((error) =>
      isPawlError(error, "database_unreachable"),
    );
    t.proxy.refuse = 0;
  }, 60_000);
});
