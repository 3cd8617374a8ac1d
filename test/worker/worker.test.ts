import { job, lifecycle } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import { eachStoreAndPooler } from "../support/each-store.ts";
import { gateOf } from "../support/gate.ts";
import { WatchedWorker } from "../support/watched-worker.ts";

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

eachStoreAndPooler((store) => {
  const open = () => store.open({ lifecycles: [task] });

  test("R87 nothing found leads over Backoff and Idle to Connecting, with ever longer rests, short again after work", async () => {
    steps.run = () => {};
    await using t = await open();
    const rests: number[] = [];
    const watched = new WatchedWorker(
      t.pawl,
      { pollInterval: 160 },
      ({ to, restMs }) => to === "Idle" && rests.push(restMs!),
    );
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
    const watched = new WatchedWorker(t.pawl, { lanes: ["errand"] });
    await t.pawl.wait(errand, "last");
    await watched.worker.stop();
    expect(order).toEqual(["first", "second", "third", "fourth", "last"]);
  });

  test("R85 recovery runs only when its interval has elapsed, and resets the leases of dead workers", async () => {
    steps.run = () => {};
    await using t = await open();
    const recoveries = () => t.faults.visits("lapse.read");
    const rare = new WatchedWorker(t.pawl, { maintenanceInterval: "1h", pollInterval: 10 });
    for (let turn = 0; turn < 5; turn++) await rare.next("Connecting → Recovery");
    await t.pawl.start(task, { key: "a", data: {} });
    await t.pawl.wait(task, "a", { until: "done" });
    await rare.worker.stop();
    expect(recoveries()).toBe(1);
    await t.pawl.start(task, { key: "b", data: {} });
    await t.claim("task/work"); // A worker that is never heard of again.
    const before = recoveries();
    const often = new WatchedWorker(t.pawl, { maintenanceInterval: 0, pollInterval: 10 });
    while (recoveries() - before < 3) await often.next("Recovery → Polling");
    expect(await t.pawl.get(task, "b")).toMatchObject({ state: "work" });
    await t.db.script("update pawl.test_clock set now = now + interval '31 seconds'");
    await t.pawl.wait(task, "b", { until: "done" });
    await often.worker.stop();
    const attempts = (await t.pawl.history(task, "b")).filter((one) => one.kind === "attempt");
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
    const watched = new WatchedWorker(t.pawl, { prefetch: 1, leaseDuration: 300 });
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
    const watched = new WatchedWorker(t.pawl);
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
    const { worker } = new WatchedWorker(t.pawl);
    expect((await t.pawl.wait(parcel, "p")).data).toEqual({ n: 2 });
    await worker.stop();
    expect(Object.keys(rest[0]!).sort().join(" ")).toBe(
      "attempt call callbackToken children giveUp go id idempotencyKey key keyFor log once parent payload progress publish retryLater send set signal start",
    );
  });

  test("at concurrency 1 a task is claimed, processed, reported as a success, and polling goes on", async () => {
    steps.run = () => {};
    await using t = await open();
    await t.pawl.start(task, { key: "a", data: {} });
    const watched = new WatchedWorker(t.pawl);
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
    const watched = new WatchedWorker(t.pawl);
    await t.pawl.wait(task, "a", { until: "failed" });
    await watched.worker.stop();
    expect(watched.moves).toContain("Processing → ReportingFailure");
    expect(watched.moves).toContain("ReportingFailure → Polling");
    expect((await t.pawl.journal(task, "a")).at(-1)).toMatchObject({
      event: "fail",
      payload: { attempts: 3, error: { name: "TypeError", message: "no ink" } },
    });
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
    const watched = new WatchedWorker(t.pawl, { prefetch: 1 });
    await begun.promise;
    const stopped = watched.worker.stop();
    await t.pawl.get(task, "k0");
    gate.resolve();
    await stopped;
    expect(watched.moves).toContain("Claiming → Polling");
    expect(await t.pawl.inspect.counts(task)).toEqual({ done: 1, work: 2 });
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
    const watched = new WatchedWorker(t.pawl, { shutdownGrace: 0 });
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
    const workers = [1, 2, 3].map(() => new WatchedWorker(t.pawl, { concurrency: 10 }));
    while ((await t.pawl.inspect.counts(task)).done !== 200) await workers[0]!.next("Idle → Connecting");
    await Promise.all(workers.map((one) => one.worker.stop()));
    expect(runs).toBe(200);
  });

  test("work that is sent from this process is begun at once, without waiting for a poll", async () => {
    steps.run = () => {};
    await using t = await open();
    const watched = new WatchedWorker(t.pawl, { pollInterval: "1h" });
    for (let turn = 0; turn < 12; turn++) {
      await t.pawl.start(task, { key: `k${turn}`, data: {} });
      await t.pawl.wait(task, `k${turn}`, { until: "done" });
    }
    await watched.worker.stop();
  });
});
