import { type AnyLifecycle, constant, type Explanation, type InstanceRef, lifecycle, queue } from "pawl";
import { expect, test } from "vitest";
import { z } from "zod";
import { beat } from "../../src/kernel/tasks/workers.ts";
import { sample as sampleLifecycle } from "../../src/people/lifecycle/sample.ts";
import type { Db, Statement } from "../../src/store/port/db.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { beside } from "../support/beside.ts";
import { eachStore } from "../support/each-store.ts";

const once = { maxAttempts: 1, backoff: constant("1s") };
const steps: { run: (step: { progress(fraction: number, note?: string): unknown }) => unknown } = { run: () => {} };

const report = lifecycle("report", {
  data: z.object({ held: z.boolean().default(false) }),
  events: { scored: z.object({ score: z.number() }) },
  initial: "drafting",
  recovery: { maxFailures: 2, after: "10m" },
  states: {
    drafting: {
      timeout: { after: "1h", send: "expire" },
      recoverWith: "rest",
      on: { write: "writing", ask_around: "scoring", park: "parked", rest: "resting", expire: "dropped" },
    },
    writing: {
      run: (step) => steps.run(step) as undefined,
      uses: "llm",
      retry: { maxAttempts: 4, backoff: constant("30s") },
      on: { written: { to: "resting", after: () => {} } },
    },
    scoring: {
      run: async (step) => void (await step.callbackToken("scored", { expiresIn: "2h" })),
      on: { asked: "scored_soon" },
    },
    scored_soon: {
      timeout: { after: "1d", send: "expire" },
      recoverWith: "expire",
      on: { scored: "done", expire: "dropped" },
    },
    parked: {
      release: { every: "5m", atMost: 10, send: "go" },
      on: { go: { to: "done", guard: ({ data }) => !data.held || "it is held back" } },
    },
    resting: { forever: true, recoverWith: "park", on: { finish: "done", park: "parked" } },
    done: { final: "success" },
    dropped: { final: "failure" },
  },
});

const gated = lifecycle("gated", {
  initial: "limited",
  states: {
    limited: { run: () => {}, limit: 1, on: { next: "rated" } },
    rated: { run: () => {}, rate: "1/m", on: { next: "done" } },
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
    splitting: {
      run: (step) => {
        for (const key of ["p1", "p2"]) step.start(part, { key });
      },
      on: { split: "joining" },
    },
    joining: {
      join: { failed: "count" },
      on: { joined: { to: "done", guard: ({ payload }) => payload.discarded === 0 || "a part was discarded" } },
    },
    done: { final: "success" },
  },
});

const rare = queue("rare", { label: z.object({ ok: z.boolean() }), overlap: 2, labelers: ["ada", "bob"] });
const claim = lifecycle("claim", {
  data: z.object({ text: z.string() }),
  initial: "asking",
  states: {
    asking: { ask: { queue: rare, sample: ({ data }) => data }, on: { answered: "done", unanswered: "failed" } },
    done: { final: "success" },
  },
});

const all = [report, gated, part, whole, claim];

/** A live worker in another process. */
function worker(t: TestPawl, id: string, lanes: readonly string[]): Promise<void> {
  const row = { id, host: "h", pid: 1, pawl: "1", loop: "Idle", stopping: false, concurrency: 1 };
  return beat(t.kernel, { ...row, slots: {}, stuck: 0, tasks: {}, lanes });
}

/** The most statements that an explanation may take, whatever the state. */
const mostStatements = 10;

async function explain(t: TestPawl, of: AnyLifecycle, ref: InstanceRef): Promise<Explanation> {
  const db = t.kernel.db as { rows: Db["rows"] };
  const { rows } = db;
  let statements = 0;
  db.rows = <Row>(statement: Statement) => {
    statements++;
    return rows.call(db, statement) as Promise<Row[]>;
  };
  try {
    return await t.pawl.explain(of, ref);
  } finally {
    db.rows = rows;
    expect(statements).toBeLessThanOrEqual(mostStatements);
  }
}

/** What it waits for, by kind. */
function wait<Kind extends Explanation["waitingFor"][number]["kind"]>(explained: Explanation, kind: Kind) {
  const found = explained.waitingFor.find((one) => one.kind === kind);
  return found as Extract<Explanation["waitingFor"][number], { kind: Kind }>;
}

const at = (time: string) => new Date(`2030-01-01T${time}Z`);

eachStore((store) => {
  test("a step that is ready says why no worker has claimed it, and is stuck once that lasts", async () => {
    await using t = await store.open({ lifecycles: all, breakers: { llm: {} } });
    await t.pawl.start(report, { key: "r", data: {} });
    await t.pawl.send(report, "r", "write");
    const why = async () => {
      const explained = await explain(t, report, "r");
      const step = wait(explained, "step");
      if (step.status !== "ready") throw new Error(step.status);
      return { ...step.notClaimed, by: step.by, stuck: explained.stuck?.reason, next: explained.next?.kind };
    };
    expect(await why()).toMatchObject({ reason: "no_worker", by: "worker", stuck: undefined });
    await t.advance("61s");
    expect(await why()).toMatchObject({ reason: "no_worker", stuck: "no_worker" });
    await worker(t, "w", ["report@1/writing"]);
    expect(await why()).toEqual({ reason: "in_turn", by: "worker", stuck: undefined, next: "step" });
    await t.pawl.lanes.pause(report, { state: "writing", reason: "the model lies", actor: "grace" });
    expect(await why()).toMatchObject({ reason: "paused", actor: "grace", why: "the model lies", by: "person" });
    expect((await explain(t, report, "r")).sentences[1]).toBe(
      "Its step is ready in `report@1/writing` since 2030-01-01 12:00:00 UTC: the lane was paused by grace at 2030-01-01 12:01:01 UTC: the model lies.",
    );
    await t.pawl.lanes.resume(report, { state: "writing" });
    await t.pawl.breakers.force("llm", "open", { reason: "an outage", actor: "ada" });
    expect(await why()).toMatchObject({ reason: "breaker", breaker: "llm", why: "an outage" });
    await t.advance("15m");
    await worker(t, "w", ["report@1/writing"]);
    expect(await why()).toMatchObject({ reason: "breaker", stuck: "ready_too_long" });
  });

  test("limits and rates that are used up are named, and when a rate has room again", async () => {
    await using t = await store.open({ lifecycles: all });
    for (const key of ["a", "b"]) await t.pawl.start(gated, { key });
    await worker(t, "w", ["gated@1/limited", "gated@1/rated"]);
    const first = await t.claim("gated/limited");
    const waiting = (await t.pawl.get(gated, "a"))!.id === first.id ? "b" : "a";
    const busy = waiting === "a" ? "b" : "a";
    const notClaimed = async (key: string) => {
      const step = wait(await explain(t, gated, key), "step");
      return step.status === "ready" ? step.notClaimed : step;
    };
    expect(await notClaimed(waiting)).toEqual({ reason: "limit", limit: 1 });
    expect(await notClaimed(busy)).toMatchObject({ status: "running", attempt: 1, leaseUntil: at("12:00:30") });
    await first.report("next");
    await (await t.claim("gated/limited")).report("next");
    await t.claim("gated/rated");
    const reasons = [await notClaimed("a"), await notClaimed("b")];
    expect(reasons).toContainEqual({ reason: "rate", rate: "1/m", until: expect.any(Date) });
  });

  test("retries, running steps, recoveries and dead letters say when, how often and why", async () => {
    await using t = await store.open({ lifecycles: all });
    await t.pawl.start(report, { key: "r", data: {} });
    await t.pawl.send(report, "r", "write");
    const first = await t.claim("report/writing");
    expect(wait(await explain(t, report, "r"), "step")).toMatchObject({
      status: "running",
      worker: "test-worker-1",
      attempt: 1,
      by: "worker",
      since: at("12:00:00"),
      leaseUntil: at("12:00:30"),
    });
    await first.fail(new Error("no ink"));
    const retried = await explain(t, report, "r");
    expect(wait(retried, "step")).toMatchObject({
      status: "scheduled",
      attempt: 2,
      maxAttempts: 4,
      error: "Error: no ink",
      until: at("12:00:30"),
      by: "clock",
      sentence: "Its step runs at 2030-01-01 12:00:30 UTC (attempt 2 of 4). The attempt before: Error: no ink.",
    });
    expect(retried.next).toMatchObject({ kind: "step", at: at("12:00:30") });
    expect(retried.stuck).toBeNull();
    await t.pawl.send(report, "r", "fail");
    const failed = await explain(t, report, "r");
    expect(wait(failed, "recovery")).toMatchObject({ target: "writing", until: at("12:10:00"), by: "clock" });
    expect(failed.next?.sentence).toBe("Next, at 2030-01-01 12:10:00 UTC: it recovers in `writing`.");
    expect(failed.recovery).toMatchObject({ failures: 1, maxFailures: 2 });
    await t.advance("10m");
    await (await t.claim("report/failed")).run();
    await t.pawl.send(report, "r", "fail");
    const [letter] = await t.pawl.deadLetters.list({ lifecycle: report });
    const given = await explain(t, report, "r");
    expect(wait(given, "person")).toMatchObject({ deadLetter: letter!.id, reason: "recovery_exhausted", until: null });
    expect(given).toMatchObject({ next: null, stuck: { reason: "dead_letter", since: at("12:10:00") } });
    await t.pawl.deadLetters.discard(letter!.id, { actor: "ada" });
    const left = await explain(t, report, "r");
    expect(left.stuck).toBeNull(); // Somebody has decided to leave it so.
    expect(wait(left, "person").sentence).toContain("Its dead letter was discarded by ada.");
  });

  test("events say what ends the wait; delayed events, callbacks, results and after-effects are listed", async () => {
    await using t = await store.open({ lifecycles: all });
    await t.pawl.start(report, { key: "r", data: {} });
    const drafting = await explain(t, report, "r");
    expect(wait(drafting, "events")).toMatchObject({
      events: ["write", "ask_around", "park", "rest", "expire"],
      end: { timer: "timeout", event: "expire", at: at("13:00:00") },
      by: "outside",
      since: at("12:00:00"),
    });
    expect(drafting.next).toEqual({
      kind: "events",
      at: at("13:00:00"),
      sentence: "Next, at 2030-01-01 13:00:00 UTC: the timeout sends `expire`.",
    });
    await t.pawl.send(report, "r", "park", { after: "10m", actor: "ada" });
    expect((await explain(t, report, "r")).next).toMatchObject({ kind: "delayed_event", at: at("12:10:00") });
    await t.pawl.send(report, "r", "ask_around");
    await t.work();
    const asked = await explain(t, report, "r");
    expect(wait(asked, "callback")).toMatchObject({
      event: "scored",
      tokens: 1,
      expiresAt: at("14:00:00"),
      by: "outside",
    });
    expect(wait(asked, "delayed_event")).toMatchObject({ event: "park", failures: 0, by: "clock" });

    await t.pawl.start(report, { key: "s", data: {} });
    await t.pawl.receive(report, "s", "scored", { score: 1 }, { dedupeKey: "1" });
    expect(wait(await explain(t, report, "s"), "result")).toMatchObject({ event: "scored", reachable: true });
    await t.pawl.send(report, "s", "rest");
    const resting = await explain(t, report, "s");
    expect(wait(resting, "events")).toMatchObject({ end: null, until: null });
    expect(wait(resting, "events").sentence).toBe("It waits for `finish` or `park`, for ever, as its definition says.");
    expect(resting.stuck).toMatchObject({ reason: "result_unmatched" });

    await t.pawl.start(report, { key: "e", data: {} });
    await t.pawl.send(report, "e", "write");
    await (await t.claim("report/writing")).report("written");
    expect(wait(await explain(t, report, "e"), "effect")).toMatchObject({ event: "written", status: "ready" });
    await t.pawl.send(report, "e", "finish");
    const ended = await explain(t, report, "e");
    expect(ended).toMatchObject({ outcome: "success", waitingFor: [{ kind: "effect" }], next: null, stuck: null });
    await t.work();
    expect(await explain(t, report, "e")).toMatchObject({ waitingFor: [], sentences: [expect.any(String)] });
  });

  test("parked instances say when they are released, and how often they refused", async () => {
    await using t = await store.open({ lifecycles: all });
    await t.pawl.start(report, { key: "r", data: { held: true } });
    await t.pawl.send(report, "r", "park");
    expect(wait(await explain(t, report, "r"), "release")).toMatchObject({
      event: "go",
      failures: 0,
      until: at("12:05:00"),
      by: "clock",
    });
    await t.maintain();
    const refused = await explain(t, report, "r");
    expect(wait(refused, "release")).toMatchObject({
      failures: 1,
      lastFailure: { what: "refused", reason: "it is held back" },
      until: at("12:05:00"),
    });
    expect(refused.stuck).toBeNull();
    for (let turn = 0; turn < 10; turn++) await t.advance("50m");
    expect((await explain(t, report, "r")).stuck).toMatchObject({ reason: "release_refused" });
  });

  test("a join says which children are open, and that it refused to be joined", async () => {
    await using t = await store.open({ lifecycles: all });
    await t.pawl.start(whole, { key: "w" });
    await t.work();
    const joining = await explain(t, whole, "w");
    const children = wait(joining, "children");
    expect(children).toMatchObject({ open: 2, failed: 0, by: "worker" });
    expect(children.first.map(({ key, state }) => [key, state]).sort()).toEqual([
      ["p1", "open"],
      ["p2", "open"],
    ]);
    await t.pawl.send(part, { id: children.first[0]!.id }, "close");
    await t.pawl.send(part, { id: children.first[1]!.id }, "discard");
    expect((await explain(t, whole, "w")).next).toMatchObject({ kind: "children", at: null });
    await t.work();
    const refused = await explain(t, whole, "w");
    expect(wait(refused, "children")).toMatchObject({ open: 0, by: "person" });
    expect(refused).toMatchObject({ next: null, stuck: { reason: "event_refused" } });
  });

  test("questions say how many labels are wanted, who has them in hand and who may give them", async () => {
    await using t = await store.open({ lifecycles: all, queues: [rare] });
    await t.pawl.start(claim, { key: "c", data: { text: "x" } });
    expect((await explain(t, claim, "c")).next).toMatchObject({ kind: "question" });
    await t.maintain();
    const { assignment } = await t.pawl.people.next(rare, "ada");
    const asking = await explain(t, claim, "c");
    const people = wait(asking, "people");
    expect(people).toMatchObject({
      queue: "rare",
      wanted: 2,
      given: 0,
      heldBy: ["ada"],
      labelers: ["ada", "bob"],
      by: "person",
    });
    expect(asking.stuck).toBeNull();
    const sample = { id: people.sample };
    expect(wait(await explain(t, sampleLifecycle, sample), "people")).toMatchObject({ heldBy: ["ada"] });
    await t.pawl.people.start(assignment!.id, "ada");
    await t.pawl.people.skip(assignment!.id, "ada", { reason: "unsure" });
    await t.pawl.people.upsertLabeler({ id: "bob", active: false });
    await t.maintain();
    expect(wait(await explain(t, claim, "c"), "person")).toMatchObject({ deadLetter: expect.any(String) });
    await t.pawl.people.upsertLabeler({ id: "ada", active: false });
    const [lonely] = await t.pawl.people.addMany(rare, [{ data: { text: "y" } }]);
    await t.maintain();
    const unassignable = await explain(t, sampleLifecycle, { id: lonely!.id });
    expect(unassignable).toMatchObject({ state: "unassignable", stuck: { reason: "unassignable" } });
  });

  test("a guard that throws is told of, and does not keep an instance from being explained", async () => {
    const jammed = lifecycle("jammed", {
      initial: "a",
      recovery: { maxFailures: 2, after: "1m", fallback: "again" },
      states: {
        a: { forever: true, on: { x: "b" } },
        failed: {
          on: {
            again: {
              to: "a",
              guard: () => {
                throw new Error("no guard on duty");
              },
            },
          },
        },
        b: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [jammed] });
    await t.pawl.start(jammed, { key: "j" });
    await t.pawl.send(jammed, "j", "fail");
    const explained = await explain(t, jammed, "j");
    expect(wait(explained, "recovery")).toMatchObject({ target: null, until: at("12:01:00") });
    expect(explained.recovery?.sentences.at(-1)).toContain("no guard on duty");
  });

  test("a faulty definition, a newer one, and workers that have an older one are named", async () => {
    const odd = (version: number, event: string) =>
      lifecycle("odd", {
        version,
        initial: "a",
        states: { a: { run: (step) => step.go(event as "x"), retry: once, on: { x: "b" } }, b: { final: "success" } },
      });
    const [old, next] = [odd(1, "y"), odd(2, "y")];
    await using t = await store.open({ lifecycles: [old] });
    await t.pawl.start(old, { key: "k" });
    await t.work();
    const faulty = await explain(t, old, "k");
    expect(wait(faulty, "definition_fault")).toMatchObject({ lane: "odd@1/a", by: "person", until: at("12:10:00") });
    expect(faulty.stuck).toMatchObject({ reason: "definition_fault" });
    await using newer = await beside(t, [next]);
    await newer.pawl.start(next, { key: "n" });
    await worker(t, "w", ["odd@1/a"]);
    const explained = await explain(t, old, "n");
    expect(wait(explained, "newer_definition")).toMatchObject({ definition: 2, process: 1 });
    expect(explained.recovery).toBeNull();
    expect(wait(explained, "step")).toMatchObject({
      notClaimed: { reason: "worker_outdated", version: 2, newest: 1 },
    });
    await t.advance("61s");
    await worker(t, "w", ["odd@1/a"]);
    expect((await explain(t, old, "n")).stuck).toMatchObject({ reason: "worker_outdated" });
  });
});
