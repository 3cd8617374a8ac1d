import { type Alert, constant, job, lifecycle, queue, type StuckReason } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import { deleteWorker, saveHeartbeat } from "../../src/kernel/tasks/workers.ts";
import { sql } from "../../src/store/port/db.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { CapturedLog } from "../support/captured-log.ts";
import { eachStore } from "../support/each-store.ts";
import { openSecondProcess } from "../support/second-process.ts";

const once = { maxAttempts: 1, backoff: constant("1s") };
const jam = () => {
  throw new Error("jammed");
};

const parcel = lifecycle("parcel", {
  data: z.object({ held: z.boolean().default(false) }),
  events: { weighed: z.object({ kilos: z.number() }) },
  initial: "resting",
  states: {
    resting: {
      forever: true,
      on: { work: "working", limit: "limited", park: "parked", jam: "jammed", rest: "resting", weigh: "weighing" },
    },
    working: { run: () => {}, uses: "llm", retry: once, on: { worked: { to: "done", after: () => {} } } },
    limited: { run: () => {}, limit: 1, on: { worked: "done" } },
    parked: {
      release: { interval: "5m", limit: 10, send: "go" },
      on: { go: { to: "done", guard: ({ data }) => !data.held || "it is held back" } },
    },
    jammed: { release: { interval: "1m", limit: 5, send: "go" }, on: { go: { to: "done", guard: jam } } },
    weighing: {
      timeout: { after: "1h", send: "expire" },
      recoverWith: "expire",
      on: { weighed: "done", rest: "resting", expire: { to: "done", guard: () => "the scales are out" } },
    },
    done: { final: "success" },
  },
});

const hooked = lifecycle("hooked", {
  initial: "open",
  states: { open: { forever: true, on: { close: { to: "closed", before: jam } } }, closed: { final: "success" } },
});

const few = queue("few", { label: z.object({ ok: z.boolean() }), labelers: ["ada"] });
const judged = lifecycle("judged", {
  initial: "asking",
  states: {
    asking: { ask: { queue: few, sample: () => ({}) }, on: { answered: "done", unanswered: "failed" } },
    done: { final: "success" },
  },
});

const part = lifecycle("part", {
  initial: "open",
  states: { open: { forever: true, on: { close: "closed" } }, closed: { final: "success" } },
});
const whole = lifecycle("whole", {
  initial: "splitting",
  states: {
    splitting: { run: (step) => step.start(part, { key: "p" }), on: { split: "joining" } },
    joining: { join: {}, on: { joined: "done" } },
    done: { final: "success" },
  },
});
const exam = lifecycle("exam", {
  events: { graded: z.object({ score: z.number() }) },
  initial: "grading",
  states: {
    grading: { forever: true, on: { graded: "over", skip: "over" } },
    over: { forever: true, on: { close: "closed" } },
    closed: { final: "success" },
  },
});

const email = job("email", { run: () => {} });

const all = [parcel, hooked, judged, email];
const lane = "parcel@1/working";

/** Keeps the alerts that it is told. */
function keeping() {
  const heard: Alert[] = [];
  return { name: "kept", heard, send: (alert: Alert) => void heard.push(alert) };
}

function worker(t: TestPawl, lanes: readonly string[]): Promise<void> {
  const row = { id: "w", host: "h", pid: 1, pawl: "1", loop: "Idle", stopping: false, concurrency: 1 };
  return saveHeartbeat(t.kernel, { ...row, slots: {}, stuck: 0, tasks: {}, lanes });
}

/** Raises and tells alerts twice: what is alerted once is heard once. */
async function alerted(t: TestPawl, sink: ReturnType<typeof keeping>): Promise<string[]> {
  const from = sink.heard.length;
  for (let turn = 0; turn < 2; turn++) {
    await t.reportStuck();
    while ((await t.deliverAlerts()) > 0);
  }
  return sink.heard
    .slice(from)
    .map(({ kind, details }) => (kind === "instances_stuck" ? String(details.reason) : kind));
}

/** Moves the clock while no process runs maintenance. */
async function sleep(t: TestPawl, ms: number): Promise<void> {
  await t.db.rows(sql`update pawl.test_clock set now = now + ${ms}::float8 * interval '1 millisecond'`);
}

/** A sample that is asked about is listed as the instance that asks. */
const ofQueues: readonly StuckReason[] = ["unassignable", "queue_inactive"];

/**
 * What is stuck, by reason and place; and `explain` says the same of every instance there is: of none that is in no group, and
 * of each that is in one.
 */
async function stuck(t: TestPawl): Promise<string[]> {
  const groups = await t.pawl.inspect.stuck({ limit: 1_000 });
  const byId = new Map<string, StuckReason[]>();
  for (const { reason, instances } of groups) {
    for (const { id } of instances) byId.set(id, [...(byId.get(id) ?? []), reason]);
  }
  const rows = await t.db.rows<{ id: string; lifecycle: string; asker: string | null }>(sql`
    select id::text as id, lifecycle, parent_id::text as asker from pawl.instances order by id`);
  for (const { id, lifecycle: name, asker } of rows) {
    const explained = (await t.pawl.explain(t.kernel.lifecycles.get(name)!, { id })).stuck;
    const asked = byId.get(asker ?? "") ?? [];
    const found = [...(byId.get(id) ?? []), ...asked.filter((reason) => ofQueues.includes(reason))];
    expect(found.length === 0 ? [null] : found, `${name} ${id}`).toContain(explained?.reason ?? null);
  }
  return groups.map(({ reason, count, ...group }) => {
    expect(group.instances).toHaveLength(count);
    return `${reason} ${group.lane ?? group.queue ?? `${group.lifecycle}/${group.state}`} ${count}`;
  });
}

/** The stuck lines of what needs attention. */
async function attention(t: TestPawl): Promise<string[]> {
  return (await t.pawl.inspect.overview()).needs.filter(({ what }) => what === "stuck").map(({ text }) => text);
}

eachStore((store) => {
  test("a lane without a worker is stuck after a minute, alerts once, and again when that recurs", async () => {
    const [sink, log] = [keeping(), new CapturedLog()];
    await using t = await store.open({ lifecycles: all, alerts: [sink], logger: log });
    for (const key of ["a", "b"]) {
      await t.pawl.start(parcel, { key, data: {} });
      await t.pawl.send(parcel, key, "work");
    }
    await t.advance("59s");
    expect(await stuck(t)).toEqual([]);
    await t.advance("2s");
    expect(await stuck(t)).toEqual([`no_worker ${lane} 2`]);
    expect(await attention(t)).toEqual([
      "2 tasks are stuck in `parcel@1/working` since 2030-01-01 12:00:00 UTC: ready, and no live worker serves this lane. Start a worker that serves this lane.",
    ]);
    expect(await alerted(t, sink)).toEqual(["no_worker"]);
    expect(sink.heard[0]).toMatchObject({ lifecycle: "parcel", instanceId: null, details: { lane, count: 2 } });
    expect(
      log.lines.filter(({ level, fields }) => level === "error" && fields.alert === "instances_stuck"),
    ).toHaveLength(1);
    await worker(t, [lane]);
    expect([await stuck(t), await attention(t), await alerted(t, sink)]).toEqual([[], [], []]);
    await deleteWorker(t.kernel, "w");
    expect(await alerted(t, sink), "it comes and goes within five minutes").toEqual([]);
    await worker(t, [lane]);
    await t.advance("301s");
    await worker(t, [lane]);
    expect(await alerted(t, sink)).toEqual([]);
    await deleteWorker(t.kernel, "w");
    expect(await alerted(t, sink)).toEqual(["no_worker"]);
    expect(await t.pawl.inspect.metrics()).toContain('pawl_instances_stuck{reason="no_worker"} 2');
    expect(await t.pawl.inspect.metrics()).toContain('pawl_instances_stuck{reason="overdue"} 0');
  });

  test("maintenance raises the alert by itself, in one of two processes", async () => {
    await using t = await store.open({ lifecycles: all });
    await t.pawl.start(parcel, { key: "a", data: {} });
    await t.pawl.send(parcel, "a", "work");
    await using one = await openSecondProcess(t, all);
    await using other = await openSecondProcess(t, all);
    const raised = async () =>
      (await t.db.rows(sql`select 1 as one from pawl.alerts where kind = 'instances_stuck'`)).length;
    for (const process of [one, other, one, other]) {
      await t.advance("31s");
      await process.maintain();
    }
    expect(await raised()).toBe(1);
  });

  test("a paused lane without a worker is stuck as one that waits too long, and without the pause for its worker", async () => {
    const sink = keeping();
    await using t = await store.open({ lifecycles: all, alerts: [sink] });
    await t.pawl.start(parcel, { key: "a", data: {} });
    await t.pawl.send(parcel, "a", "work");
    await t.pawl.lanes.pause(parcel, { state: "working", reason: "the model lies", actor: "grace" });
    await t.advance("14m");
    expect(await stuck(t)).toEqual([]);
    await t.advance("2m");
    expect(await stuck(t)).toEqual([`ready_too_long ${lane} 1`]);
    expect((await attention(t))[0]).toContain("the lane has been paused by grace");
    expect(await alerted(t, sink)).toEqual(["ready_too_long"]);
    await t.pawl.lanes.resume(parcel, { state: "working" });
    expect(await stuck(t)).toEqual([`no_worker ${lane} 1`]);
    expect(await alerted(t, sink)).toEqual(["no_worker"]);
  });

  test("an open breaker and a limit are named when they hold work back for too long", async () => {
    const sink = keeping();
    const stuckAfter = { ready: "20s" } as const;
    await using t = await store.open({ lifecycles: all, alerts: [sink], breakers: { llm: {} }, stuckAfter });
    await t.pawl.start(parcel, { key: "a", data: {} });
    await t.pawl.send(parcel, "a", "work");
    await t.pawl.breakers.force("llm", "open", { reason: "an outage", actor: "ada" });
    await t.advance("5m");
    for (const key of ["b", "c"]) {
      await t.pawl.start(parcel, { key, data: {} });
      await t.pawl.send(parcel, key, "limit");
    }
    await t.claim("parcel/limited");
    await t.advance("21s");
    await worker(t, [lane, "parcel@1/limited"]);
    expect((await stuck(t)).sort()).toEqual(["ready_too_long parcel@1/limited 1", `ready_too_long ${lane} 1`]);
    const texts = (await attention(t)).toSorted();
    expect(texts[0]).toContain("the limit of 1 running at a time is reached");
    expect(texts[1]).toContain("breaker `llm` is held open by ada (an outage)");
    expect(await alerted(t, sink)).toEqual(["ready_too_long", "ready_too_long"]);
  });

  test("a task of a low priority that never has its turn is found behind those of a higher one", async () => {
    await using t = await store.open({ lifecycles: all });
    await t.pawl.enqueue(email, {}, { priority: 5 });
    await t.advance("16m");
    for (let at = 0; at < 5; at++) await t.pawl.enqueue(email, {}, { priority: at });
    await worker(t, ["email@1/pending"]);
    expect(await stuck(t)).toEqual(["ready_too_long email@1/pending 1"]);
  });

  test("workers with an older definition, and what only a newer process may move, are told apart", async () => {
    const sink = keeping();
    const odd = (version: number) =>
      lifecycle("odd", {
        version,
        initial: "open",
        states: {
          open: { timeout: { after: "1h", send: "work" }, recoverWith: "work", on: { work: "working" } },
          working: { run: () => {}, on: { worked: "done" } },
          done: { final: "success" },
        },
      });
    const [old, next] = [odd(1), odd(2)];
    await using t = await store.open({ lifecycles: [old], alerts: [sink] });
    await using newer = await openSecondProcess(t, [next]);
    for (const key of ["a", "b"]) await newer.pawl.start(next, { key });
    await newer.pawl.send(next, "a", "work");
    await t.advance("61s");
    await worker(t, ["odd@1/working"]);
    expect(await stuck(t)).toEqual(["worker_outdated odd@2/working 1"]);
    expect(await alerted(t, sink)).toEqual(["worker_outdated"]);
    await t.advance("1h");
    await t.advance("61s");
    await worker(t, ["odd@1/working"]);
    expect((await stuck(t)).sort()).toEqual(["overdue odd/open 1", "worker_outdated odd@2/working 1"]);
    expect(await alerted(t, sink)).toEqual(["overdue"]);
    await newer.maintain();
    await newer.work();
    await worker(t, ["odd@2/working"]);
    expect(await stuck(t)).toEqual([]);
  });

  test("timers, retries, releases and leases are overdue where no process runs maintenance", async () => {
    await using t = await store.open({ lifecycles: all });
    for (const key of ["a", "b", "c"]) await t.pawl.start(parcel, { key, data: { held: true } });
    await t.pawl.send(parcel, "a", "weigh");
    await t.pawl.send(parcel, "b", "park");
    await t.pawl.send(parcel, "c", "work");
    await t.claim("parcel/working");
    await t.pawl.start(parcel, { key: "d", data: {} });
    await t.pawl.send(parcel, "d", "rest", { after: "10m" });
    await sleep(t, 90 * 60_000);
    const found = [
      "overdue parcel/parked 1",
      "overdue parcel/resting 1",
      "overdue parcel/weighing 1",
      `overdue ${lane} 1`,
    ];
    expect((await stuck(t)).sort()).toEqual(found.sort());
    await t.maintain();
    // A process that begins within one lease duration of its server's start spares leases at first (LeaseExpiry).
    const isSpared = (one: string) => one === `overdue ${lane} 1`;
    expect((await stuck(t)).filter((one) => one.startsWith("overdue") && !isSpared(one))).toEqual([]);
  });

  test("joins, questions and results are overdue where no process runs maintenance for them", async () => {
    const sink = keeping();
    await using t = await store.open({ lifecycles: [...all, part, whole, exam], queues: [few], alerts: [sink] });
    await t.pawl.start(whole, { key: "w" });
    await t.pawl.start(exam, { key: "e" });
    await t.work();
    const [children] = (await t.pawl.explain(whole, "w")).waitingFor;
    const child = children!.kind === "children" ? children!.first[0]!.id : "";
    await t.pawl.send(part, { id: child }, "close");
    await t.pawl.start(judged, { key: "j" });
    // The process that received it died before it could look at the instance.
    t.faults.plant("receive.stored", "throw");
    await expect(t.pawl.receive(exam, "e", "graded", { score: 1 }, { dedupeKey: "1" })).rejects.toThrow();
    expect(await stuck(t)).toEqual([]);
    await sleep(t, 61_000);
    const found = ["overdue exam/grading 1", "overdue judged/asking 1", "overdue whole/joining 1"];
    expect((await stuck(t)).sort()).toEqual(found);
    expect(await alerted(t, sink)).toEqual(["overdue", "overdue", "overdue"]);
    expect(await t.pawl.explain(judged, "j")).toMatchObject({
      stuck: { reason: "overdue", remedy: expect.stringContaining("runs maintenance") },
    });
    await t.maintain();
    expect(await stuck(t)).toEqual([]);
  });

  test("a join whose own messages are still on their way is not overdue", async () => {
    const asking = lifecycle("asking", {
      initial: "splitting",
      states: {
        splitting: {
          run: (step) => step.start(part, { key: "p" }),
          on: { split: { to: "joining", after: jam } },
        },
        joining: { join: {}, on: { joined: "done" } },
        done: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [part, asking] });
    await t.pawl.start(asking, { key: "a" });
    await (await t.claim("asking/splitting")).run();
    const [children] = (await t.pawl.explain(asking, "a")).waitingFor;
    await t.pawl.send(part, { id: children!.kind === "children" ? children!.first[0]!.id : "" }, "close");
    await t.maintain();
    await worker(t, ["asking@1:after"]);
    await sleep(t, 120_000);
    await worker(t, ["asking@1:after"]);
    expect(await stuck(t)).toEqual([]);
  });

  test("a step that runs for longer than a day may hang, and is stuck until it ends", async () => {
    const sink = keeping();
    await using t = await store.open({ lifecycles: all, alerts: [sink] });
    await t.pawl.start(parcel, { key: "a", data: {} });
    await t.pawl.send(parcel, "a", "work");
    const step = await t.claim("parcel/working");
    await t.db.script("update pawl.tasks set leased_until = leased_until + interval '2 days'"); // Its worker renews the lease.
    await sleep(t, 86_400_000);
    expect(await stuck(t)).toEqual([]);
    await sleep(t, 1_000);
    expect(await stuck(t)).toEqual([`running_too_long ${lane} 1`]);
    expect(await attention(t)).toEqual([
      "1 task is stuck in `parcel@1/working` since 2030-01-01 12:00:00 UTC: running for too long. Check whether the step hangs. Restart its worker, or send an event that leaves the state and aborts the step.",
    ]);
    expect(await alerted(t, sink)).toEqual(["running_too_long"]);
    await step.report("worked");
    await t.work();
    expect(await stuck(t)).toEqual([]);
  });

  test("instances in a state that no live process has any more are stuck, and not while one has it", async () => {
    const sink = keeping();
    const done = { final: "success" } as const;
    const before = lifecycle("visit", {
      initial: "open",
      states: {
        open: { forever: true, on: { leave: "done", sit: "sitting" } },
        sitting: { forever: true, on: { leave: "done" } },
        done,
      },
    });
    const states = { open: { forever: true, on: { leave: "done" } }, done } as const;
    const after = lifecycle("visit", { version: 2, initial: "open", states });
    const renaming = lifecycle("visit", { version: 3, initial: "open", states, renamed: { sitting: "open" } });
    await using t = await store.open({ lifecycles: [after], alerts: [sink] });
    await using old = await openSecondProcess(t, [before]);
    await old.pawl.start(before, { key: "v" });
    await old.pawl.send(before, "v", "sit");
    await worker(t, ["visit@1:send"]);
    expect(await stuck(t)).toEqual([]);
    await deleteWorker(t.kernel, "w");
    expect(await stuck(t)).toEqual(["state_undeclared visit/sitting 1"]);
    expect(await t.pawl.explain(after, "v")).toMatchObject({
      waitingFor: [{ kind: "undeclared_state", process: 2 }, { kind: "events" }],
      idle: "Nothing happens by itself until a process whose definition has its state runs.",
      stuck: {
        reason: "state_undeclared",
        remedy: "Deploy a definition that declares this state in `states` or `renamed`.",
      },
    });
    expect(await alerted(t, sink)).toEqual(["state_undeclared"]);
    await using next = await openSecondProcess(t, [renaming]);
    expect(await stuck(next)).toEqual([]);
  });

  test("Y2 Y3 Y4 K1 what throws ends as a dead letter, what goes on refusing is named, and each alerts once", async () => {
    const sink = keeping();
    const unordered = queue("unordered", { label: z.object({ ok: z.boolean() }), order: () => Number.NaN });
    const sampled = lifecycle("sampled", {
      initial: "asking",
      states: {
        asking: { ask: { queue: unordered, sample: () => ({}) }, on: { answered: "done", unanswered: "done" } },
        done: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [...all, sampled], queues: [few, unordered], alerts: [sink] });
    await t.pawl.start(sampled, { key: "sample" });
    await t.pawl.start(hooked, { key: "delayed" });
    await t.pawl.send(hooked, "delayed", "close", { after: "1m" });
    for (const key of ["throws", "refuses"]) await t.pawl.start(parcel, { key, data: { held: true } });
    await t.pawl.send(parcel, "throws", "jam");
    await t.pawl.send(parcel, "refuses", "park");
    for (let turn = 0; turn < 14; turn++) {
      await sleep(t, 50 * 60_000);
      await t.maintain();
    }
    const groups = [
      "dead_letter hooked/open 1",
      "dead_letter parcel/jammed 1",
      "dead_letter sampled/failed 1",
      "release_refused parcel/parked 1",
    ];
    expect((await stuck(t)).sort()).toEqual(groups);
    expect((await alerted(t, sink)).sort()).toEqual([
      "event_failed",
      "event_failed",
      "instance_failed",
      "release_refused",
    ]);
    expect(await attention(t)).toHaveLength(1); // Dead letters have a line of their own.
    await t.pawl.send(parcel, "refuses", "discard");
    for (const letter of await t.pawl.deadLetters.list()) await t.pawl.deadLetters.discard(letter.id);
    expect([await stuck(t), await alerted(t, sink)]).toEqual([[], []]);
  });

  test("X2 a refused timeout and a result that no state ahead takes leave an instance stuck", async () => {
    const sink = keeping();
    await using t = await store.open({ lifecycles: all, alerts: [sink] });
    for (const key of ["timeout", "result"]) await t.pawl.start(parcel, { key, data: {} });
    await t.pawl.send(parcel, "timeout", "weigh");
    await t.advance("2h");
    expect(await stuck(t)).toEqual(["event_refused parcel/weighing 1"]);
    expect(await alerted(t, sink)).toEqual(["event_refused"]);
    await t.pawl.send(parcel, "timeout", "rest");
    expect(await stuck(t)).toEqual([]);
    await t.pawl.send(parcel, "timeout", "weigh");
    await t.advance("2h");
    expect(await alerted(t, sink), "it recurs").toEqual(["event_refused"]);
  });

  test("a result that no state ahead takes is stuck until it is settled", async () => {
    const sink = keeping();
    await using t = await store.open({ lifecycles: [exam], alerts: [sink] });
    await t.pawl.start(exam, { key: "e" });
    await t.pawl.send(exam, "e", "skip");
    await t.pawl.receive(exam, "e", "graded", { score: 1 }, { dedupeKey: "1" });
    expect(await stuck(t)).toEqual(["result_unmatched exam/over 1"]);
    expect(await alerted(t, sink)).toEqual(["result_unmatched"]);
    expect(await attention(t)).toHaveLength(1);
    await t.pawl.send(exam, "e", "close");
    expect([await stuck(t), await alerted(t, sink)]).toEqual([[], []]);
  });

  test("P1 samples that nobody may label, and a queue that hands out nothing, are stuck", async () => {
    const sink = keeping();
    await using t = await store.open({ lifecycles: all, queues: [few], alerts: [sink] });
    await t.pawl.start(judged, { key: "j" });
    await t.maintain();
    await t.db.script("update pawl.queues set active = false");
    expect(await stuck(t)).toEqual(["queue_inactive few 1"]);
    expect((await t.pawl.inspect.stuck())[0]!.instances[0]).toMatchObject({
      lifecycle: "judged",
      key: "j",
      state: "asking",
    });
    expect(await alerted(t, sink)).toEqual(["queue_inactive"]);
    await t.db.script("update pawl.queues set active = true");
    expect([await stuck(t), await alerted(t, sink)]).toEqual([[], []]);
    await t.pawl.people.addMany(few, [{ data: {} }]);
    await t.pawl.people.upsertLabeler({ id: "ada", active: false });
    await t.maintain();
    const samples = await alerted(t, sink);
    expect(samples.filter((kind) => kind === "samples_given_up")).toHaveLength(1);
    // The sample that was asked about has left its asker, whose failure is a dead letter.
    const letters = ["dead_letter judged/failed 1", "dead_letter pawl_sample/unassignable 1"];
    expect((await stuck(t)).sort()).toEqual([...letters, "unassignable few 1"]);
    expect(await attention(t)).toHaveLength(1);
  });

  test("a step that its definition does not allow is stuck until a definition allows it", async () => {
    const sink = keeping();
    const odd = lifecycle("odd", {
      initial: "a",
      states: { a: { run: (step) => step.go("y" as "x"), retry: once, on: { x: "b" } }, b: { final: "success" } },
    });
    await using t = await store.open({ lifecycles: [odd], alerts: [sink] });
    await t.pawl.start(odd, { key: "k" });
    await t.work();
    expect(await stuck(t)).toEqual(["definition_fault odd@1/a 1"]);
    expect(await alerted(t, sink)).toEqual(["definition_faulty"]);
    expect(await attention(t)).toHaveLength(1);
    await t.advance("10m");
    await (await t.claim("odd/a")).fail(new Error("another"));
    expect((await stuck(t)).filter((one) => one.startsWith("definition"))).toEqual([]);
  });

  test("a lane whose only worker stops is stuck, its after-effects too, and recovers with the next worker", async () => {
    const sink = keeping();
    await using t = await store.open({ lifecycles: all, alerts: [sink] });
    await worker(t, [lane, "parcel@1:after"]);
    for (const key of ["a", "b"]) {
      await t.pawl.start(parcel, { key, data: {} });
      await t.pawl.send(parcel, key, "work");
    }
    await (await t.claim("parcel/working")).report("worked");
    await t.advance("2m"); // The worker gives no sign of life.
    expect((await stuck(t)).sort()).toEqual([`no_worker ${lane} 1`, "no_worker parcel@1:after 1"]);
    expect(await alerted(t, sink)).toEqual(["no_worker", "no_worker"]);
    await worker(t, [lane, "parcel@1:after"]);
    expect(await stuck(t)).toEqual([]);
    await t.work();
    expect([await stuck(t), await alerted(t, sink)]).toEqual([[], []]);
  });
});
