import { constant, lifecycle, type Step } from "pawl";
import { expect, test } from "vitest";
import type { TestPawl } from "../../../src/testing/test-pawl.ts";
import { eachStore } from "../../support/each-store.ts";
import { openSecondProcess } from "../../support/second-process.ts";
import { at, explain, explainWorld, gated, liveWorker, mail, odd, report, waitOf } from "./world.ts";

eachStore((store) => {
  const writing = async (t: TestPawl, key = "r") => {
    await t.pawl.start(report, { key, data: {} });
    await t.pawl.send(report, key, "write");
  };
  /** Why the step of a report has not been claimed. */
  const whyReady = async (t: TestPawl, key = "r") => {
    const explained = await explain(t, report, key);
    const step = waitOf(explained, "step");
    if (step.status !== "ready") throw new Error(step.status);
    const { stuck, next, idle } = explained;
    return { ...step.notClaimed, by: step.by, stuck: stuck?.reason, next: next?.kind, idle, sentence: step.sentence };
  };

  test("a ready step names what keeps workers from claiming it, and is stuck once that lasts", async () => {
    await using t = await store.open(explainWorld());
    await writing(t);
    expect(await whyReady(t)).toMatchObject({
      reason: "no_worker",
      by: "worker",
      stuck: undefined,
      next: undefined,
      idle: "Nothing happens by itself until a worker that serves lane `report@1/writing` starts.",
    });
    await t.advance("61s");
    expect(await whyReady(t)).toMatchObject({
      reason: "no_worker",
      stuck: "no_worker",
      sentence: "Its step is ready in lane `report@1/writing`: no live worker serves this lane.",
    });
    expect((await explain(t, report, "r")).stuck).toEqual({
      reason: "no_worker",
      since: at("12:00:00"),
      sentence: "No live worker serves its lane.",
      remedy: "Start a worker that serves this lane.",
    });
    await liveWorker(t, ["report@1/writing"]);
    expect(await whyReady(t)).toMatchObject({ reason: "in_turn", by: "worker", stuck: undefined, next: "step" });
    await t.pawl.lanes.pause(report, { state: "writing", reason: "the model lies", actor: "grace" });
    expect(await whyReady(t)).toMatchObject({
      reason: "paused",
      since: at("12:01:01"),
      actor: "grace",
      why: "the model lies",
      by: "person",
      sentence:
        "Its step is ready in lane `report@1/writing`: the lane has been paused by grace since 2030-01-01 12:01:01 UTC (the model lies).",
      idle: "Nothing happens by itself until lane `report@1/writing` is resumed.",
    });
    await t.pawl.lanes.resume(report, { state: "writing" });
    await t.pawl.breakers.force("llm", "open", { reason: "an outage", actor: "ada" });
    expect(await whyReady(t)).toMatchObject({
      reason: "breaker",
      breaker: "llm",
      state: "open",
      held: true,
      actor: "ada",
      by: "person",
      until: null,
      why: "an outage",
      sentence: "Its step is ready in lane `report@1/writing`: breaker `llm` is held open by ada (an outage).",
      idle: "Nothing happens by itself until breaker `llm` is released or held closed.",
    });
    await t.advance("15m");
    await liveWorker(t, ["report@1/writing"]);
    expect(await whyReady(t)).toMatchObject({ reason: "breaker", stuck: "ready_too_long" });
    await t.pawl.breakers.force("llm", null);
    expect(await whyReady(t)).toMatchObject({
      reason: "breaker",
      state: "half_open",
      sentence: "Its step is ready in lane `report@1/writing`: breaker `llm` is half-open, and only its probes run.",
    });
  });

  test("a breaker that opened by itself says until when, and that is what happens next", async () => {
    await using t = await store.open(explainWorld());
    for (let number = 0; number < 11; number++) await writing(t, `r${number}`);
    const failing: string[] = [];
    for (let number = 0; number < 10; number++) {
      const worker = await t.claim("report/writing");
      failing.push(worker.id);
      await worker.fail(new Error("503"));
    }
    await liveWorker(t, ["report@1/writing"]);
    const waiting = [];
    for (let number = 0; number < 11; number++) {
      const { id } = (await t.pawl.get(report, `r${number}`))!;
      if (!failing.includes(id)) waiting.push(`r${number}`);
    }
    const [key] = waiting;
    expect(await whyReady(t, key)).toMatchObject({
      reason: "breaker",
      state: "open",
      held: false,
      until: at("12:00:30"),
      sentence:
        "Its step is ready in lane `report@1/writing`: breaker `llm` is open until 2030-01-01 12:00:30 UTC (10 of 10 calls failed).",
    });
    expect((await explain(t, report, key!)).next).toEqual({
      kind: "step",
      at: at("12:00:30"),
      sentence: "A worker may claim the task.",
    });
  });

  test("limits and rates that are reached are named, and when a rate has room again", async () => {
    await using t = await store.open(explainWorld());
    for (const key of ["a", "b"]) await t.pawl.start(gated, { key });
    await liveWorker(t, ["gated@1/limited", "gated@1/rated"]);
    const first = await t.claim("gated/limited");
    const waiting = (await t.pawl.get(gated, "a"))!.id === first.id ? "b" : "a";
    const busy = waiting === "a" ? "b" : "a";
    const stepOf = async (key: string) => waitOf(await explain(t, gated, key), "step");
    expect(await stepOf(waiting)).toMatchObject({
      notClaimed: { reason: "limit", limit: 1 },
      sentence: "Its step is ready in lane `gated@1/limited`: the limit of 1 running at a time is reached.",
    });
    expect((await explain(t, gated, waiting)).next).toEqual({
      kind: "step",
      at: null,
      sentence: "A worker claims the task when one of those that run ends.",
    });
    expect(await stepOf(busy)).toMatchObject({ status: "running", attempt: 1, leaseUntil: at("12:00:30") });
    await first.report("next");
    await (await t.claim("gated/limited")).report("next");
    const { id } = await t.claim("gated/rated");
    const held = (await t.pawl.get(gated, "a"))!.id === id ? "b" : "a";
    expect(await stepOf(held)).toMatchObject({
      notClaimed: { reason: "rate", rate: "1/m", until: expect.any(Date) },
      sentence: expect.stringMatching(/: the rate limit of 1\/m is reached until 2030-01-01 12:0\d:\d\d UTC\.$/),
    });
  });

  test("retries, running steps, recoveries and dead letters say when, how often and why", async () => {
    await using t = await store.open(explainWorld());
    await writing(t);
    const first = await t.claim("report/writing");
    const running = await explain(t, report, "r");
    expect(waitOf(running, "step")).toMatchObject({
      status: "running",
      worker: "test-worker-1",
      attempt: 1,
      maxAttempts: 4,
      error: null,
      progress: null,
      by: "worker",
      since: at("12:00:00"),
      leaseUntil: at("12:00:30"),
      sentence:
        "Its step has been running on worker `test-worker-1` since 2030-01-01 12:00:00 UTC (attempt 1 of 4). Its lease ends at 2030-01-01 12:00:30 UTC unless the worker renews it.",
    });
    expect(running.next).toEqual({ kind: "step", at: null, sentence: "The worker reports the result." });
    await first.fail(new Error("no ink"));
    const retried = await explain(t, report, "r");
    expect(waitOf(retried, "step")).toMatchObject({
      status: "scheduled",
      attempt: 2,
      maxAttempts: 4,
      error: "Error: no ink",
      until: at("12:00:30"),
      by: "clock",
      sentence:
        "Its step runs again at 2030-01-01 12:00:30 UTC (attempt 2 of 4). The last attempt failed: Error: no ink.",
    });
    expect(retried.next).toMatchObject({ kind: "step", at: at("12:00:30") });
    expect(retried.stuck).toBeNull();
    await t.advance("30s");
    expect(waitOf(await explain(t, report, "r"), "step")).toMatchObject({ attempt: 2, error: "Error: no ink" });
    const second = await t.claim("report/writing");
    expect(waitOf(await explain(t, report, "r"), "step")).toMatchObject({ status: "running", attempt: 2 });
    await second.retryLater("5m");
    expect(waitOf(await explain(t, report, "r"), "step")).toMatchObject({
      until: at("12:05:30"),
      error: "it was postponed",
      sentence: expect.stringMatching(/ The last attempt was postponed\.$/),
    });
    await t.pawl.send(report, "r", "fail");
    const failed = await explain(t, report, "r");
    expect(waitOf(failed, "recovery")).toMatchObject({
      target: "writing",
      until: at("12:10:30"),
      by: "clock",
      sentence: "Its recovery runs at 2030-01-01 12:10:30 UTC.",
    });
    expect(failed.next).toEqual({ kind: "recovery", at: at("12:10:30"), sentence: "It recovers in `writing`." });
    expect(failed.recovery).toMatchObject({ failures: 1, maxFailures: 2 });
    await t.advance("10m");
    await (await t.claim("report/failed")).run();
    await t.pawl.send(report, "r", "fail");
    const [letter] = await t.pawl.deadLetters.list({ lifecycle: report });
    const given = await explain(t, report, "r");
    expect(waitOf(given, "person")).toMatchObject({
      deadLetter: letter!.id,
      reason: "recovery_exhausted",
      until: null,
    });
    expect(given).toMatchObject({
      next: null,
      idle: "Nothing happens by itself until a person decides about its dead letter or sends an event.",
      stuck: { reason: "dead_letter", since: at("12:10:30") },
    });
    await t.pawl.deadLetters.discard(letter!.id, { actor: "ada" });
    const left = await explain(t, report, "r");
    expect(left.stuck).toBeNull(); // A person has decided to leave it failed.
    expect(waitOf(left, "person").sentence).toBe(
      "Its dead letter was discarded by ada. It stays failed until it receives `recover`, `restart` or `discard`.",
    );
  });

  test("a running step shows its progress", async () => {
    const reading: { run: (step: Pick<Step, "progress">) => unknown } = { run: () => {} };
    const book = lifecycle("book", {
      initial: "unread",
      states: {
        unread: { run: (step) => reading.run(step) as undefined, on: { read: "away" } },
        away: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [book] });
    await t.pawl.start(book, { key: "b" });
    let shown: unknown;
    reading.run = async (step) => {
      step.progress(0.4, "page 12 of 30");
      while ((await t.pawl.get(book, "b"))!.progress === undefined);
      shown = waitOf(await explain(t, book, "b"), "step");
    };
    await (await t.claim("book/unread")).run();
    expect(shown).toMatchObject({
      progress: { fraction: 0.4, note: "page 12 of 30" },
      sentence: expect.stringMatching(/ Progress: 40 % \(page 12 of 30\)\.$/),
    });
  });

  test("after-effects say when they run again and what their last error was", async () => {
    await using t = await store.open(explainWorld());
    await writing(t);
    await (await t.claim("report/writing")).report("written");
    expect(waitOf(await explain(t, report, "r"), "effect")).toMatchObject({
      event: "written",
      status: "ready",
      sentence: "The after-effect of `written` is ready in lane `report@1:after`: no live worker serves this lane.",
    });
    await (await t.claim("report:after")).fail(new Error("no post today"));
    expect(waitOf(await explain(t, report, "r"), "effect")).toMatchObject({
      status: "scheduled",
      attempt: 2,
      error: "Error: no post today",
      sentence: expect.stringMatching(
        /^The after-effect of `written` runs again at .* \(attempt 2 of \d+\)\. The last attempt failed: Error: no post today\.$/,
      ),
    });
  });

  test("jobs are explained like any other instance", async () => {
    await using t = await store.open(explainWorld());
    const { id } = await t.pawl.enqueue(mail, {}, { key: "m", after: "10m" });
    expect(await explain(t, mail, { id })).toMatchObject({
      state: "pending",
      waitingFor: [
        { kind: "step", status: "scheduled", sentence: "The job runs at 2030-01-01 12:10:00 UTC (attempt 1 of 3)." },
      ],
      next: { kind: "step", at: at("12:10:00") },
      stuck: null,
    });
    await t.advance("10m");
    await (await t.claim("mail/pending")).fail(new Error("no post"));
    expect(waitOf(await explain(t, mail, "m"), "step")).toMatchObject({ attempt: 2, error: "Error: no post" });
    await t.advance("1m");
    await (await t.claim("mail/pending")).giveUp("unknown address");
    expect(await explain(t, mail, { id })).toMatchObject({
      state: "error",
      outcome: "failure",
      waitingFor: [{ kind: "person", reason: expect.any(String) }],
      next: null,
    });
  });

  test("a guard that throws does not keep an instance from being explained", async () => {
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
    expect(waitOf(explained, "recovery")).toMatchObject({ target: null, until: at("12:01:00") });
    expect(explained.recovery?.sentences.at(-1)).toContain("no guard on duty");
  });

  test("a faulty definition, a newer one, and workers that have an older one are named", async () => {
    const newest = lifecycle("odd", {
      version: 2,
      initial: "a",
      states: {
        a: { run: () => {}, retry: { maxAttempts: 1, backoff: constant("1s") }, on: { x: "b" } },
        b: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [odd] });
    await t.pawl.start(odd, { key: "k" });
    await t.work();
    const faulty = await explain(t, odd, "k");
    expect(waitOf(faulty, "definition_fault")).toMatchObject({ lane: "odd@1/a", by: "person", until: at("12:10:00") });
    expect(faulty.stuck).toMatchObject({ reason: "definition_fault" });
    await using newer = await openSecondProcess(t, [newest]);
    await newer.pawl.start(newest, { key: "n" });
    await liveWorker(t, ["odd@1/a"]);
    const explained = await explain(t, odd, "n");
    expect(waitOf(explained, "newer_definition")).toMatchObject({
      definition: 2,
      process: 1,
      sentence:
        "Version 2 of `odd` moved it last, but this process has version 1. Only processes with version 2 or newer move it.",
    });
    expect(explained.recovery).toBeNull();
    expect(waitOf(explained, "step")).toMatchObject({
      notClaimed: { reason: "worker_outdated", version: 2, newest: 1 },
    });
    await t.advance("61s");
    await liveWorker(t, ["odd@1/a"]);
    expect((await explain(t, odd, "n")).stuck).toMatchObject({ reason: "worker_outdated" });
  });
});
