import { lifecycle, PermanentError, TransientError } from "pawl";
import { expect, test } from "vitest";
import { PawlError } from "../../../src/base/errors.ts";
import { gatesOf } from "../../../src/kernel/lanes/gates.ts";
import { claimFromGates, claimFromLanes, renewTaskLeases } from "../../../src/kernel/tasks/claim.ts";
import { report } from "../../../src/kernel/tasks/report.ts";
import type { ClaimedTask } from "../../../src/kernel/types/claimed-task.ts";
import { insertToken } from "../../../src/store/callbacks/callback-tokens.ts";
import { sql } from "../../../src/store/port/db.ts";
import { saveMemo } from "../../../src/store/tasks/memos.ts";
import type { TestPawl, TestWorker } from "../../../src/testing/test-pawl.ts";
import { eachStoreAndPooler } from "../../support/each-store.ts";
import { parcel } from "../../support/parcel.ts";

const lost = { code: "lease_lost" };

/** Everything that the holder of a lease can say. */
const words: Record<string, (worker: TestWorker) => Promise<void>> = {
  report: (worker) => worker.report("labeled"),
  fail: (worker) => worker.fail(new Error("x")),
  giveUp: (worker) => worker.giveUp("x"),
  retryLater: (worker) => worker.retryLater("1m"),
  release: (worker) => worker.release(),
  renew: (worker) => worker.renew(),
};

eachStoreAndPooler((store) => {
  async function open(): Promise<TestPawl> {
    const t = await store.open({ lifecycles: [parcel] });
    await t.pawl.start(parcel, { key: "p", data: { address: "Elm 3" } });
    return t;
  }

  test("R88 a claim is atomic: of many claimers at once, one gets the task", async () => {
    await using t = await open();
    const claims = await Promise.allSettled(Array.from({ length: 8 }, () => t.claim("parcel/labeling")));
    expect(claims.filter((one) => one.status === "fulfilled")).toHaveLength(1);
  });

  test("R97 a worker that lost its lease cannot complete the task", async () => {
    await using t = await open();
    const slow = await t.claim("parcel/labeling");
    await t.advance("31s");
    const quick = await t.claim("parcel/labeling");
    expect(quick.attempt).toBe(2);
    await expect(slow.report("labeled")).rejects.toMatchObject(lost);
    await quick.report("labeled");
    await expect(slow.report("labeled")).rejects.toMatchObject(lost);
    expect(await t.pawl.journal(parcel, "p")).toHaveLength(2);
  });

  for (const [word, say] of Object.entries(words)) {
    test(`R97 ${word} is refused when the lease lapsed, passed on, was given back, or its state was left`, async () => {
      await using t = await open();
      const lapsed = await t.claim("parcel/labeling");
      await t.advance("31s");
      await expect(say(lapsed)).rejects.toMatchObject(lost);
      const released = await t.claim("parcel/labeling");
      await released.release();
      await expect(say(released)).rejects.toMatchObject(lost);
      const superseded = await t.claim("parcel/labeling");
      await expect(say(lapsed)).rejects.toMatchObject(lost);
      await t.pawl.send(parcel, "p", "fail");
      await t.pawl.send(parcel, "p", "recover");
      await expect(say(superseded)).rejects.toMatchObject(lost);
      const current = await t.claim("parcel/labeling");
      await expect(say(superseded)).rejects.toMatchObject(lost);
      await current.report("labeled");
      expect(await t.pawl.get(parcel, "p")).toMatchObject({ state: "packed" });
    });
  }

  test("R97 a claim that the database has lost in a failover does not become valid again with the next one", async () => {
    await using t = await open();
    const [before] = await t.db.rows<{ task: string }>(sql`
      select row_to_json(task)::text as task, setval('pawl.tokens', 1000) from pawl.tasks as task`);
    const stale = await t.claim("parcel/labeling");
    // What a standby lacks that is promoted: the claim, and the values of sequences that were taken since.
    await t.db.script(`
      set session_replication_role = replica;
      delete from pawl.tasks; delete from pawl.attempts;
      insert into pawl.tasks select (json_populate_record(null::pawl.tasks, '${before!.task}')).*;
      select setval('pawl.tokens', 1000);
      set session_replication_role = origin;`);
    const current = await t.claim("parcel/labeling");
    await expect(stale.report("labeled")).rejects.toMatchObject(lost);
    await expect(stale.renew()).rejects.toMatchObject(lost);
    await current.report("labeled");
    expect(await t.pawl.journal(parcel, "p")).toHaveLength(2);
  });

  test.each([
    ["first", [0, 1]],
    ["last", [1, 0]],
  ])(
    "R97 of two attempts reported together, the lost one %s, only the one that holds the lease is written",
    async (_, order) => {
      await using t = await open();
      const claim = { lanes: ["parcel@1/labeling"], limit: 1, share: 1, worker: "w", leaseMs: 1_000 };
      const [first] = await claimFromLanes(t.kernel, claim);
      t.kernel.expiry.cover(claim.leaseMs); // As a worker does; leases of 30 s are spared while the server is new.
      await t.advance("1s");
      const [second] = await claimFromLanes(t.kernel, claim);
      const granted: ClaimedTask[] = [];
      const stay = { grant: () => ({ worker: "w", leaseMs: 1_000 }), take: (next: ClaimedTask) => granted.push(next) };
      const both = [first!, second!];
      const reports = order.map((place) => ({
        task: both[place]!,
        outcome: { kind: "event" as const, event: "labeled", payload: undefined, patch: {} },
        stay,
      }));
      expect(await report(t.kernel, reports)).toEqual(order.map((place) => (place === 1 ? "written" : "lease_lost")));
      expect(granted.length).toBeLessThanOrEqual(1);
      expect(await t.pawl.journal(parcel, "p")).toHaveLength(2);
    },
  );

  test("R98 a lease that is renewed goes on, and a running task always has its end", async () => {
    await using t = await open();
    const worker = await t.claim("parcel/labeling");
    for (let turn = 0; turn < 5; turn++) {
      await t.advance("20s");
      await worker.renew();
    }
    await worker.report("labeled");
    expect(await t.pawl.get(parcel, "p")).toMatchObject({ state: "packed" });
  });

  /** Every task with its owner and how long it is leased from now on. */
  async function tasks(t: TestPawl): Promise<{ lane: string; worker: string | null; left_ms: number | null }[]> {
    return t.db.rows(sql`
      select lane, worker, (pawl.ms(leased_until) - pawl.ms(pawl.now()))::float8 as left_ms from pawl.tasks order by lane`);
  }

  test("R98 whichever way a task begins to run, it has an owner and a lease that ends in the future; else neither", async () => {
    const chain = lifecycle("chain", {
      initial: "one",
      states: {
        one: { run: () => {}, on: { next: { to: "two", after: () => {} } } },
        two: { run: () => {}, on: { next: "gated" } },
        gated: { run: () => {}, limit: 1, on: { next: "done" } },
        done: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [chain] });
    await t.pawl.start(chain, { key: "k" });
    expect(await tasks(t)).toEqual([{ lane: "chain@1/one", worker: null, left_ms: null }]);
    const holder = { worker: "w", leaseMs: 5_000 };
    const claimed = async (lane: string) =>
      (await claimFromLanes(t.kernel, { lanes: [lane], limit: 1, share: 1, ...holder }))[0]!;
    const next = { kind: "event" as const, event: "next", payload: undefined, patch: {} };
    // Claimed; then granted with a report; the effect of that move claimed; the last step claimed behind its gate.
    const one = await claimed("chain@1/one");
    expect(await tasks(t)).toEqual([{ lane: "chain@1/one", worker: "w", left_ms: 5_000 }]);
    const granted: ClaimedTask[] = [];
    const stay = { grant: () => holder, take: (task: ClaimedTask) => granted.push(task) };
    await report(t.kernel, [{ task: one, outcome: next, stay }]);
    await claimed("chain@1:after");
    expect(await tasks(t)).toEqual([
      { lane: "chain@1/two", worker: "w", left_ms: 5_000 },
      { lane: "chain@1:after", worker: "w", left_ms: 5_000 },
    ]);
    await report(t.kernel, [{ task: granted[0]!, outcome: next }]);
    const gates = gatesOf(t.kernel, ["chain@1/gated"]);
    const [gated] = await claimFromGates(t.kernel, { gates, limit: 1, ...holder });
    expect((await tasks(t))[0]).toEqual({ lane: "chain@1/gated", worker: "w", left_ms: 5_000 });
    // Given back, it has neither.
    await report(t.kernel, [{ task: gated!, outcome: { kind: "released" } }]);
    expect((await tasks(t))[0]).toEqual({ lane: "chain@1/gated", worker: null, left_ms: null });
  });

  test("R98 the database refuses a running task without the end of its lease, or without its owner", async () => {
    await using t = await open();
    const violation = { code: "invariant_broken" };
    const refused = (change: string) =>
      expect(t.db.rows({ text: `update pawl.tasks set ${change}`, name: "", values: [] })).rejects.toMatchObject(
        violation,
      );
    await refused("queue = null, worker = 'w'");
    await refused("leased_until = pawl.now() + interval '1 minute'");
    await t.claim("parcel/labeling");
    await refused("leased_until = null");
    await refused("worker = null");
    await refused("worker = null, leased_until = null");
    expect(await tasks(t)).toMatchObject([{ worker: expect.any(String), left_ms: 30_000 }]);
  });

  test("R98 a lease that is not renewed ends by the database's clock, whoever held it", async () => {
    await using t = await open();
    const worker = await t.claim("parcel/labeling");
    await t.advance("29s");
    expect((await t.maintain()).lapsed).toBe(0);
    await worker.renew();
    await t.advance("29s");
    expect((await tasks(t))[0]).toMatchObject({ left_ms: 1_000 });
    await t.advance("1s");
    await t.maintain();
    expect(await tasks(t)).toEqual([{ lane: "parcel@1/labeling", worker: null, left_ms: null }]);
    await expect(worker.renew()).rejects.toMatchObject(lost);
  });

  test.skipIf(store.kind === "pglite")(
    "a renewal that meets a locked row is skipped, not lost; `once` and a callback token do not lock it out",
    async () => {
      await using t = await open();
      const [task] = await claimFromLanes(t.kernel, {
        lanes: ["parcel@1/labeling"],
        limit: 1,
        share: 1,
        worker: "w",
        leaseMs: 1_000,
      });
      const { lease } = task!;
      const key = { instanceId: task!.row.id, owner: "o", name: "n" };
      await t.db.transaction(async (tx) => {
        await saveMemo(tx, lease, key, "1");
        await insertToken(tx, lease, {
          id: t.kernel.newId(),
          hash: "h",
          instanceId: key.instanceId,
          event: "e",
          expiresAfterMs: 1,
        });
        expect(await renewTaskLeases(t.kernel, [lease], 1_000)).toEqual({ lost: [], skipped: [] });
      });
      const wrong = { ...lease, token: lease.token + 1 };
      await t.db.transaction(async (tx) => {
        await tx.query("select from pawl.tasks for update");
        expect(await renewTaskLeases(t.kernel, [lease], 1_000)).toEqual({ lost: [], skipped: [lease] });
        expect(await renewTaskLeases(t.kernel, [wrong], 1_000)).toEqual({ lost: [wrong], skipped: [] });
      });
      expect(await renewTaskLeases(t.kernel, [lease], 1_000)).toEqual({ lost: [], skipped: [] });
    },
  );

  test("R96 a crashed worker's task runs again while attempts remain, and then the instance fails", async () => {
    await using t = await open();
    for (const attempt of [1, 2, 3]) {
      expect((await t.claim("parcel/labeling")).attempt).toBe(attempt);
      await t.advance("31s");
    }
    expect(await t.pawl.get(parcel, "p")).toMatchObject({ state: "failed" });
    expect((await t.pawl.journal(parcel, "p")).at(-1)).toMatchObject({
      event: "fail",
      source: "worker",
      payload: { reason: "lease_exhausted", attempts: 3 },
    });
  });

  test("a lease that lapsed while the database was away is left alone for one lease duration, and spends no attempt", async () => {
    await using t = await open();
    await t.pawl.start(parcel, { key: "q", data: { address: "Elm 4" } });
    const ahead = (by: string) => t.db.script(`update pawl.test_clock set now = now + interval '${by}'`);
    const leaseMs = 300;
    t.kernel.expiry.cover(leaseMs);
    await t.maintain();
    const [alive, dead] = [await t.claim("parcel/labeling"), await t.claim("parcel/labeling")];
    const awayAt = performance.now();
    t.kernel.expiry.failed(new PawlError("database_unreachable", "The database cannot be reached."));
    while (performance.now() - awayAt <= leaseMs / 3) await new Promise(setImmediate);
    await ahead("60 seconds");
    expect((await t.maintain()).lapsed).toBe(0);
    await alive.renew();
    await ahead("300 milliseconds");
    expect((await t.maintain()).lapsed).toBe(1);
    const again = await t.claim("parcel/labeling");
    expect([again.id, again.attempt]).toEqual([dead.id, 1]);
    await alive.report("labeled");
    await again.report("labeled");
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("a lapse that was seen but renewed meanwhile takes nothing away", async () => {
    await using t = await open();
    const worker = await t.claim("parcel/labeling");
    t.faults.plant("lapse.read", () => worker.renew());
    await t.db.script("update pawl.test_clock set now = now + interval '31 seconds'");
    expect((await t.maintain()).lapsed).toBe(0);
    await worker.report("labeled");
  });

  test("a failed attempt is tried again after its pause, and the last one fails the instance", async () => {
    await using t = await open();
    for (const attempt of [1, 2, 3]) {
      await (await t.claim("parcel/labeling")).fail(new Error(`no ink ${attempt}\u0000`));
      await expect(t.claim("parcel/labeling")).rejects.toThrow("Nothing is ready");
      await t.advance(attempt * 1_000);
    }
    expect(await t.pawl.get(parcel, "p")).toMatchObject({ state: "failed" });
    const history = await t.pawl.history(parcel, "p");
    expect(history.map((one) => (one.kind === "move" ? one.event : one.what))).toEqual([
      "start",
      "claimed",
      "failed",
      "claimed",
      "failed",
      "claimed",
      "fail",
    ]);
    expect(history.at(-1)).toMatchObject({
      payload: { reason: "attempts_used_up", attempts: 3, error: { message: "no ink 3\uFFFD" } },
    });
  });

  test("work that is given up leaves one dead letter with its reason, its last error and its attempts", async () => {
    await using t = await open();
    await (await t.claim("parcel/labeling")).fail(new PermanentError("no such address"));
    const [letter, ...others] = await t.pawl.deadLetters.list({ lifecycle: parcel });
    expect(others).toEqual([]);
    expect(letter).toMatchObject({
      kind: "instance",
      origin: "labeling",
      attempts: 1,
      error: { name: "PermanentError", message: "no such address" },
      createdAt: t.now(),
    });
    expect(await t.pawl.get(parcel, { id: letter!.instance! })).toMatchObject({ key: "p", state: "failed" });
  });

  test("R66 the time that a service asks to wait comes before the policy's own pause, be it longer or shorter", async () => {
    await using t = await open();
    await (await t.claim("parcel/labeling")).fail(new TransientError("429", { retryAfterMs: 90_000 }));
    await t.advance("89s");
    await expect(t.claim("parcel/labeling")).rejects.toThrow("Nothing is ready");
    await t.advance("1s");
    await (await t.claim("parcel/labeling")).fail(new TransientError("429", { retryAfterMs: 100 }));
    await t.advance("100ms");
    expect((await t.claim("parcel/labeling")).attempt).toBe(3);
  });

  test("R67 a permanent error is not tried again: it is a dead letter at once", async () => {
    await using t = await open();
    await (await t.claim("parcel/labeling")).fail(new PermanentError("no such address"));
    expect(await t.pawl.get(parcel, "p")).toMatchObject({ state: "failed" });
    expect(await t.pawl.deadLetters.list({ lifecycle: parcel })).toMatchObject([
      { attempts: 1, error: { name: "PermanentError" } },
    ]);
  });

  test("what is given back or put off does not spend an attempt", async () => {
    await using t = await open();
    await (await t.claim("parcel/labeling")).release();
    await (await t.claim("parcel/labeling")).retryLater("1h");
    await t.advance("1h");
    expect((await t.claim("parcel/labeling")).attempt).toBe(1);
  });

  test("a step's result that its definition has no edge for waits for the author; one that a guard is against is an attempt", async () => {
    await using t = await open();
    await (await t.claim("parcel/labeling")).report("delivered");
    const history = await t.pawl.history(parcel, "p");
    expect(history.at(-1)).toMatchObject({
      what: "deferred",
      detail: { reason: "definition", error: { message: expect.stringContaining("`delivered` is not allowed in") } },
    });
    expect(await t.pawl.get(parcel, "p")).toMatchObject({ state: "labeling" });
    await t.advance("10m");
    expect((await t.claim("parcel/labeling")).attempt).toBe(1);
    const doubtful = lifecycle("doubtful", {
      initial: "a",
      states: {
        a: { run: async () => {}, on: { x: { to: "b", guard: () => "not like that" } } },
        b: { final: "success" },
      },
    });
    await using other = await store.open({ lifecycles: [doubtful] });
    await other.pawl.start(doubtful, { key: "d" });
    await (await other.claim("doubtful/a")).report("x");
    expect((await other.pawl.history(doubtful, "d")).at(-1)).toMatchObject({
      what: "failed",
      detail: { error: { message: expect.stringContaining("not like that") } },
    });
  });

  test("messages and data of a step commit with its outcome and with nothing else", async () => {
    await using t = await open();
    await (await t.claim("parcel/labeling")).fail(new Error("x"));
    await t.advance("2s");
    const worker = await t.claim("parcel/labeling");
    await worker.report("labeled", undefined, {
      set: { label: "z" },
      publish: [
        { type: "label.printed", payload: { n: 1 } },
        { type: "label.printed", payload: { n: 2 } },
      ],
    });
    const { rows } = await t.pawl.transaction((tx) =>
      tx.query("select message_type, payload, status, version, place from pawl.messages order by version, place"),
    );
    expect(rows).toEqual([
      { message_type: "label.printed", payload: { n: 1 }, status: "pending", version: 2, place: 0 },
      { message_type: "label.printed", payload: { n: 2 }, status: "pending", version: 2, place: 1 },
    ]);
  });

  test("a claim never takes more than its limit, lower priorities first, then the older", async () => {
    const urgent = lifecycle("urgent", {
      initial: "run",
      states: { run: { run: () => {}, priority: -5, on: { ok: "done" } }, done: { final: "success" } },
    });
    await using t = await store.open({ lifecycles: [parcel, urgent] });
    const parcels = await t.pawl.startMany(
      parcel,
      Array.from({ length: 5 }, () => ({ data: { address: "x" } })),
    );
    const urgents = await t.pawl.startMany(urgent, [{}, {}]);
    const claim = { lanes: ["parcel@1/labeling", "urgent@1/run"], limit: 4, share: 4, worker: "w", leaseMs: 1_000 };
    const tasks = await claimFromLanes(t.kernel, { ...claim, limit: 3, share: 2 });
    expect(tasks).toHaveLength(3);
    const rest = await claimFromLanes(t.kernel, { ...claim, limit: 10, share: 10 });
    expect([...tasks, ...rest].map((one) => one.row.id).sort()).toEqual(
      [...parcels, ...urgents].map((one) => one.id).sort(),
    );
    expect(await claimFromLanes(t.kernel, claim)).toEqual([]);
  });

  test("two effects of one instance end together, and only the one whose lease holds leaves a dead letter", async () => {
    const told = lifecycle("told", {
      initial: "open",
      states: {
        open: { forever: true, on: { note: { after: () => {} }, close: "shut" } },
        shut: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [told] });
    await t.pawl.start(told, { key: "k" });
    await t.pawl.send(told, "k", "note");
    await t.pawl.send(told, "k", "note");
    const claim = { lanes: ["told@1:after"], limit: 1, share: 1, worker: "w", leaseMs: 1_000 };
    const [slow] = await claimFromLanes(t.kernel, claim);
    t.kernel.expiry.cover(claim.leaseMs);
    await t.advance("1s"); // Its lease lapses, and the task goes to somebody else.
    const both = await claimFromLanes(t.kernel, { ...claim, worker: "other", limit: 2, share: 2 });
    const own = both.find((one) => one.lease.taskId !== slow!.lease.taskId)!;
    const outcome = { kind: "gave_up" as const, reason: "no use" };
    expect(
      await report(
        t.kernel,
        [slow!, own].map((task) => ({ task, outcome })),
      ),
    ).toEqual(["lease_lost", "written"]);
    expect(await t.pawl.deadLetters.list({ lifecycle: told })).toHaveLength(1);
  });

  test("within one moment a claim is told before its end, wherever the table has put them", async () => {
    await using t = await open();
    await (await t.claim("parcel/labeling")).fail(new Error("no ink"));
    await t.db.script(`
      set session_replication_role = replica;
      with claim as (delete from pawl.attempts where what = 'claimed' returning *) insert into pawl.attempts select * from claim;
      set session_replication_role = origin;
      analyze pawl.attempts;`);
    const history = await t.pawl.history(parcel, "p");
    expect(history.map((one) => (one.kind === "move" ? one.event : one.what))).toEqual(["start", "claimed", "failed"]);
  });

  test("R100 every move to running, done or error, and every other, leaves a row that nobody can change", async () => {
    const shipment = lifecycle("shipment", {
      initial: "packing",
      states: {
        packing: { run: () => {}, retry: { maxAttempts: 3, backoff: () => 1_000 }, on: { packed: "done" } },
        done: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [shipment] });
    const claim = () => t.claim("shipment/packing");
    const ends = {
      done: async () => (await claim()).report("packed"),
      failed: async () => (await claim()).giveUp("no box"),
    };
    const told = async (key: string) =>
      (await t.pawl.history(shipment, key)).map((one) => (one.kind === "move" ? `→ ${one.to}` : one.what));
    for (const [key, end] of Object.entries(ends)) {
      await t.pawl.start(shipment, { key });
      await (await claim()).fail(new Error("no tape"));
      await t.advance("1s");
      await (await claim()).release();
      await claim(); // Its worker falls silent.
      await t.advance("31s");
      await end();
      expect(await told(key)).toEqual([
        ...["→ packing", "claimed", "failed", "claimed", "released", "claimed", "lapsed", "claimed"],
        `→ ${key}`,
      ]);
    }
    const before = await Promise.all(Object.keys(ends).map(told));
    for (const table of ["attempts", "journal"]) {
      for (const change of ["update $ set at = pawl.now()", "delete from $", "truncate $"]) {
        const sent = t.db.script(change.replace("$", `pawl.${table}`));
        await expect(sent, `${change} ${table}`).rejects.toThrow(/append-only|stays as long as/);
      }
    }
    expect(await Promise.all(Object.keys(ends).map(told))).toEqual(before);
  });
});
