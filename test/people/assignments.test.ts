import { queue } from "pawl";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { assignment as lifecycle } from "../../src/people/lifecycle/assignment.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { eachStore } from "../support/each-store.ts";
import {
  cat,
  dog,
  expectSound,
  given,
  labeled,
  moveClock,
  movesOf,
  newQueue,
  sampleOf,
  sampleStates,
  started,
  whyNothing,
} from "./labeling.ts";

const checked = queue("checked", {
  label: z.object({ words: z.number() }),
  rules: { counts: ({ label, sample }) => label.words === (sample as { words: number }).words || "there are 2" },
  validate: async ({ label }) => label.words === 2 || [{ path: "/words", message: "the dictionary disagrees" }],
});

describe("the lifecycle of an assignment", () => {
  test("R102 it has exactly five states, and none of those that were decided against", () => {
    expect([...lifecycle.states.keys()]).toEqual(["pending", "in_progress", "completed", "expired", "skipped"]);
    const ways = new Set(lifecycle.edges.map((edge) => `${edge.from} > ${edge.to}`));
    expect([...ways].sort()).toEqual([
      "in_progress > completed",
      "in_progress > expired",
      "in_progress > in_progress", // Its time begins again.
      "in_progress > skipped",
      "pending > expired",
      "pending > in_progress",
      "pending > skipped", // Only where the queue says so.
    ]);
  });

  test("R114 a queue has the settings of the source unless told otherwise", () => {
    expect(queue("q", { label: {} })).toMatchObject({
      finishWithinMs: 3_600_000,
      startWithinMs: 300_000,
      maxAttemptsPerLabeler: 3,
      maxAttemptsTotal: 5,
      reassignExpired: true,
      reassignSkipped: true,
      skipRequiresReason: false,
    });
  });
});

eachStore((store) => {
  let t: TestPawl;
  beforeAll(async () => {
    t = await store.open({ lifecycles: [], queues: [checked] });
  });
  afterEach(() => expectSound(t));
  afterAll(() => t.close());

  test("R103 an assignment needs a sample that is there and a labeler who may, and begins with nothing attempted", async () => {
    const empty = await newQueue(t, { samples: 0 });
    expect(await whyNothing(t, empty, "ada")).toMatchObject({
      code: "nothing_waits",
      sentence: `No samples are waiting in queue \`${empty}\`.`,
    });

    const few = await newQueue(t, { labelers: ["ada"] });
    expect(await whyNothing(t, few, "ben")).toMatchObject({
      code: "not_eligible",
      sentence: `\`ben\` is not a labeler of queue \`${few}\`.`,
    });
    const skilled = await newQueue(t, { skills: ["latin", "greek"] });
    await t.pawl.people.upsertLabeler({ id: "cem", skills: ["latin"] });
    expect(await whyNothing(t, skilled, "cem")).toMatchObject({
      code: "not_eligible",
      sentence: expect.stringContaining("`greek`"),
    });
    await t.pawl.people.upsertLabeler({ id: "cem", skills: ["greek", "latin"] });
    expect(await given(t, skilled, "cem")).toMatchObject({ status: "pending" });

    const now = t.now();
    const next = await t.pawl.people.next(few, "ada");
    expect(next).toMatchObject({ resumed: false, sample: { key: "s1", data: { picture: 1 } } });
    expect(next.assignment).toMatchObject({
      status: "pending",
      labelerId: "ada",
      queue: few,
      deadlineAt: null,
      attempts: 0,
      createdAt: now,
      startedAt: null,
      completedAt: null,
      startBy: new Date(now.getTime() + 300_000),
    });
    expect(next.assignment!.sampleId).toBe((await sampleOf(t, few, "s1"))!.id);
  });

  test("R104 start begins it, counts the attempt and sets the deadline; from pending only", async () => {
    const name = await newQueue(t, { finishWithin: "10m" });
    const { id } = await given(t, name, "ada");
    await t.advance("1m");
    const now = t.now();
    const begun = await t.pawl.people.start(id, "ada");
    expect(begun).toMatchObject({
      status: "in_progress",
      startedAt: now,
      deadlineAt: new Date(now.getTime() + 600_000),
      attempts: 1,
    });
    expect(await t.pawl.people.assignment(id)).toEqual(begun);
    await expect(t.pawl.people.start(id, "ada")).rejects.toMatchObject({
      code: "invalid_transition",
      details: { from: "in_progress", to: "in_progress" },
    });
  });

  test("R105 what is not started in time expires, where the queue has such a time", async () => {
    const quick = await newQueue(t, { startWithin: "5m" });
    const patient = await newQueue(t, { startWithin: null });
    const [one, other] = [await given(t, quick, "ada"), await given(t, patient, "ada")];
    await t.advance("5m");
    await t.maintain();
    expect(await t.pawl.people.assignment(one.id)).toMatchObject({
      status: "expired",
      expiredAt: t.now(),
      attempts: 0,
    });
    await t.advance("30d");
    expect(other.startBy).toBeNull();
    expect(await t.pawl.people.assignment(other.id)).toMatchObject({ status: "pending" });
    expect(await t.pawl.people.start(other.id, "ada")).toMatchObject({ status: "in_progress" });
  });

  test("R106 from in progress it is completed by a label, skipped by its labeler, or expires at its deadline", async () => {
    const name = await newQueue(t, { overlap: 3 });
    const [labeled, skipped, left] = [
      await started(t, name, "a"),
      await started(t, name, "b"),
      await started(t, name, "c"),
    ];
    await t.pawl.people.submit(labeled.id, "a", cat);
    await t.pawl.people.skip(skipped.id, "b");
    await t.advance("1h");
    await t.maintain();
    const ends = await Promise.all([labeled, skipped, left].map(({ id }) => t.pawl.people.assignment(id)));
    expect(ends.map((one) => one.status)).toEqual(["completed", "skipped", "expired"]);
  });

  test("R107 a label is held against all that its queue asks, and one that does not hold changes nothing", async () => {
    await t.pawl.people.add(checked, { data: { words: 2 } });
    const { id } = await started(t, "checked", "ada");
    const refused = async (label: unknown) => {
      const error = await t.pawl.people.submit(id, "ada", label).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "label_invalid" });
      expect(await t.pawl.people.assignment(id)).toMatchObject({ status: "in_progress", labelId: null });
      return (error as { details: { faults: { path: string; code: string }[] } }).details.faults;
    };
    expect(await refused({ words: "two" })).toEqual([
      expect.objectContaining({ path: "/words", message: expect.any(String) }),
    ]);
    expect(await refused(undefined)).toEqual([expect.objectContaining({ path: "", code: "required" })]);
    expect(await refused({ words: 3 })).toEqual([
      expect.objectContaining({ code: "counts", message: "there are 2" }),
      expect.objectContaining({ path: "/words", code: "validate", message: "the dictionary disagrees" }),
    ]);
    expect(await t.pawl.people.submit(id, "ada", { words: 2 })).toMatchObject({ assignment: { status: "completed" } });

    const plain = await newQueue(t);
    const other = await started(t, plain, "ada");
    await expect(t.pawl.people.submit(other.id, "ada", { category: "fish" })).rejects.toMatchObject({
      code: "label_invalid",
      details: { faults: [expect.objectContaining({ path: "/category", code: "enum" })] },
    });
    expect(await t.pawl.people.assignment(other.id)).toMatchObject({ status: "in_progress" });
  });

  test("R108 a completed assignment has its label and its time, and takes nothing any more", async () => {
    const name = await newQueue(t);
    const { id } = await started(t, name, "ada");
    await t.advance("10m");
    const done = await t.pawl.people.submit(id, "ada", cat);
    expect(done).toMatchObject({
      late: false,
      label: { value: cat },
      assignment: { status: "completed", completedAt: t.now() },
    });
    expect(done.assignment.labelId).toBe(done.label.id);
    expect(await t.pawl.people.assignment(id)).toEqual(done.assignment);
    for (const verb of [
      () => t.pawl.people.start(id, "ada"),
      () => t.pawl.people.submit(id, "ada", dog),
      () => t.pawl.people.skip(id, "ada"),
      () => t.pawl.people.extend(id, "ada"),
      () => t.pawl.people.release(id, { actor: "lea" }),
    ]) {
      await expect(verb()).rejects.toMatchObject({ code: "invalid_transition", details: { from: "completed" } });
    }
    await t.advance("30d");
    expect(await t.pawl.people.assignment(id)).toEqual(done.assignment);
  });

  test("R109 the check expires what is past its time and open, and leaves the rest", async () => {
    const name = await newQueue(t, { samples: 4, finishWithin: "30m", startWithin: "10m" });
    const begun = await started(t, name, "a");
    const waiting = await given(t, name, "b");
    const done = await started(t, name, "c");
    await t.pawl.people.submit(done.id, "c", cat);
    expect(await t.pawl.people.checkExpired(name)).toEqual([]);
    await moveClock(t, 10 * 60_000);
    expect(await t.pawl.people.checkExpired(name)).toEqual([
      expect.objectContaining({ id: waiting.id, status: "expired", expiredAt: t.now() }),
    ]);
    await moveClock(t, 20 * 60_000);
    expect((await t.pawl.people.checkExpired(name)).map((one) => one.id)).toEqual([begun.id]);
    expect(await t.pawl.people.checkExpired(name)).toEqual([]);
    expect(await t.pawl.people.assignment(done.id)).toMatchObject({ status: "completed" });
  });

  test("R110 an expired assignment goes back to the same labeler while attempts remain, then to another", async () => {
    const name = await newQueue(t, { maxAttemptsPerLabeler: 2 });
    const first = await started(t, name, "ada");
    await t.advance("1h");
    await t.maintain();
    const second = await given(t, name, "ada");
    expect(second).toMatchObject({ status: "pending", sampleId: first.sampleId, attempts: 1, try: 2 });
    expect(second.id).not.toBe(first.id);
    expect(await t.pawl.people.start(second.id, "ada")).toMatchObject({ attempts: 2 });
    await t.advance("1h");
    await t.maintain();
    expect(await whyNothing(t, name, "ada")).toMatchObject({
      tooOften: 1,
      sentence: `Queue \`${name}\` has no sample for you now: 1 was assigned to you too often.`,
    });
    expect(await given(t, name, "ben")).toMatchObject({ sampleId: first.sampleId, attempts: 0, try: 1 });
  });

  test("R110 where expired assignments are not given again, the sample has ended", async () => {
    const name = await newQueue(t, { reassignExpired: false });
    await started(t, name, "ada");
    await t.advance("1h");
    await t.maintain();
    expect(await whyNothing(t, name, "ben")).toMatchObject({ code: "nothing_waits" });
    expect(await sampleStates(t, name)).toEqual({ s1: "exhausted" });
  });

  test("R111 skip is for what was started, with a reason where the queue asks for one", async () => {
    const name = await newQueue(t, { overlap: 2, skipRequiresReason: true });
    const waiting = await given(t, name, "ada");
    await expect(t.pawl.people.skip(waiting.id, "ada", { reason: "blurred" })).rejects.toMatchObject({
      code: "invalid_transition",
      details: { from: "pending", to: "skipped" },
    });
    await t.pawl.people.start(waiting.id, "ada");
    for (const reason of [undefined, " ", "\t\n"]) {
      await expect(t.pawl.people.skip(waiting.id, "ada", { reason })).rejects.toMatchObject({ code: "option_invalid" });
    }
    expect(await t.pawl.people.assignment(waiting.id)).toMatchObject({ status: "in_progress", skippedAt: null });
    await t.advance("1m");
    expect(await t.pawl.people.skip(waiting.id, "ada", { reason: "blurred" })).toMatchObject({
      status: "skipped",
      skippedAt: t.now(),
      skipReason: "blurred",
    });
    const plain = await newQueue(t, { overlap: 3 });
    const without = await started(t, plain, "ada");
    expect(await t.pawl.people.skip(without.id, "ada")).toMatchObject({
      status: "skipped",
      skippedAt: t.now(),
      skipReason: null,
    });
    const done = (await labeled(t, plain, "ben")).assignment;
    const expired = await started(t, plain, "cem");
    await t.advance("2h");
    for (const [{ id, labelerId }, from] of [
      [without, "skipped"],
      [done, "completed"],
      [expired, "expired"],
    ] as const) {
      await expect(t.pawl.people.skip(id, labelerId, { reason: "too late" })).rejects.toMatchObject({
        code: "invalid_transition",
        details: { from, to: "skipped" },
      });
    }
    const lenient = await newQueue(t, { skipUnstarted: true });
    const other = await given(t, lenient, "ada");
    expect(await t.pawl.people.skip(other.id, "ada")).toMatchObject({
      status: "skipped",
      skipReason: null,
      attempts: 0,
    });
  });

  test("R112 a skipped sample goes to another labeler, never to the same", async () => {
    const name = await newQueue(t);
    const { id, sampleId } = await started(t, name, "ada");
    await t.pawl.people.skip(id, "ada");
    expect(await whyNothing(t, name, "ada")).toMatchObject({
      skipped: 1,
      sentence: expect.stringContaining("1 you have skipped"),
    });
    expect(await given(t, name, "ben")).toMatchObject({ sampleId, status: "pending", try: 1 });
    const final = await newQueue(t, { reassignSkipped: false });
    const other = await started(t, final, "ada");
    await t.pawl.people.skip(other.id, "ada");
    expect(await sampleStates(t, final)).toEqual({ s1: "exhausted" });
  });

  test("R113 who asks again is given back what lies on the desk", async () => {
    const name = await newQueue(t, { samples: 3 });
    const one = await given(t, name, "ada");
    expect(await t.pawl.people.next(name, "ada")).toMatchObject({ resumed: true, assignment: { id: one.id } });
    await t.pawl.people.start(one.id, "ada");
    expect(await t.pawl.people.next(name, "ada")).toMatchObject({
      resumed: true,
      assignment: { id: one.id, status: "in_progress" },
      sample: { key: "s1" },
    });
    const [same, again] = await Promise.all([t.pawl.people.next(name, "ada"), t.pawl.people.next(name, "ada")]);
    expect([same.assignment!.id, again.assignment!.id]).toEqual([one.id, one.id]);
  });

  test("R113 with room for two on a desk, the next one can be fetched before the first is done", async () => {
    const name = await newQueue(t, { samples: 3, concurrency: 2 });
    const one = await started(t, name, "ada");
    const two = await given(t, name, "ada");
    expect(two.sampleId).not.toBe(one.sampleId);
    expect(await given(t, name, "ada")).toMatchObject({ id: two.id });
    await t.pawl.people.start(two.id, "ada");
    expect(await given(t, name, "ada")).toMatchObject({ id: one.id });
    await t.pawl.people.submit(one.id, "ada", cat);
    expect((await given(t, name, "ada")).id).not.toBe(two.id);
  });

  test("R115 all that happens to an assignment is in its journal, with who did it", async () => {
    const name = await newQueue(t, { overlap: 2 });
    const one = await started(t, name, "ada");
    await t.pawl.people.extend(one.id, "ada");
    await t.pawl.people.submit(one.id, "ada", cat);
    expect(await movesOf(t, one.id)).toEqual([
      "start:  > pending by ada",
      "start: pending > in_progress by ada",
      "extend: in_progress > in_progress by ada",
      "submit: in_progress > completed by ada",
    ]);
    const other = await given(t, name, "ben");
    await t.advance("5m");
    await t.maintain();
    expect(await movesOf(t, other.id)).toEqual(["start:  > pending by ben", "expire: pending > expired by timer"]);
  });

  test("R115 the same call a second time gets the first answer", async () => {
    const name = await newQueue(t, { overlap: 2 });
    const { id } = await given(t, name, "ada");
    const begun = await t.pawl.people.start(id, "ada", { idempotencyKey: "k1" });
    expect(await t.pawl.people.start(id, "ada", { idempotencyKey: "k1" })).toEqual(begun);
    const done = await t.pawl.people.submit(id, "ada", cat);
    expect(await t.pawl.people.submit(id, "ada", { category: "cat" })).toEqual(done);
    await expect(t.pawl.people.submit(id, "ada", dog)).rejects.toMatchObject({ code: "invalid_transition" });
  });

  test("R116 an assignment has all fourteen fields", async () => {
    const name = await newQueue(t);
    const { id } = await started(t, name, "ada");
    const { startBy, try: nth, revisionOf, ...fields } = (await t.pawl.people.submit(id, "ada", cat)).assignment;
    expect(Object.keys(fields).sort()).toEqual(
      [
        ...["id", "sampleId", "labelerId", "queue", "status", "deadlineAt", "attempts", "labelId", "skipReason"],
        ...["createdAt", "startedAt", "completedAt", "expiredAt", "skippedAt"],
      ].sort(),
    );
    expect({ startBy, nth, revisionOf }).toMatchObject({ nth: 1, revisionOf: null });
  });

  test("R117 a verb in the wrong state is told from where to where it would have gone", async () => {
    const name = await newQueue(t, { overlap: 2 });
    const { id } = await given(t, name, "ada");
    const refused = (from: string, to: string) => ({ code: "invalid_transition", details: { from, to } });
    await expect(t.pawl.people.submit(id, "ada", cat)).rejects.toMatchObject(refused("pending", "completed"));
    await expect(t.pawl.people.skip(id, "ada")).rejects.toMatchObject(refused("pending", "skipped"));
    await expect(t.pawl.people.extend(id, "ada")).rejects.toMatchObject(refused("pending", "in_progress"));
    await t.pawl.people.start(id, "ada");
    await t.pawl.people.skip(id, "ada");
    await expect(t.pawl.people.start(id, "ada")).rejects.toMatchObject(refused("skipped", "in_progress"));
    await expect(t.pawl.people.submit(id, "ada", cat)).rejects.toMatchObject(refused("skipped", "completed"));
    await expect(t.pawl.people.skip(id, "ada")).rejects.toMatchObject(refused("skipped", "skipped"));
    await expect(t.pawl.people.release(id, { actor: "lea" })).rejects.toMatchObject(refused("skipped", "expired"));
  });

  test("R118 the sweep that runs by itself expires what waits and what was begun, and frees both", async () => {
    const name = await newQueue(t, { overlap: 2 });
    const [begun, waiting] = [await started(t, name, "ada"), await given(t, name, "ben")];
    await t.advance(299_000);
    expect(await t.pawl.people.assignment(waiting.id)).toMatchObject({ status: "pending" });
    await t.advance("1m"); // Maintenance alone: no call asks for it.
    expect(await t.pawl.people.assignment(waiting.id)).toMatchObject({ status: "expired" });
    expect(await t.pawl.people.assignment(begun.id)).toMatchObject({ status: "in_progress" });
    await t.advance("55m");
    for (const { id } of [begun, waiting]) {
      const { expiredAt, deadlineAt, startBy, status } = await t.pawl.people.assignment(id);
      expect(status).toBe("expired");
      expect(expiredAt!.getTime() - (deadlineAt ?? startBy)!.getTime()).toBeLessThanOrEqual(60_000);
      expect((await movesOf(t, id)).at(-1)).toMatch(/^expire: \w+ > expired by timer$/);
    }
    expect((await given(t, name, "cem")).sampleId).toBe(begun.sampleId);
    // Both are free, and who let one expire is given it again while attempts remain.
    const again = await given(t, name, "ada");
    expect(again).toMatchObject({ sampleId: begun.sampleId, status: "pending", try: 2 });
    expect(again.id).not.toBe(begun.id);
  });

  test("R120 an inactive queue hands out nothing new, and cancels no work", async () => {
    const name = await newQueue(t, { samples: 2 });
    const { id } = await started(t, name, "ada");
    expect(await t.pawl.people.deactivateQueue(name)).toMatchObject({ active: false });
    expect(await whyNothing(t, name, "ben")).toMatchObject({ code: "queue_inactive" });
    expect(await given(t, name, "ada")).toMatchObject({ id });
    expect(await t.pawl.people.submit(id, "ada", cat)).toMatchObject({ late: false });
    expect(await whyNothing(t, name, "ada")).toMatchObject({ code: "queue_inactive" });
    await t.pawl.people.activateQueue(name);
    expect(await given(t, name, "ada")).toMatchObject({ status: "pending" });
  });

  test("A50 nobody but the labeler to whom it was given can do anything with it", async () => {
    const name = await newQueue(t);
    const { id } = await given(t, name, "ada");
    await expect(t.pawl.people.start(id, "ben")).rejects.toMatchObject({ code: "not_the_assignee" });
    await t.pawl.people.start(id, "ada");
    for (const verb of [
      () => t.pawl.people.submit(id, "ben", cat),
      () => t.pawl.people.skip(id, "ben"),
      () => t.pawl.people.extend(id, "ben"),
    ]) {
      await expect(verb()).rejects.toMatchObject({ code: "not_the_assignee" });
    }
    expect(await t.pawl.people.assignment(id)).toMatchObject({ status: "in_progress" });
  });
});
