import type { Worker } from "node:worker_threads";
import { lifecycle, type PawlError } from "pawl";
import { expect, test } from "vitest";
import { sql } from "../../src/store/port/db.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { CapturedLog } from "../support/captured-log.ts";
import { eachStoreAndPooler } from "../support/each-store.ts";
import { gateOf } from "../support/gate.ts";

/** A step under the test's control: its attempt, its signal, and how it is ended. */
interface Running {
  readonly key: string;
  readonly state: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
  end(): void;
}

const running: Running[] = [];

function begin(state: string, step: { key: string | null; attempt: number; signal: AbortSignal }): Promise<void> {
  const gate = gateOf();
  running.push({ key: step.key!, state, attempt: step.attempt, signal: step.signal, end: () => gate.resolve() });
  return gate.promise;
}

const retry = { maxAttempts: 3, backoff: () => 0 };
const letter = lifecycle("letter", {
  initial: "writing",
  states: {
    writing: {
      run: async (step) => {
        await begin("writing", step);
        return step.go("written");
      },
      retry,
      on: { written: "sending", torn: "done" },
    },
    sending: { run: (step) => begin("sending", step), retry, on: { sent: "done" } },
    done: { final: "success" },
  },
});

const leaseMs = 300;

eachStoreAndPooler((store) => {
  async function open(keys: readonly string[], logger: CapturedLog | false = false): Promise<TestPawl> {
    running.length = 0;
    const t = await store.open({ lifecycles: [letter], logger });
    for (const key of keys) await t.pawl.start(letter, { key });
    return t;
  }

  async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await isSo())) await new Promise(setImmediate);
  }

  async function whenRunning(key: string, state = "writing", attempt = 1): Promise<Running> {
    const find = () => running.find((one) => one.key === key && one.state === state && one.attempt === attempt);
    await until(() => find() !== undefined);
    return find()!;
  }

  /** Moves the clock on by less than a lease, until the lease of this instance was renewed since. */
  async function untilRenewed(t: TestPawl, key: string): Promise<void> {
    const { id } = (await t.pawl.get(letter, key))!;
    await t.db.script("update pawl.test_clock set now = now + interval '100 milliseconds'");
    await until(async () => {
      const [task] = await t.db.rows<{ fresh: boolean }>(sql`
        select leased_until >= pawl.now() + ${leaseMs}::float8 * interval '1 millisecond' as fresh
        from pawl.tasks where id = ${id}::uuid`);
      return task!.fresh;
    });
  }

  /** What became of its attempts; each of its two steps is claimed. */
  async function attempts(t: TestPawl, key: string): Promise<string[]> {
    const history = await t.pawl.history(letter, key);
    return history.flatMap((one) => (one.kind === "attempt" ? [one.what] : []));
  }

  const reasonOf = ({ signal }: Running) => (signal.reason as PawlError | undefined)?.details.reason;

  // An embedded database has one connection, which an open transaction keeps to itself.
  const holders: Record<string, (t: TestPawl, id: string, during: () => Promise<void>) => Promise<void>> = {
    "has locked its row": (t, id, during) =>
      t.pawl.transaction(async (tx) => {
        await tx.query("select from pawl.tasks where id = $1 for update", [id]);
        await during();
      }),
    "has sent an event that it then rolls back": async (t, id, during) => {
      const rollback = new Error("rolled back");
      const work = t.pawl.transaction(async (tx) => {
        await t.pawl.send(letter, { id }, "torn", { tx });
        await during();
        throw rollback;
      });
      await expect(work).rejects.toBe(rollback);
    },
  };
  for (const [what, hold] of Object.entries(holders)) {
    test.skipIf(store.kind === "pglite")(
      `a step goes on, and its lease is renewed, after renewals met an open transaction that ${what}`,
      async () => {
        await using t = await open(["locked", "free"]);
        const worker = t.pawl.work({ leaseDuration: leaseMs, maintenanceInterval: "1h", onFailure: () => {} });
        const [locked, free] = [await whenRunning("locked"), await whenRunning("free")];
        const { id } = (await t.pawl.get(letter, "locked"))!;
        await hold(t, id, async () => {
          for (let round = 0; round < 2; round++) await untilRenewed(t, "free");
          expect(locked.signal.aborted).toBe(false);
        });
        await untilRenewed(t, "locked");
        expect([locked.signal.aborted, free.signal.aborted]).toEqual([false, false]);
        for (const key of ["locked", "free"]) {
          (await whenRunning(key)).end();
          (await whenRunning(key, "sending")).end();
          await t.pawl.wait(letter, key, { until: "done" });
          expect(await attempts(t, key)).toEqual(["claimed", "claimed"]);
        }
        await worker.stop();
      },
    );
  }

  test.skipIf(store.kind !== "pglite")(
    "a renewal that was under way when a step ended does not abort the next step of its instance",
    async () => {
      await using t = await open(["a"]);
      const worker = t.pawl.work({ leaseDuration: leaseMs, maintenanceInterval: "1h", onFailure: () => {} });
      const first = await whenRunning("a");
      const answered = gateOf();
      // The list of leases is read; before it is sent, the report of the step brings the next one under a new token.
      t.faults.plant("renew.before", async () => {
        first.end();
        await whenRunning("a", "sending");
      });
      // Renewals take turns with what an abort would read first: after some more of them it would have come.
      t.faults.plant("renew.before", () => answered.resolve(), 8);
      const next = await whenRunning("a", "sending");
      await answered.promise;
      expect(next.signal.aborted).toBe(false);
      next.end();
      await t.pawl.wait(letter, "a", { until: "done" });
      expect(next.signal.aborted).toBe(false);
      await worker.stop();
    },
  );

  test("a worker that claims its own expired task again aborts the attempt before", async () => {
    await using t = await open(["a"]);
    const worker = t.pawl.work({ leaseDuration: "1h", maintenanceInterval: "1h", onFailure: () => {} });
    const first = await whenRunning("a");
    // An attempt that is not known to have begun would not count.
    await until(async () => (await t.db.rows<{ begun: boolean }>(sql`select begun from pawl.tasks`))[0]!.begun);
    await t.advance("61m");
    const second = await whenRunning("a", "writing", 2);
    expect(reasonOf(first)).toBe("lapsed");
    expect(second.signal.aborted).toBe(false);
    first.end();
    second.end();
    (await whenRunning("a", "sending")).end();
    await t.pawl.wait(letter, "a", { until: "done" });
    expect(await attempts(t, "a")).toEqual(["claimed", "lapsed", "claimed", "claimed"]);
    await worker.stop();
  });

  test("a step that ignores its aborted signal is counted, logged and shown, and gives its slot to other work", async () => {
    const log = new CapturedLog();
    await using t = await open(["stuck"], log);
    const worker = t.pawl.work({
      concurrency: 1,
      abortGrace: 10,
      leaseDuration: "1h",
      maintenanceInterval: "1h",
      pollInterval: 10,
    });
    const stuck = await whenRunning("stuck");
    await t.pawl.start(letter, { key: "next" });
    await t.pawl.send(letter, "stuck", "torn");
    const next = await whenRunning("next");
    expect(reasonOf(stuck)).toBe("superseded");
    expect(worker.stuck).toBe(1);
    expect(worker.slots).toEqual({ Claiming: 0, Processing: 1, ReportingSuccess: 0, ReportingFailure: 0 });
    await until(async () => (await t.pawl.workers.list())[0]?.stuck === 1);
    expect((await t.pawl.inspect.metrics()).split("\n")).toContain("pawl_stuck_steps 1");
    expect((await t.pawl.inspect.overview()).needs).toMatchObject([{ what: "workers", level: "warn" }]);
    expect(log.lines).toContainEqual({
      level: "warn",
      message: expect.stringContaining("ignores its aborted signal"),
      fields: expect.objectContaining({ lane: "letter@1/writing", stuck: 1 }),
    });
    // As many slots are freed as there are; one more stuck step keeps its own.
    await t.pawl.send(letter, "next", "torn");
    await until(() => worker.stuck === 2);
    expect(worker.slots.Processing).toBe(1);
    expect(log.said("error").some((line) => line.includes("keeps its slot"))).toBe(true);
    // What they return in the end is refused.
    const before = await t.pawl.history(letter, "stuck");
    stuck.end();
    next.end();
    await until(() => worker.stuck === 0 && worker.slots.ReportingSuccess === 0);
    await t.pawl.start(letter, { key: "last" });
    (await whenRunning("last")).end();
    (await whenRunning("last", "sending")).end();
    await t.pawl.wait(letter, "last", { until: "done" });
    expect(await t.pawl.history(letter, "stuck")).toEqual(before);
    await worker.stop();
  });

  test.skipIf(store.kind === "pglite")("the thread that renews leases is started again when it ends", async () => {
    await using t = await open(["a"]);
    const threads: Worker[] = [];
    const note = (thread: Worker) => threads.push(thread);
    process.on("worker", note);
    const failures: unknown[] = [];
    const worker = t.pawl.work({
      leaseDuration: leaseMs,
      maintenanceInterval: "1h",
      onFailure: (error) => failures.push(error),
    });
    const step = await whenRunning("a");
    await threads[0]!.terminate();
    await untilRenewed(t, "a");
    expect(threads.length).toBe(2);
    const told = expect.objectContaining({ code: "busy", message: expect.stringContaining("started again") as string });
    expect(failures).toContainEqual(told);
    step.end();
    (await whenRunning("a", "sending")).end();
    await t.pawl.wait(letter, "a", { until: "done" });
    expect(await attempts(t, "a")).toEqual(["claimed", "claimed"]);
    process.off("worker", note);
    await worker.stop();
  });
});
