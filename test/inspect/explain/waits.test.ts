import { lifecycle } from "pawl";
import { expect, test } from "vitest";
import { sample as sampleLifecycle } from "../../../src/people/lifecycle/sample.ts";
import { eachStore } from "../../support/each-store.ts";
import { at, claim, expense, explain, explainWorld, part, rare, receipts, report, waitOf, whole } from "./world.ts";

eachStore((store) => {
  test("events say what ends the wait; delayed events, callbacks, results and after-effects are listed", async () => {
    await using t = await store.open(explainWorld());
    await t.pawl.start(report, { key: "r", data: {} });
    const drafting = await explain(t, report, "r");
    expect(waitOf(drafting, "events")).toMatchObject({
      events: ["write", "ask_around", "park", "rest", "expire"],
      end: { timer: "timeout", event: "expire", at: at("13:00:00") },
      by: "outside",
      since: at("12:00:00"),
    });
    expect(drafting.next).toEqual({
      kind: "events",
      at: at("13:00:00"),
      sentence: "The timeout sends `expire`.",
    });
    await t.pawl.send(report, "r", "park", { after: "10m", actor: "ada" });
    expect((await explain(t, report, "r")).next).toMatchObject({ kind: "delayed_event", at: at("12:10:00") });
    await t.pawl.send(report, "r", "ask_around");
    await t.work();
    const asked = await explain(t, report, "r");
    expect(waitOf(asked, "callback")).toMatchObject({
      event: "scored",
      tokens: 1,
      expiresAt: at("14:00:00"),
      by: "outside",
    });
    expect(waitOf(asked, "delayed_event")).toMatchObject({ event: "park", failures: 0, by: "clock" });

    await t.pawl.start(report, { key: "s", data: {} });
    await t.pawl.receive(report, "s", "scored", { score: 1 }, { dedupeKey: "1" });
    expect(waitOf(await explain(t, report, "s"), "result")).toMatchObject({ event: "scored", reachable: true });
    await t.pawl.send(report, "s", "rest");
    const resting = await explain(t, report, "s");
    expect(waitOf(drafting, "events").forever).toBe(false);
    expect(waitOf(resting, "events")).toMatchObject({ end: null, until: null, forever: true });
    expect(waitOf(resting, "events").sentence).toBe(
      "It waits for `finish` or `park`, without a time limit (`forever`).",
    );
    expect(resting).toMatchObject({
      next: null,
      idle: "Nothing happens by itself until it receives one of these events.",
      stuck: { reason: "result_unmatched" },
    });

    await t.pawl.start(report, { key: "e", data: {} });
    await t.pawl.send(report, "e", "write");
    await (await t.claim("report/writing")).report("written");
    expect(waitOf(await explain(t, report, "e"), "effect")).toMatchObject({ event: "written", status: "ready" });
    await t.pawl.send(report, "e", "finish");
    const ended = await explain(t, report, "e");
    expect(ended).toMatchObject({ outcome: "success", waitingFor: [{ kind: "effect" }], next: null, stuck: null });
    await t.work();
    expect(await explain(t, report, "e")).toMatchObject({ waitingFor: [], sentences: [expect.any(String)] });
  });

  test("parked instances say when they are released, and how often they refused", async () => {
    await using t = await store.open(explainWorld());
    await t.pawl.start(report, { key: "r", data: { held: true } });
    await t.pawl.send(report, "r", "park");
    expect(waitOf(await explain(t, report, "r"), "release")).toMatchObject({
      event: "go",
      failures: 0,
      until: at("12:05:00"),
      by: "clock",
    });
    await t.maintain();
    const refused = await explain(t, report, "r");
    expect(waitOf(refused, "release")).toMatchObject({
      failures: 1,
      lastFailure: { what: "refused", reason: "it is held back" },
      until: at("12:05:00"),
    });
    expect(refused.stuck).toBeNull();
    for (let turn = 0; turn < 10; turn++) await t.advance("50m");
    expect((await explain(t, report, "r")).stuck).toMatchObject({ reason: "release_refused" });
  });

  test("a join says which children are open, and that it refused to be joined", async () => {
    await using t = await store.open(explainWorld());
    await t.pawl.start(whole, { key: "w" });
    await t.work();
    const joining = await explain(t, whole, "w");
    expect(joining.idle).toBe("Nothing happens by itself until its children end.");
    const children = waitOf(joining, "children");
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
    expect(waitOf(refused, "children")).toMatchObject({ open: 0, by: "person" });
    expect(refused).toMatchObject({ next: null, stuck: { reason: "event_refused" } });
  });

  test("questions say how many labels are wanted, who has them in hand and who may give them", async () => {
    await using t = await store.open(explainWorld());
    await t.pawl.start(claim, { key: "c", data: { text: "x" } });
    expect((await explain(t, claim, "c")).next).toMatchObject({ kind: "question" });
    await t.maintain();
    const { assignment } = await t.pawl.people.next(rare, "ada");
    const asking = await explain(t, claim, "c");
    const people = waitOf(asking, "people");
    expect(people).toMatchObject({
      queue: "rare",
      wanted: 2,
      given: 0,
      heldBy: ["ada"],
      labelers: ["ada", "bob"],
      by: "person",
    });
    expect(asking).toMatchObject({
      next: null,
      idle: "Nothing happens by itself until labelers submit the labels.",
      stuck: null,
    });
    const sample = { id: people.sample };
    expect(waitOf(await explain(t, sampleLifecycle, sample), "people")).toMatchObject({ heldBy: ["ada"] });
    await t.pawl.people.start(assignment!.id, "ada");
    await t.pawl.people.skip(assignment!.id, "ada", { reason: "unsure" });
    await t.pawl.people.upsertLabeler({ id: "bob", active: false });
    await t.maintain();
    expect(waitOf(await explain(t, claim, "c"), "person")).toMatchObject({ deadLetter: expect.any(String) });
    await t.pawl.people.upsertLabeler({ id: "ada", active: false });
    const [lonely] = await t.pawl.people.addMany(rare, [{ data: { text: "y" } }]);
    await t.maintain();
    const unassignable = await explain(t, sampleLifecycle, { id: lonely!.id });
    expect(unassignable).toMatchObject({ state: "unassignable", stuck: { reason: "unassignable" } });
  });

  test("a deadline that comes before the timeout ends the wait, and is named", async () => {
    const parcel = lifecycle("parcel", {
      initial: "packed",
      deadline: { within: "2h", late: "keep" },
      states: {
        packed: { timeout: { after: "1d", send: "lose" }, on: { sent: "away", lose: "lost" } },
        away: { final: "success" },
        lost: { final: "failure" },
      },
    });
    await using t = await store.open({ lifecycles: [parcel] });
    await t.pawl.start(parcel, { key: "p" });
    const explained = await explain(t, parcel, "p");
    expect(waitOf(explained, "events")).toMatchObject({
      end: { timer: "deadline", event: "fail", at: at("14:00:00") },
      sentence: "It waits for `sent` or `lose`. At 2030-01-01 14:00:00 UTC its deadline sends `fail`.",
    });
    expect(waitOf(explained, "timer")).toMatchObject({ timer: "timeout", event: "lose", by: "clock" });
    expect(explained.next).toEqual({ kind: "events", at: at("14:00:00"), sentence: "The deadline sends `fail`." });
  });

  test("a delayed event that fails says how often, and who must act when it is not tried again", async () => {
    const fussy = lifecycle("fussy", {
      initial: "a",
      states: {
        a: {
          forever: true,
          on: {
            x: {
              to: "b",
              before: () => {
                throw new Error("not today");
              },
            },
          },
        },
        b: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [fussy] });
    await t.pawl.start(fussy, { key: "f" });
    await t.pawl.send(fussy, "f", "x", { after: "1m", actor: "ada" });
    await t.advance("1m");
    const failing = await explain(t, fussy, "f");
    expect(waitOf(failing, "delayed_event")).toMatchObject({
      event: "x",
      failures: 1,
      sentence: expect.stringMatching(
        /^Event `x` \(sent by ada\) is delivered at .*\. Its delivery failed once so far\.$/,
      ),
    });
    expect(failing.next).toMatchObject({ kind: "delayed_event", sentence: "`x` is delivered." });
    for (let turn = 0; turn < 20; turn++) await t.advance("1h");
    const given = await explain(t, fussy, "f");
    expect(waitOf(given, "person").sentence).toMatch(/^Event `x` was not delivered \(event failed\)\. Dead letter /);
    expect(given.stuck).toMatchObject({ reason: "dead_letter" });
  });

  test("a release that throws says what it threw, and that a person must act in the end", async () => {
    const jammed = lifecycle("jammed", {
      initial: "parked",
      states: {
        parked: {
          release: { interval: "5m", limit: 10, send: "go" },
          on: {
            go: {
              to: "done",
              guard: () => {
                throw new Error("no guard on duty");
              },
            },
          },
        },
        done: { final: "success" },
      },
    });
    await using t = await store.open({ lifecycles: [jammed] });
    await t.pawl.start(jammed, { key: "j" });
    await t.maintain();
    const failing = await explain(t, jammed, "j");
    expect(waitOf(failing, "release")).toMatchObject({
      failures: 1,
      lastFailure: { what: "failed", reason: expect.stringContaining("no guard on duty") },
      by: "clock",
      sentence: expect.stringMatching(
        /^Its next release is at .* and sends `go`\. It failed to be released once\. Last error: .*no guard on duty/,
      ),
    });
    expect(failing.next).toMatchObject({ kind: "release", sentence: "The release sends `go`." });
    for (let turn = 0; turn < 8; turn++) await t.advance("50m");
    const given = await explain(t, jammed, "j");
    expect(waitOf(given, "release")).toMatchObject({ until: null, by: "person" });
    expect(given).toMatchObject({
      next: null,
      idle: "Nothing happens by itself until a person requeues its dead letter or sends another event.",
      stuck: { reason: "dead_letter" },
    });
  });

  test("an instance that asks a crowd names the job and its state, and what ends the wait", async () => {
    await using t = await store.open(explainWorld());
    await t.pawl.start(expense, { key: "e", data: { image: "a.png" } });
    await t.maintain();
    const asking = await explain(t, expense, "e");
    const waiting = waitOf(asking, "crowd_job");
    expect(waiting).toMatchObject({
      lifecycle: "pawl_crowd_receipts",
      state: "publishing",
      by: "outside",
      until: new Date("2030-01-02T12:00:00Z"),
      sentence: `It waits for crowd job ${waiting.job}, which is in \`publishing\`.`,
    });
    expect(asking.next).toMatchObject({ kind: "timer", sentence: "The timeout sends `expire`." });
    await t.work();
    expect(waitOf(await explain(t, expense, "e"), "crowd_job")).toMatchObject({ state: "running" });
  });

  test("samples, assignments, crowd jobs and submissions are explained like any other instance", async () => {
    const world = explainWorld();
    await using t = await store.open(world);
    const internal = (name: string) => t.pawl.internalLifecycles.find((one) => one.name === name)!;
    const [sample] = await t.pawl.people.addMany(rare, [{ key: "s", data: { text: "x" } }]);
    expect(await explain(t, internal("pawl_sample"), { id: sample!.id })).toMatchObject({
      state: "open",
      waitingFor: [
        {
          kind: "people",
          sentence:
            "It waits for labels in queue `rare`: it has 0 of 2 labels, and ada or bob may label it. It is not assigned.",
        },
      ],
      stuck: null,
    });
    const { assignment } = await t.pawl.people.next(rare, "ada");
    const held = await explain(t, internal("pawl_assignment"), { id: assignment!.id });
    expect(held).toMatchObject({ waitingFor: [{ kind: "events", end: { timer: "timeout" } }], stuck: null });
    expect(held.next).toMatchObject({ kind: "events" });
    await t.pawl.people.deactivateQueue(rare);
    expect((await explain(t, internal("pawl_sample"), { id: sample!.id })).stuck).toMatchObject({
      reason: "queue_inactive",
    });

    const job = await t.pawl.crowd.ask(receipts, { key: "r", content: { image: "r" } });
    expect(waitOf(await explain(t, internal("pawl_crowd_receipts"), { id: job.id }), "step")).toMatchObject({
      status: "ready",
      lane: "pawl_crowd_receipts@1/publishing",
    });
    await t.work();
    const posted = await explain(t, internal("pawl_crowd_receipts"), { id: job.id });
    expect(posted).toMatchObject({ state: "running", stuck: null });
    expect(posted.next).not.toBeNull();
    const here = world.marketplaces.here;
    here.workers.work(here.workers.jobsOf(job.id)[0]!.id, "W1", { total: 1 });
    await t.pawl.crowd.sync(job.id);
    await t.work();
    const [submission] = await t.pawl.crowd.submissions({ job: job.id });
    expect(await explain(t, internal("pawl_submission_receipts"), { id: submission!.id })).toMatchObject({
      lifecycle: "pawl_submission_receipts",
      stuck: null,
      sentences: expect.arrayContaining([expect.stringContaining(`\`${submission!.state}\``)]),
    });
  });
});
