import { job, lifecycle, type WorkerMove } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import type { WorkOptions } from "../../src/worker/settings.ts";
import { loopStates, slotStates, workerMoves } from "../../src/worker/states.ts";
import type { Worker } from "../../src/worker/work.ts";
import { eachStoreAndPooler } from "../support/each-store.ts";
import { gateOf } from "../support/gate.ts";

/** What a step does, set by each test. */
const steps: { run: (step: { data: { n: number }; signal: AbortSignal; attempt: number }) => unknown } = {
  run: () => {},
};

const task = lifecycle("task", {
  data: z.object({ n: z.number().default(0), result: z.string().optional() }),
  initial: "work",
  states: {
    work: {
      run: (step) => steps.run(step as never) as undefined,
      retry: { maxAttempts: 3, backoff: () => 0 },
      on: { ok: "done" },
    },
    done: { final: "success" },
  },
});

/** A worker whose moves are kept, and a way to wait for one of them. */
class Watched {
  readonly moves: string[] = [];
  readonly failures: unknown[] = [];
  readonly worker: Worker;
  #waiting: { move: string; resolve: () => void }[] = [];

  constructor(t: TestPawl, options: WorkOptions = {}, hear: (move: WorkerMove) => unknown = () => {}) {
    const onMove = (made: WorkerMove) => {
      hear(made);
      const move = `${made.from} → ${made.to}`;
      this.moves.push(move);
      const heard = this.#waiting.filter((one) => one.move === move);
      this.#waiting = this.#waiting.filter((one) => one.move !== move);
      for (const one of heard) one.resolve();
    };
    const onFailure = (error: unknown) => this.failures.push(error);
    this.worker = t.pawl.work({ concurrency: 1, prefetch: 0, onMove, onFailure, ...options });
  }

  /** Resolves when the move is made from now on. */
  next(move: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ move, resolve }));
  }
}

eachStoreAndPooler((store) => {
  const open = () => store.open({ lifecycles: [task] });

  test("R93 the worker's states and moves are S3's eleven and sixteen", () => {
    expect([...loopStates, ...slotStates]).toHaveLength(11);
    expect(workerMoves.length + 1).toBe(16); // and from any state into ErrorWait
  });

  test("R87 nothing found leads over Backoff and Idle to Connecting, with ever longer rests, short again after work", async () => {
    steps.run = () => {};
    await using t = await open();
    const rests: number[] = [];
    const watched = new Watched(t, { poll: 160 }, ({ to, restMs }) => to === "Idle" && rests.push(restMs!));
    while (rests.length < 6) await watched.next("Idle → Connecting");
    await t.pawl.start(task, { key: "a", data: {} });
    await t.pawl.wait(task, "a", { until: "done" });
    const before = rests.length;
    await watched.next("Idle → Connecting");
    await watched.worker.stop();
    expect(watched.moves.slice(0, 6)).toEqual([
      "Startup → Connecting",
      "Connecting → Recovery",
      "Recovery → Polling",
      "Polling → Backoff",
      "Backoff → Idle",
      "Idle → Connecting",
    ]);
    expect(rests.slice(0, 6)).toEqual([10, 20, 40, 80, 160, 160]);
    expect(Math.min(...rests.slice(before - 1))).toBeLessThanOrEqual(20);
  });

  test("R86 polling takes the next ready task of those that the worker is for: the most urgent, then the oldest", async () => {
    const order: string[] = [];
    const errand = job("errand", { run: (step) => void order.push(step.key!) });
    await using t = await store.open({ lifecycles: [task, errand] });
    steps.run = () => void order.push("somebody else's");
    await t.pawl.start(task, { data: {} });
    await t.pawl.enqueue(errand, {}, { key: "later", after: "1h" });
    await t.pawl.enqueue(errand, {}, { key: "third" });
    await t.pawl.enqueue(errand, {}, { key: "last", priority: 3 });
    await t.pawl.enqueue(errand, {}, { key: "fourth" });
    await t.pawl.enqueue(errand, {}, { key: "first", priority: -2 });
    await t.pawl.enqueue(errand, {}, { key: "second", priority: -1 });
    const watched = new Watched(t, { only: ["errand"] });
    await t.pawl.wait(errand, "last");
    await watched.worker.stop();
    expect(order).toEqual(["first", "second", "third", "fourth", "last"]);
  });

  test("R85 recovery runs only when its interval has elapsed, and resets the leases of dead workers", async () => {
    steps.run = () => {};
    await using t = await open();
    const recoveries = () => t.faults.visits("lapse.read");
    const rare = new Watched(t, { maintainEvery: "1h", poll: 10 });
    for (let turn = 0; turn < 5; turn++) await rare.next("Connecting → Recovery");
    await t.pawl.start(task, { key: "a", data: {} });
    await t.pawl.wait(task, "a", { until: "done" });
    await rare.worker.stop();
    expect(recoveries()).toBe(1);
    await t.pawl.start(task, { key: "b", data: {} });
    await t.claim("task/work"); // A worker that is never heard of again.
    const before = recoveries();
    const often = new Watched(t, { maintainEvery: 0, poll: 10 });
    while (recoveries() - before < 3) await often.next("Recovery → Polling");
    expect(await t.pawl.get(task, "b")).toMatchObject({ state: "work" });
    await t.db.script("update pawl.test_clock set now = now + interval '31 seconds'");
    await t.pawl.wait(task, "b", { until: "done" });
    await often.worker.stop();
    const attempts = (await t.pawl.journal(task, "b", { attempts: true })).filter((one) => one.kind === "attempt");
    expect(attempts.map((one) => one.what)).toEqual(["claimed", "lapsed", "claimed"]);
  });

  test("R88 a claim that is lost before its task began leads back to Polling", async () => {
    const gate = gateOf();
    const begun: number[] = [];
    steps.run = (step) => {
      begun.push(step.data.n);
      return gate.promise;
    };
    await using t = await open();
    await t.pawl.start(task, { key: "k1", data: { n: 1 } });
    await t.pawl.start(task, { key: "k2", data: { n: 2 } });
    const watched = new Watched(t, { prefetch: 1, lease: 300 });
    while (watched.worker.slots.Claiming < 1 || begun.length < 1) await new Promise(setImmediate);
    const lost = watched.next("Claiming → Polling");
    await t.pawl.send(task, "k2", "discard");
    await lost;
    gate.resolve();
    await watched.worker.stop();
    expect(begun).toEqual([1]);
  });

  test("R89 processing dispatches each task to the handler of its type: a state's step, an after-effect, a job", async () => {
    const ran: string[] = [];
    const note = (what: string) => () => void ran.push(what);
    const parcel = lifecycle("parcel", {
      initial: "packing",
      states: {
        packing: { run: note("packing"), on: { packed: { to: "shipping", after: note("after packed") } } },
        shipping: { run: note("shipping"), on: { shipped: "done" } },
        done: { final: "success" },
      },
    });
    const sweep = job("sweep", { run: note("sweep") });
    const mail = job("mail", { run: note("mail") });
    await using t = await store.open({ lifecycles: [parcel, sweep, mail] });
    await t.pawl.start(parcel, { key: "p" });
    await t.pawl.enqueue(sweep, {}, { key: "s" });
    await t.pawl.enqueue(mail, {}, { key: "m" });
    const watched = new Watched(t);
    await Promise.all([t.pawl.wait(parcel, "p"), t.pawl.wait(sweep, "s"), t.pawl.wait(mail, "m")]);
    while (ran.length < 5) await watched.next("Processing → ReportingSuccess");
    await watched.worker.stop();
    expect(ran.sort()).toEqual(["after packed", "mail", "packing", "shipping", "sweep"]);
  });

  test("what a step is given can be taken apart and passed on, and loses nothing by it", async () => {
    const rest: object[] = [];
    const parcel = lifecycle("parcel", {
      data: z.object({ n: z.number().default(1) }),
      initial: "packing",
      states: {
        packing: {
          run: ({ data, ...step }) => {
            rest.push({ ...step });
            step.set({ n: data.n + 1 });
            return step.signal.aborted ? step.giveUp("aborted") : step.go("packed");
          },
          on: { packed: "done" },
        },
        done: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [parcel] });
    await t.pawl.start(parcel, { key: "p", data: {} });
    const { worker } = new Watched(t);
    expect((await t.pawl.wait(parcel, "p")).data).toEqual({ n: 2 });
    await worker.stop();
    expect(Object.keys(rest[0]!).sort().join(" ")).toBe(
      "attempt call callbackToken children giveUp go id idempotencyKey key log once parent payload progress publish retryLater send set signal start",
    );
  });

  test("at concurrency 1 a task is claimed, processed, reported as a success, and polling goes on", async () => {
    steps.run = () => {};
    await using t = await open();
    await t.pawl.start(task, { key: "a", data: {} });
    const watched = new Watched(t);
    await watched.next("ReportingSuccess → Polling");
    await watched.next("Polling → Backoff");
    await watched.worker.stop();
    const from = watched.moves.indexOf("Polling → Claiming");
    expect(watched.moves.slice(from, from + 5)).toEqual([
      "Polling → Claiming",
      "Claiming → Processing",
      "Processing → ReportingSuccess",
      "ReportingSuccess → Polling",
      "Polling → Backoff",
    ]);
    expect(await t.pawl.get(task, "a")).toMatchObject({ state: "done", outcome: "success" });
  });

  test("a failure is reported with the exception, and polling goes on", async () => {
    steps.run = () => {
      throw new TypeError("no ink");
    };
    await using t = await open();
    await t.pawl.start(task, { key: "a", data: {} });
    const watched = new Watched(t);
    await t.pawl.wait(task, "a", { until: "failed" });
    await watched.worker.stop();
    expect(watched.moves).toContain("Processing → ReportingFailure");
    expect(watched.moves).toContain("ReportingFailure → Polling");
    expect((await t.pawl.journal(task, "a")).at(-1)).toMatchObject({
      event: "fail",
      payload: { attempts: 3, error: { name: "TypeError", message: "no ink" } },
    });
  });

  test("R92 a connection error or any other exception leads to ErrorWait, and from there to Connecting", async () => {
    steps.run = () => {};
    await using t = await open();
    t.faults.plant("claim.before", "throw");
    const watched = new Watched(t);
    await watched.next("Polling → ErrorWait");
    expect(watched.worker.state).toBe("ErrorWait");
    const again = watched.next("ErrorWait → Connecting");
    t.kernel.signals.hint("task@1/work"); // Work is there: the wait ends early.
    await again;
    await t.pawl.start(task, { key: "a", data: {} });
    await t.pawl.wait(task, "a", { until: "done" });
    await watched.worker.stop();
    expect(watched.failures).toHaveLength(1);
  });

  test("R93 every move that a worker makes is in the table", async () => {
    steps.run = (step) => {
      if (step.data.n % 3 === 0 && step.attempt === 1) throw new Error("now and then");
    };
    await using t = await open();
    await t.pawl.startMany(
      task,
      Array.from({ length: 40 }, (_, n) => ({ data: { n } })),
    );
    t.faults.plant("claim.before", "throw", 4);
    const watched = new Watched(t, { concurrency: 4, prefetch: 3, maintainEvery: 0 });
    await watched.next("Polling → ErrorWait");
    t.kernel.signals.hint("task@1/work");
    while ((await t.pawl.counts(task)).done !== 40) await watched.next("Idle → Connecting");
    await watched.worker.stop();
    const known = new Set(workerMoves.map(([from, to]) => `${from} → ${to}`));
    const strange = watched.moves.filter((move) => !known.has(move) && !move.endsWith("→ ErrorWait"));
    expect(strange).toEqual([]);
    expect(Object.values(watched.worker.slots)).toEqual([0, 0, 0, 0]);
  });

  test("R95 stop claims nothing more, lets what runs finish, and gives back what only waits, its attempt unspent", async () => {
    const gate = gateOf();
    const begun = gateOf();
    steps.run = async () => {
      begun.resolve();
      await gate.promise;
    };
    await using t = await open();
    await t.pawl.startMany(
      task,
      Array.from({ length: 3 }, (_, n) => ({ key: `k${n}`, data: { n } })),
    );
    const watched = new Watched(t, { prefetch: 1 });
    await begun.promise;
    const stopped = watched.worker.stop();
    await t.pawl.get(task, "k0");
    gate.resolve();
    await stopped;
    expect(watched.moves).toContain("Claiming → Polling");
    expect(await t.pawl.counts(task)).toEqual({ done: 1, work: 2 });
    steps.run = () => {};
    expect((await t.claim("task/work")).attempt).toBe(1);
  });

  test("a step that outlives the grace time is aborted and its task given back", async () => {
    const begun = gateOf();
    steps.run = (step) => {
      begun.resolve();
      return new Promise((_, reject) => step.signal.addEventListener("abort", () => reject(step.signal.reason)));
    };
    await using t = await open();
    await t.pawl.start(task, { key: "a", data: {} });
    const watched = new Watched(t, { grace: 0 });
    await begun.promise;
    await watched.worker.stop();
    expect((await t.claim("task/work")).attempt).toBe(1);
  });

  test("R94 what is done is never picked again", async () => {
    let runs = 0;
    steps.run = () => {
      runs += 1;
    };
    await using t = await open();
    await t.pawl.startMany(
      task,
      Array.from({ length: 200 }, (_, n) => ({ data: { n } })),
    );
    const workers = [1, 2, 3].map(() => new Watched(t, { concurrency: 10 }));
    while ((await t.pawl.counts(task)).done !== 200) await workers[0]!.next("Idle → Connecting");
    await Promise.all(workers.map((one) => one.worker.stop()));
    expect(runs).toBe(200);
  });

  test("work that is sent from this process is begun at once, without waiting for a poll", async () => {
    steps.run = () => {};
    await using t = await open();
    const watched = new Watched(t, { poll: "1h" });
    for (let turn = 0; turn < 12; turn++) {
      await t.pawl.start(task, { key: `k${turn}`, data: {} });
      await t.pawl.wait(task, `k${turn}`, { until: "done" });
    }
    await watched.worker.stop();
  });
});
