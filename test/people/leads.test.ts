import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { sample as sampleLifecycle } from "../../src/people/lifecycle/sample.ts";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { eachStore } from "../support/each-store.ts";
import {
  cat,
  cow,
  dog,
  expectSound,
  given,
  labeled,
  moveClock,
  movesOf,
  newQueue,
  sampleStates,
  started,
  whyNothing,
} from "./labeling.ts";

eachStore((store) => {
  let t: TestPawl;
  beforeAll(async () => {
    t = await store.open({ lifecycles: [] });
  });
  afterEach(() => expectSound(t));
  afterAll(() => t.close());

  test("extend begins the time again, for the labeler who is at it", async () => {
    const name = await newQueue(t, { finishWithin: "10m" });
    const { id } = await started(t, name, "ada");
    await t.advance("9m");
    expect(await t.pawl.people.extend(id, "ada")).toMatchObject({
      status: "in_progress",
      attempts: 1,
      deadlineAt: new Date(t.now().getTime() + 600_000),
    });
    await t.advance("9m");
    expect(await t.pawl.people.submit(id, "ada", cat)).toMatchObject({ late: false });
  });

  test("extend has a limit, after which the assignment ends at its deadline", async () => {
    const name = await newQueue(t, { finishWithin: "10m", maxExtensions: 2 });
    const { id } = await started(t, name, "ada");
    await expect(t.pawl.people.extend(id, "ben")).rejects.toMatchObject({ code: "not_the_assignee" });
    for (let n = 0; n < 2; n++) await t.pawl.people.extend(id, "ada");
    await expect(t.pawl.people.extend(id, "ada")).rejects.toMatchObject({
      code: "not_allowed",
      message: expect.stringContaining("maxExtensions"),
    });
    await t.advance("11m");
    expect(await t.pawl.people.assignment(id)).toMatchObject({ status: "expired" });
    const never = await newQueue(t, { maxExtensions: 0 });
    const { id: other } = await started(t, never, "ada");
    await expect(t.pawl.people.extend(other, "ada")).rejects.toMatchObject({ code: "not_allowed" });
  });

  test("A45 a lead can give a sample to a named labeler, by the rules of the queue", async () => {
    const name = await newQueue(t, { samples: 3, labelers: ["ada", "ben"], maxAttemptsPerLabeler: 1 });
    const { people } = t.pawl;
    const second = { queue: name, key: "s2" };
    const lead = { actor: "lea", reason: "knows it" };
    const assigned = await people.assign(second, { to: "ada", ...lead });
    expect(assigned).toMatchObject({ labelerId: "ada", status: "pending", try: 1 });
    expect(await movesOf(t, assigned.id)).toEqual([expect.stringMatching(/> pending by lea$/)]);
    expect(await people.assign(second, { to: "ada", ...lead })).toMatchObject({ id: assigned.id });
    expect(await people.next(name, "ada")).toMatchObject({ assignment: { id: assigned.id }, resumed: true });
    const refusals = [
      [{ queue: name, key: "s1" }, "ada", "already has"],
      [{ queue: name, key: "s1" }, "cem", "not a labeler of"],
      [second, "ben", "It has no free slot"],
    ] as const;
    for (const [sample, to, why] of refusals) {
      await expect(people.assign(sample, { to, ...lead })).rejects.toMatchObject({
        code: "not_allowed",
        message: expect.stringContaining(why),
      });
    }
    await people.start(assigned.id, "ada");
    await people.skip(assigned.id, "ada");
    await expect(people.assign(second, { to: "ada", ...lead })).rejects.toMatchObject({
      message: expect.stringContaining("already worked on it"),
    });
    await given(t, name, "ben");
    await t.advance("10m"); // What ben has let expire takes no room, and counts.
    await expect(people.assign({ queue: name, key: "s1" }, { to: "ben", ...lead })).rejects.toMatchObject({
      message: expect.stringContaining("as often as the queue allows"),
    });
    const both = await Promise.allSettled([
      people.assign(second, { to: "ben", ...lead }),
      people.assign(second, { to: "ben", ...lead }),
    ]);
    expect(both.filter((one) => one.status === "fulfilled").length).toBeGreaterThanOrEqual(1);
    expect((await people.sample(second)).held).toBe(1);
  });

  test("a lead can release an assignment: it costs neither its labeler nor its sample a try", async () => {
    const name = await newQueue(t, { maxAttemptsPerLabeler: 1, maxAttemptsTotal: 1 });
    for (let n = 0; n < 3; n++) {
      const { id } = await started(t, name, "ada");
      expect(await t.pawl.people.release(id, { actor: "lea", reason: "off sick" })).toMatchObject({
        status: "expired",
      });
      expect((await movesOf(t, id)).at(-1)).toBe("release: in_progress > expired by lea");
    }
    await labeled(t, name, "ada");
    expect(await sampleStates(t, name)).toEqual({ s1: "agreed" });
  });

  test("A47 a label after the deadline is kept as late, whether or not anybody had noticed the time", async () => {
    const name = await newQueue(t, { samples: 2 });
    const noticed = await started(t, name, "ada");
    await t.advance("2h");
    const unnoticed = await started(t, name, "ben");
    await moveClock(t, 3_600_000);
    for (const { id, labelerId } of [noticed, unnoticed]) {
      const handedIn = await t.pawl.people.submit(id, labelerId, cat);
      expect(handedIn).toMatchObject({
        late: true,
        label: { value: cat },
        assignment: { status: "expired", labelId: null },
      });
      expect(await t.pawl.people.submit(id, labelerId, cat)).toEqual(handedIn);
      await expect(t.pawl.people.submit(id, labelerId, dog)).rejects.toMatchObject({
        code: "invalid_transition",
        details: { from: "expired", to: "completed" },
      });
    }
    expect(await sampleStates(t, name)).toEqual({ s1: "open", s2: "open" });
    expect((await t.pawl.people.labels(name, { late: true })).map((one) => one.labelerId)).toEqual(["ben", "ada"]);
  });

  test("A47 within the grace that a queue gives, a label counts after the deadline, too", async () => {
    const name = await newQueue(t, { finishWithin: "10m", grace: "30s" });
    const one = await started(t, name, "ada");
    expect(one.deadlineAt).toEqual(new Date(t.now().getTime() + 600_000));
    await t.advance("10m");
    await t.advance("29s");
    expect(await t.pawl.people.submit(one.id, "ada", cat)).toMatchObject({ late: false });
  });

  test("A47 a lead may accept a late label: it takes a slot of its sample like any other", async () => {
    const name = await newQueue(t, { overlap: 2 });
    await labeled(t, name, "ben");
    const { id } = await started(t, name, "ada");
    await t.advance("1h");
    const { label } = await t.pawl.people.submit(id, "ada", cat);
    expect(await sampleStates(t, name)).toEqual({ s1: "open" });
    await expect(t.pawl.people.accept(label.id, { actor: "ada" })).rejects.toMatchObject({ code: "not_allowed" });
    expect(await t.pawl.people.accept(label.id, { actor: "lea" })).toMatchObject({
      late: true,
      review: "accepted",
      reviewedBy: "lea",
    });
    const sample = await t.pawl.people.sample({ queue: name, key: "s1" });
    expect(sample).toMatchObject({ state: "agreed", labeled: 2, consensus: cat });
    expect(sample.assignments.at(-1)).toMatchObject({
      labelerId: "ada",
      status: "completed",
      revisionOf: id,
      attempts: 1,
    });
    expect(await t.pawl.people.assignment(id)).toMatchObject({ status: "expired" });
    expect(await t.pawl.people.accept(label.id, { actor: "lea" })).toMatchObject({ review: "accepted" });
    expect((await t.pawl.people.sample(sample.id)).labels).toHaveLength(3);
  });

  test("A47 a late label is not accepted over the head of who has the sample now", async () => {
    const name = await newQueue(t);
    const late = await started(t, name, "ada");
    await t.advance("1h");
    const { label } = await t.pawl.people.submit(late.id, "ada", cat);
    const other = await started(t, name, "ben");
    await expect(t.pawl.people.accept(label.id, { actor: "lea" })).rejects.toMatchObject({
      code: "not_allowed",
      message: expect.stringContaining(`no slot is free: it is assigned to \`ben\` (assignment ${other.id})`),
    });
    await t.pawl.people.submit(other.id, "ben", dog);
    await expect(t.pawl.people.accept(label.id, { actor: "lea" })).rejects.toMatchObject({
      code: "not_allowed",
      message: expect.stringContaining("the sample has all its labels"),
    });
    expect(await t.pawl.people.reject(label.id, { actor: "lea" }).catch((error) => error.code)).toBe(
      "invalid_transition",
    );
  });

  test("A47 of one person one label counts: who was late and labeled it since is not accepted, who was accepted is not asked again", async () => {
    const name = await newQueue(t, { overlap: 3, maxAttemptsPerLabeler: 3 });
    const lateLabel = async (who: string) => {
      const { id } = await started(t, name, who);
      await t.advance("1h");
      return (await t.pawl.people.submit(id, who, cat)).label;
    };
    const first = await lateLabel("ada");
    const second = await started(t, name, "ada");
    await t.pawl.people.submit(second.id, "ada", cat);
    await expect(t.pawl.people.accept(first.id, { actor: "lea" })).rejects.toMatchObject({
      code: "not_allowed",
      message: expect.stringContaining(`\`ada\` has labeled the sample in the meantime, in assignment ${second.id}`),
    });
    const late = await lateLabel("ben");
    await t.pawl.people.accept(late.id, { actor: "lea" });
    expect(await t.pawl.people.next(name, "ben")).toMatchObject({ assignment: null });
    expect(await t.pawl.people.sample({ queue: name, key: "s1" })).toMatchObject({ state: "open", labeled: 2 });
    expect(await t.pawl.inspect.verify()).toEqual([]);
  });

  test("A47 accepting a late label opens a sample again that was given up for lack of it", async () => {
    const name = await newQueue(t, { maxAttemptsTotal: 1 });
    const { id } = await started(t, name, "ada");
    await t.advance("1h");
    const { label } = await t.pawl.people.submit(id, "ada", cat);
    expect(await sampleStates(t, name)).toEqual({ s1: "exhausted" });
    await t.pawl.people.accept(label.id, { actor: "lea" });
    expect(await sampleStates(t, name)).toEqual({ s1: "agreed" });
  });

  test("what a lead does is hinted at once it is committed, and not at all when it is rolled back", async () => {
    const name = await newQueue(t, { review: true });
    const { label } = await labeled(t, name, "ada", cat);
    const heard: unknown[] = [];
    const forget = t.kernel.signals.follow((topic) => heard.push(topic));
    t.faults.plant("start.before", "throw");
    await expect(t.pawl.people.reject(label.id, { actor: "lea" })).rejects.toThrow("planted");
    expect(heard).toEqual([]);
    await t.pawl.people.reject(label.id, { actor: "lea" });
    expect(heard).not.toEqual([]);
    forget();
  });

  test("R108 a correction is a new assignment: a rejected label counts no more, and its labeler gets the sample back", async () => {
    const name = await newQueue(t, { overlap: 2, review: true });
    const first = await labeled(t, name, "ada", dog);
    const before = await t.pawl.people.assignment(first.assignment.id);
    const { revision, label } = await t.pawl.people.reject(first.label.id, {
      actor: "lea",
      comment: "look at the ears",
    });
    expect(label).toMatchObject({ review: "rejected", reviewedBy: "lea", comment: "look at the ears" });
    expect(revision).toMatchObject({ status: "pending", labelerId: "ada", revisionOf: first.assignment.id });
    expect(await t.pawl.people.assignment(first.assignment.id)).toEqual(before);
    expect(await t.pawl.people.sample({ queue: name, key: "s1" })).toMatchObject({ labeled: 0, held: 1, open: 1 });
    expect(await given(t, name, "ada")).toMatchObject({ id: revision!.id });
    expect(await t.pawl.people.reject(first.label.id, { actor: "lea" })).toMatchObject({
      revision: { id: revision!.id },
    });
    await t.pawl.people.start(revision!.id, "ada");
    await t.pawl.people.submit(revision!.id, "ada", cat);
    await labeled(t, name, "ben", cat);
    expect(await sampleStates(t, name)).toEqual({ s1: "open" });
    const { labels } = await t.pawl.people.sample({ queue: name, key: "s1" });
    for (const one of labels.filter((each) => each.review === null))
      await t.pawl.people.accept(one.id, { actor: "lea" });
    expect(await t.pawl.people.sample({ queue: name, key: "s1" })).toMatchObject({
      state: "agreed",
      consensus: cat,
      agreement: 1,
    });
  });

  test("of two leads who speak at once the first is heard, and the other is told so", async () => {
    const name = await newQueue(t, { overlap: 2, review: true });
    const { label } = await labeled(t, name, "ada");
    const [accepted, rejected] = await Promise.allSettled([
      t.pawl.people.accept(label.id, { actor: "lea" }),
      t.pawl.people.reject(label.id, { actor: "leo" }),
    ]);
    expect([accepted.status, rejected.status].sort()).toEqual(["fulfilled", "rejected"]);
    const [heard, other] = accepted.status === "fulfilled" ? ["accepted", rejected] : ["rejected", accepted];
    expect(other).toMatchObject({
      reason: { code: "not_allowed", message: expect.stringContaining(`already ${heard} it`) },
    });
    expect(await t.pawl.people.sample({ queue: name, key: "s1" })).toMatchObject({
      labels: [{ id: label.id, review: heard }],
      labeled: heard === "accepted" ? 1 : 0,
    });
  });

  test("a revision that its labeler leaves lying goes to somebody else", async () => {
    const name = await newQueue(t, { review: true });
    const { label } = await labeled(t, name, "ada");
    const { revision } = await t.pawl.people.reject(label.id, { actor: "lea" });
    await t.advance("1h");
    await t.maintain();
    expect(await t.pawl.people.assignment(revision!.id)).toMatchObject({ status: "expired" });
    expect(await whyNothing(t, name, "ada")).toMatchObject({ done: 1 });
    await labeled(t, name, "ben");
  });

  test("what is settled stays settled: its labels are not reviewed any more", async () => {
    const name = await newQueue(t);
    const { label } = await labeled(t, name, "ada");
    await expect(t.pawl.people.reject(label.id, { actor: "lea" })).rejects.toMatchObject({
      code: "invalid_transition",
      details: { from: "agreed" },
    });
    expect((await t.pawl.people.sample({ queue: name, key: "s1" })).labels).toMatchObject([{ review: null }]);
  });

  test("where labels disagree, one more is asked, up to a limit; then the sample waits for a lead", async () => {
    const name = await newQueue(t, { overlap: 2, agreement: { atLeast: 0.6, maxOverlap: 3 }, samples: 2 });
    for (const [labeler, value] of [
      ["a", cat],
      ["b", dog],
      ["c", cat],
      ["a", cat],
      ["b", dog],
      ["c", cow],
    ] as const) {
      await labeled(t, name, labeler, value);
    }
    expect(await t.pawl.people.sample({ queue: name, key: "s1" })).toMatchObject({
      state: "exhausted",
      needs: 3,
      labeled: 3,
      reason: "The labels agree to 33 %; 60 % is required.",
      agreement: 1 / 3,
    });
    const again = await t.pawl.people.reopen({ queue: name, key: "s1" }, { actor: "lea", attempts: 2 });
    expect(again).toMatchObject({ state: "open", needs: 5, open: 2, reason: null });
    await labeled(t, name, "d", cat);
    await labeled(t, name, "e", cat);
    expect(await t.pawl.people.sample({ queue: name, key: "s1" })).toMatchObject({
      state: "agreed",
      consensus: cat,
      agreement: 0.6,
    });
  });

  test("labels that tie make no consensus", async () => {
    const name = await newQueue(t, { overlap: 2 });
    await labeled(t, name, "a", cat);
    await labeled(t, name, "b", dog);
    expect(await t.pawl.people.sample({ queue: name, key: "s1" })).toMatchObject({
      state: "exhausted",
      reason: "The labels tie.",
      agreement: 0,
    });
  });

  test("gold samples measure labelers, and are right whatever they say", async () => {
    const name = await newQueue(t, { samples: 0, overlap: 2 });
    await t.pawl.people.add(name, { key: "gold", data: 1, gold: cat });
    await labeled(t, name, "a", cat);
    await labeled(t, name, "b", dog);
    const sample = await t.pawl.people.sample({ queue: name, key: "gold" });
    expect(sample).toMatchObject({ state: "agreed", consensus: cat, gold: cat, agreement: 0, reason: null });
    expect(sample.labels.map((one) => one.isRight)).toEqual([true, false]);
    await t.pawl.people.add(name, { key: "doubtful", data: 2, gold: cat });
    for (const labeler of ["a", "b"]) await labeled(t, name, labeler, dog);
    expect(await t.pawl.people.sample({ queue: name, key: "doubtful" })).toMatchObject({
      ...{ state: "agreed", consensus: cat, agreement: 1 },
      reason: "The labels contradict the gold label.",
    });
  });

  test("A44 an exhausted sample leaves a dead letter, and a lead can hand it out again", async () => {
    const name = await newQueue(t, { maxAttemptsTotal: 1 });
    const { id, sampleId } = await started(t, name, "ada");
    await t.pawl.people.skip(id, "ada", { reason: "too dark" });
    expect(await sampleStates(t, name)).toEqual({ s1: "exhausted" });
    const journal = await t.pawl.journal(sampleLifecycle, { id: sampleId });
    expect(journal.at(-1)).toMatchObject({
      event: "exhaust",
      source: "pawl",
      reason: expect.stringContaining("0 of 1 labels"),
    });
    const letters = async () =>
      (await t.pawl.deadLetters.list({ lifecycle: sampleLifecycle })).filter((one) => one.instance === sampleId);
    expect(await letters()).toMatchObject([
      { status: "open", origin: "open", reason: expect.stringContaining("0 of 1 labels") },
    ]);
    expect(await t.pawl.people.reopen(sampleId, { actor: "lea", attempts: 2 })).toMatchObject({
      state: "open",
      open: 1,
      spare: 1,
    });
    expect(await letters()).toEqual([]);
    expect(await whyNothing(t, name, "ada")).toMatchObject({ skipped: 1 });
    await labeled(t, name, "ben");
    expect(await sampleStates(t, name)).toEqual({ s1: "agreed" });
    await expect(t.pawl.people.reopen(sampleId, { actor: "lea" })).rejects.toMatchObject({
      code: "invalid_transition",
    });
  });

  test("A44 a sample that nobody was left to label is open again when somebody comes", async () => {
    const name = await newQueue(t, { labelers: ["a"] });
    const { id } = await started(t, name, "a");
    await t.pawl.people.skip(id, "a");
    expect(await sampleStates(t, name)).toEqual({ s1: "unassignable" });
    await t.pawl.people.updateQueue(name, { labelers: ["a", "b"] });
    expect(await sampleStates(t, name)).toEqual({ s1: "open" });
    await labeled(t, name, "b");
    const skilled = await newQueue(t, { skills: ["norse"] });
    await t.pawl.people.upsertLabeler({ id: "snorri", skills: ["norse"] });
    const other = await started(t, skilled, "snorri");
    await t.pawl.people.skip(other.id, "snorri");
    expect(await sampleStates(t, skilled)).toEqual({ s1: "unassignable" });
    await t.pawl.people.upsertLabeler({ id: "egil", skills: ["norse", "verse"] });
    await labeled(t, skilled, "egil");
    expect(await sampleStates(t, skilled)).toEqual({ s1: "agreed" });
  });

  test("a sample that is closed is taken from who has it, and given to nobody", async () => {
    const name = await newQueue(t, { overlap: 2 });
    const held = await started(t, name, "ada");
    expect(
      await t.pawl.people.close({ queue: name, key: "s1" }, { actor: "lea", reason: "a duplicate" }),
    ).toMatchObject({
      state: "closed",
      held: 0,
      open: 0,
    });
    expect(await t.pawl.people.assignment(held.id)).toMatchObject({ status: "expired" });
    expect(await whyNothing(t, name, "ben")).toMatchObject({ code: "nothing_waits" });
    expect(await t.pawl.people.close({ queue: name, key: "s1" }, { actor: "lea" })).toMatchObject({ state: "closed" });
  });

  test("samples, assignments and labels can be listed, page by page", async () => {
    const name = await newQueue(t, { samples: 3, overlap: 2 });
    for (const labeler of ["a", "b", "a"]) await labeled(t, name, labeler);
    await started(t, name, "b");
    const keys = async (options: object) => (await t.pawl.people.samples(name, options)).map((one) => one.key);
    expect(await keys({})).toEqual(["s3", "s2", "s1"]);
    expect(await keys({ state: "agreed" })).toEqual(["s1"]);
    const [last] = await t.pawl.people.samples(name, { limit: 1 });
    expect(await keys({ after: last, limit: 1 })).toEqual(["s2"]);
    expect(await t.pawl.people.assignments(name, { labeler: "b" })).toMatchObject([
      { status: "in_progress" },
      { status: "completed" },
    ]);
    expect(await t.pawl.people.assignments(name, { status: "in_progress" })).toMatchObject([{ labelerId: "b" }]);
    expect(await t.pawl.people.labels(name, { limit: 2 })).toHaveLength(2);
    expect(await t.pawl.people.labels(name)).toHaveLength(3);
    await expect(t.pawl.people.samples(name, { state: "gone" as never })).rejects.toMatchObject({
      code: "option_invalid",
    });
    await expect(t.pawl.people.labels(name, { limit: 0 })).rejects.toMatchObject({ code: "option_invalid" });
    await expect(t.pawl.people.samples(name, { after: { id: "x" } })).rejects.toMatchObject({ code: "option_invalid" });
  });
});
