import { job, lifecycle, PawlError } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import { closedLanesTopic } from "../../src/kernel/lanes/closed-lanes.ts";
import { sql } from "../../src/store/port/db.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { eachStore } from "../support/each-store.ts";
import { gateOf } from "../support/gate.ts";
import { openSecondProcess } from "../support/second-process.ts";
import { WatchedWorker } from "../support/watched-worker.ts";

const ran: string[] = [];
/** What steps wait for. */
const held = { by: Promise.resolve() };
const run = async (step: { key: string | null }) => {
  ran.push(step.key!);
  await held.by;
};

const letter = lifecycle("letter", {
  initial: "writing",
  states: { writing: { run, on: { written: "done" } }, done: { final: "success" } },
});
const timed = lifecycle("timed", {
  deadline: { within: "1h" },
  initial: "writing",
  states: {
    writing: {
      run: (step) => run(step).then(() => step.go("written")),
      timeout: { after: "10m", send: "late" },
      on: { written: "done", late: "done" },
    },
    done: { final: "success" },
  },
});
const limited = job("limited", { run, limit: 1 });
const rated = job("rated", { run, rate: "1/h" });
const breakable = lifecycle("breakable", {
  initial: "calling",
  states: { calling: { run, uses: "phone", on: { called: "done" } }, done: { final: "success" } },
});
const errand = job("errand", { run });
const lifecycles = [letter, timed, limited, rated, breakable, errand];
/** A worker that polls once an hour: what it does sooner, it was given or notified of. */
const rarely = { pollInterval: "1h", maintenanceInterval: "1h", concurrency: 16 } as const;

eachStore((store) => {
  const open = () => {
    ran.splice(0);
    held.by = Promise.resolve();
    return store.open({ lifecycles });
  };

  /** A worker that rests now, having found nothing. */
  const resting = async (t: TestPawl, options = {}) => {
    const rests: number[] = [];
    const watched = new WatchedWorker(t.pawl, { ...rarely, ...options }, ({ to, restMs }) => {
      if (to === "Idle") rests.push(restMs!);
    });
    while ((rests.at(-1) ?? 0) < 100) await watched.next("Backoff → Idle");
    return watched.worker;
  };
  /** From now on nothing is claimed until the end: what begins before that came with its start. */
  const withoutClaims = (t: TestPawl) => {
    const end = gateOf();
    t.faults.plant("claim.before", () => end.promise);
    return end;
  };
  const whats = async (t: TestPawl, of: typeof letter, key: string) =>
    (await t.pawl.history(of, key)).map((one) => (one.kind === "attempt" ? one.what : one.kind));

  test("a resting worker runs the first step of what its process starts without a claim, and the history has the attempt", async () => {
    await using t = await open();
    const worker = await resting(t);
    const claims = withoutClaims(t);
    const starts = [
      t.pawl.start(letter, { key: "a" }),
      t.pawl.start(timed, { key: "b" }),
      t.pawl.enqueue(errand, {}, { key: "c" }),
    ];
    await Promise.all(starts);
    await Promise.all([t.pawl.wait(letter, "a"), t.pawl.wait(timed, "b"), t.pawl.wait(errand, "c")]);
    claims.resolve();
    await worker.stop();
    const [start, attempt, end] = await t.pawl.history(letter, "a");
    expect([start, end]).toMatchObject([{ kind: "move" }, { kind: "move", event: "written" }]);
    expect(attempt).toMatchObject({
      kind: "attempt",
      what: "claimed",
      attempt: 1,
      worker: worker.id,
      outcome: "written",
    });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("the caller goes on before the step begins", async () => {
    await using t = await open();
    const worker = await resting(t);
    const began = t.pawl.start(letter, { key: "a" }).then(() => [...ran]);
    expect(await began).toEqual([]);
    await t.pawl.wait(letter, "a");
    await worker.stop();
  });

  test("a step gets its data as it was stored, not the objects of the caller", async () => {
    const seen: unknown[] = [];
    const payloads = z.object({ list: z.array(z.number()) });
    const report = job("report", { payload: payloads, run: (step) => void seen.push(step.payload) });
    await using t = await store.open({ lifecycles: [report] });
    const worker = await resting(t);
    const payload = { list: [1] };
    const enqueued = t.pawl.enqueue(report, payload, { key: "a" });
    payload.list.push(2);
    await enqueued;
    await t.pawl.wait(report, "a");
    await worker.stop();
    expect(seen).toEqual([{ list: [1] }]);
  });

  test("more starts than free slots all run, once each, and none waits for the next poll", async () => {
    await using t = await open();
    const worker = await resting(t, { concurrency: 2 });
    const keys = Array.from({ length: 20 }, (_, n) => `k${n}`);
    await Promise.all(keys.map((key) => t.pawl.start(letter, { key })));
    await t.pawl.startMany(
      letter,
      keys.map((key) => ({ key: `many-${key}` })),
    );
    for (const key of keys) await Promise.all([t.pawl.wait(letter, key), t.pawl.wait(letter, `many-${key}`)]);
    await worker.stop();
    expect(ran.sort()).toEqual([...keys, ...keys.map((key) => `many-${key}`)].sort());
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a pause that another process made holds for a start at once, also where this process has not heard of it", async () => {
    await using t = await open();
    await using other = await openSecondProcess(t, lifecycles);
    const worker = await resting(t);
    const claims = withoutClaims(t);
    await other.pawl.lanes.pause(letter, { state: "writing", reason: "x" });
    await t.pawl.start(letter, { key: "a" });
    expect(await t.db.rows(sql`select queue, worker, attempt from pawl.tasks`)).toEqual([
      { queue: "letter@1/writing", worker: null, attempt: 0 },
    ]);
    t.kernel.signals.hint(closedLanesTopic);
    claims.resolve();
    await t.pawl.enqueue(errand, {}, { key: "e" });
    await t.pawl.wait(errand, "e");
    expect(ran).toEqual(["e"]);
    await t.pawl.lanes.resume(letter, { state: "writing" });
    await t.pawl.wait(letter, "a");
    await worker.stop();
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a limit and a rate hold for what is started beside a resting worker", async () => {
    await using t = await open();
    const end = gateOf();
    held.by = end.promise;
    const worker = await resting(t);
    for (const key of ["l1", "l2"]) await t.pawl.enqueue(limited, {}, { key });
    for (const key of ["r1", "r2"]) await t.pawl.enqueue(rated, {}, { key });
    await t.pawl.enqueue(errand, {}, { key: "last" });
    while (ran.length < 3) await new Promise(setImmediate);
    expect([...ran].sort()).toEqual(["l1", "last", "r1"]);
    end.resolve();
    await t.pawl.wait(limited, "l2");
    await worker.stop();
    expect(ran).not.toContain("r2");
  });

  test("nothing is leased with a start while the breaker of its state is open", async () => {
    await using t = await open();
    const worker = await resting(t);
    await t.pawl.breakers.force("phone", "open", { reason: "x" });
    await t.pawl.start(breakable, { key: "a" });
    expect(await t.db.rows(sql`select worker, attempt from pawl.tasks`)).toEqual([{ worker: null, attempt: 0 }]);
    await t.pawl.breakers.force("phone", "closed", { reason: "x" });
    await t.pawl.wait(breakable, "a");
    await worker.stop();
    expect(ran).toEqual(["a"]);
  });

  test("what is more urgent and waits already runs first", async () => {
    await using t = await open();
    const end = gateOf();
    held.by = end.promise;
    const worker = await resting(t, { concurrency: 1, prefetch: 0 });
    await t.pawl.enqueue(errand, {}, { key: "runs" });
    while (ran.length < 1) await new Promise(setImmediate);
    await t.pawl.enqueue(errand, {}, { key: "normal" });
    await t.pawl.enqueue(errand, {}, { key: "urgent", priority: -1 });
    end.resolve();
    await t.pawl.enqueue(errand, {}, { key: "late" });
    for (const key of ["normal", "urgent", "late"]) await t.pawl.wait(errand, key);
    await worker.stop();
    expect(ran).toEqual(["runs", "urgent", "normal", "late"]);
  });

  test("a start inside a transaction waits in its lane, and one that is rolled back takes no slot", async () => {
    await using t = await open();
    const worker = await resting(t, { concurrency: 1 });
    const failed = t.pawl.transaction(async (tx) => {
      await t.pawl.start(letter, { key: "a", tx });
      expect(await tx.query("select worker from pawl.tasks")).toMatchObject({ rows: [{ worker: null }] });
      throw new Error("no");
    });
    await expect(failed).rejects.toThrow("no");
    await t.pawl.start(letter, { key: "b" });
    await t.pawl.wait(letter, "b");
    await worker.stop();
    expect(ran).toEqual(["b"]);
  });

  test("a key that is taken leaves the slot free", async () => {
    await using t = await open();
    await t.pawl.start(letter, { key: "a" });
    const worker = await resting(t, { concurrency: 1 });
    for (let turn = 0; turn < 3; turn++) await t.pawl.start(letter, { key: "a" });
    await t.pawl.start(letter, { key: "b" });
    await t.pawl.wait(letter, "b");
    await worker.stop();
    expect(ran).toEqual(["a", "b"]);
  });

  test("a worker that stops while a start leases a step to it returns the step unspent", async () => {
    await using t = await open();
    const worker = await resting(t);
    let stopped = Promise.resolve();
    t.faults.plant("start.after", () => {
      stopped = worker.stop();
    });
    await t.pawl.start(letter, { key: "a" });
    await stopped;
    while ((await whats(t, letter, "a")).length < 3) await new Promise(setImmediate);
    expect(await whats(t, letter, "a")).toEqual(["move", "claimed", "released"]);
    expect(await t.work()).toBe(1);
    expect(await t.pawl.history(letter, "a")).toMatchObject([{}, {}, {}, { what: "claimed", attempt: 1 }, {}]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a start whose reply was lost finds its lease, and the step runs once", async () => {
    await using t = await open();
    const worker = await resting(t);
    t.faults.plant("start.after", () => {
      throw new PawlError("outcome_unknown", "lost");
    });
    await t.pawl.start(letter, { key: "a" });
    await t.pawl.wait(letter, "a");
    await worker.stop();
    expect(ran).toEqual(["a"]);
    expect(await whats(t, letter, "a")).toEqual(["move", "claimed", "move"]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a lease of a start whose outcome stays unknown is returned by its worker, unspent", async () => {
    await using t = await open();
    const worker = await resting(t);
    t.faults.plant("start.after", () => {
      throw new PawlError("outcome_unknown", "lost");
    });
    t.faults.plant("start.before", "throw", 2);
    await expect(t.pawl.start(letter, { key: "a" })).rejects.toMatchObject({ code: "outcome_unknown" });
    await t.pawl.wait(letter, "a");
    await worker.stop();
    expect(ran).toEqual(["a"]);
    expect(await whats(t, letter, "a")).toEqual(["move", "claimed", "released", "claimed", "move"]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a process that dies with the step of its start loses one attempt, once the lease has lapsed", async () => {
    await using t = await open();
    const gone = { reserve: () => ({ worker: "gone", leaseMs: 30_000 }), settle: () => {} };
    t.kernel.localWorkers.add(gone);
    await t.pawl.start(letter, { key: "a" });
    t.kernel.localWorkers.remove(gone);
    expect(await t.work()).toBe(0);
    await t.advance("31s");
    expect(await t.work()).toBe(1);
    expect(await whats(t, letter, "a")).toEqual(["move", "claimed", "lapsed", "claimed", "move"]);
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a worker for other lanes is given nothing, and nor is one of a process that does not declare the lifecycle", async () => {
    await using t = await open();
    const worker = await resting(t, { lanes: ["errand"] });
    await t.pawl.start(letter, { key: "a" });
    await t.pawl.enqueue(errand, {}, { key: "e" });
    await t.pawl.wait(errand, "e");
    await worker.stop();
    expect(ran).toEqual(["e"]);
    expect(await whats(t, letter, "a")).toEqual(["move"]);
  });

  test("a delayed job is not leased with its start", async () => {
    await using t = await open();
    const worker = await resting(t);
    await t.pawl.enqueue(errand, {}, { key: "a", after: "1h" });
    expect(await t.db.rows(sql`select worker, queue from pawl.tasks`)).toEqual([
      { worker: null, queue: "errand@1/pending" },
    ]);
    await worker.stop();
    expect(ran).toEqual([]);
  });
});
