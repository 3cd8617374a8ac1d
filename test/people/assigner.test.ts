import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { eachStore } from "../support/each-store.ts";
import {
  cat,
  dog,
  expectSound,
  given,
  givenSample,
  moveClock,
  newQueue,
  sampleOf,
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

  async function labels(queue: string, labeler: string, value: unknown = cat): Promise<string> {
    const { id, sampleId } = await started(t, queue, labeler);
    await t.pawl.people.submit(id, labeler, value);
    return sampleId;
  }

  test("a sample goes to as many labelers as it needs labels, and to no labeler twice", async () => {
    const name = await newQueue(t, { overlap: 3 });
    const samples = [await labels(name, "a"), await labels(name, "b")];
    expect(await whyNothing(t, name, "a")).toMatchObject({ done: 1 });
    expect(await sampleStates(t, name)).toEqual({ s1: "open" });
    samples.push(await labels(name, "c", dog));
    expect(new Set(samples).size).toBe(1);
    expect(await sampleOf(t, name, "s1")).toMatchObject({
      state: "agreed",
      outcome: "success",
      data: { consensus: cat },
    });
    expect(await whyNothing(t, name, "d")).toMatchObject({ code: "nothing_waits" });
  });

  test("who gets nothing is told why, in numbers and in words", async () => {
    const name = await newQueue(t, { samples: 4, overlap: 2 });
    for (const labeler of ["a", "b"]) await given(t, name, labeler);
    for (let n = 0; n < 2; n++) await labels(name, "c");
    const { id } = await started(t, name, "c");
    await t.pawl.people.skip(id, "c");
    expect(await whyNothing(t, name, "c")).toEqual({
      code: "nothing_for_you",
      sentence: `Queue \`${name}\` has no sample for you now: 2 are assigned to others, 2 you have done, 1 you have skipped.`,
      heldByOthers: 2,
      done: 2,
      skipped: 1,
      tooOften: 0,
    });
  });

  test("who has labeled more samples than are read at once is told so, and the next labeler gets the first of them", async () => {
    const name = await newQueue(t, { samples: 30, overlap: 2 });
    for (let n = 0; n < 30; n++) await labels(name, "a");
    expect(await whyNothing(t, name, "a")).toMatchObject({ code: "nothing_for_you", done: 30 });
    expect(await labels(name, "b")).toBeDefined();
  });

  test("the oldest comes first, unless samples were given a number", async () => {
    const oldest = await newQueue(t, { samples: 3 });
    expect([await givenSample(t, oldest, "a"), await givenSample(t, oldest, "b")]).toEqual(["s1", "s2"]);
    const ranked = await newQueue(t, { samples: 0, order: "priority" });
    await t.pawl.people.addMany(ranked, [
      { key: "later", data: 1, priority: 2.5 },
      { key: "unranked", data: 1 },
      { key: "first", data: 1, priority: -1 },
    ]);
    const order = [];
    for (const labeler of ["a", "b", "c"]) order.push(await givenSample(t, ranked, labeler));
    expect(order).toEqual(["first", "unranked", "later"]);
  });

  test("with the least labeled first, all samples get one label before any gets two", async () => {
    const name = await newQueue(t, { samples: 2, overlap: 2, order: "least_labeled" });
    const order = [];
    for (const labeler of ["a", "b", "c", "d"]) order.push(await givenSample(t, name, labeler));
    expect(order).toEqual(["s1", "s2", "s1", "s2"]);
  });

  test("what lies on a desk past its time is not given back, but given anew", async () => {
    const name = await newQueue(t, { samples: 2 });
    const one = await given(t, name, "ada");
    await t.advance("4m");
    expect(await given(t, name, "ada")).toMatchObject({ id: one.id });
    await t.advance("1m");
    const again = await given(t, name, "ada");
    expect(again.id).not.toBe(one.id);
    expect(again).toMatchObject({ sampleId: one.sampleId, try: 2, attempts: 0, status: "pending" });
  });

  test("R122 where nobody sweeps, whoever asks takes back what others have let lie", async () => {
    const name = await newQueue(t, { samples: 2 });
    const [begun, waiting] = [await started(t, name, "gone"), await given(t, name, "away")];
    await moveClock(t, 2 * 3_600_000);
    expect(await given(t, name, "ada")).toMatchObject({ sampleId: begun.sampleId });
    expect(await given(t, name, "ben")).toMatchObject({ sampleId: waiting.sampleId });
    expect(await t.pawl.people.assignment(begun.id)).toMatchObject({ status: "expired" });
  });

  test("R122 labelers who all fail or stay away leave no sample waiting, and each sees where their work stands", async () => {
    const name = await newQueue(t, { labelers: ["ann", "bea", "cal"], maxAttemptsPerLabeler: 1, maxAttemptsTotal: 9 });
    const lost = await started(t, name, "ann"); // Begins, and does not finish.
    await t.advance("2h");
    await given(t, name, "bea"); // Never begins.
    await t.advance("10m");
    const skipped = await started(t, name, "cal");
    await t.pawl.people.skip(skipped.id, "cal", { reason: "cannot read it" });
    expect(await t.pawl.people.sample({ queue: name, key: "s1" })).toMatchObject({
      state: "unassignable",
      open: 0,
      held: 0,
      reason: "No eligible labeler is left: it has 0 of 1 labels.",
      assignments: [
        { labelerId: "ann", status: "expired", attempts: 1 },
        { labelerId: "bea", status: "expired", attempts: 0 },
        { labelerId: "cal", status: "skipped", attempts: 1 },
      ],
    });
    expect(await t.pawl.people.deskWork(lost.id, "ann")).toMatchObject({
      assignment: { status: "expired", deadlineAt: expect.any(Date), expiredAt: expect.any(Date) },
    });
    const { queues } = await t.pawl.people.desk("ann");
    expect(queues.find((one) => one.name === name)).toMatchObject({ assignments: [], waiting: 0 });
    expect(await whyNothing(t, name, "ann")).toMatchObject({ code: "nothing_waits", sentence: expect.any(String) });
  });

  test("who never starts costs a sample nothing, and does not get it for ever", async () => {
    const name = await newQueue(t, { maxAttemptsPerLabeler: 2, maxAttemptsTotal: 1 });
    for (let n = 0; n < 2; n++) {
      await given(t, name, "idle");
      await t.advance("5m");
    }
    expect(await whyNothing(t, name, "idle")).toMatchObject({ tooOften: 1 });
    await labels(name, "ada");
    expect(await sampleStates(t, name)).toEqual({ s1: "agreed" });
  });

  test("what expires on its own is free again, and a sample that was tried too often is given up with a reason", async () => {
    const name = await newQueue(t, { overlap: 2, maxAttemptsTotal: 3 });
    await labels(name, "a");
    for (const labeler of ["b", "c"]) {
      await started(t, name, labeler);
      await t.advance("1h");
    }
    await t.maintain();
    expect(await sampleOf(t, name, "s1")).toMatchObject({
      state: "exhausted",
      data: { reason: "It reached the maximum of attempts of its queue, with 1 of 2 labels." },
    });
    expect(await whyNothing(t, name, "d")).toMatchObject({ code: "nothing_waits" });
  });

  test("where nobody is left who may label it, a sample says so", async () => {
    const name = await newQueue(t, { labelers: ["a", "b"], maxAttemptsTotal: 5 });
    for (const labeler of ["a", "b"]) {
      const { id } = await started(t, name, labeler);
      await t.pawl.people.skip(id, labeler);
    }
    expect(await sampleOf(t, name, "s1")).toMatchObject({
      state: "unassignable",
      data: { reason: "No eligible labeler is left: it has 0 of 1 labels." },
    });
  });

  test("many who ask at once get one each, of as many samples as it takes", async () => {
    const name = await newQueue(t, { samples: 20, overlap: 3, maxAttemptsTotal: 3 });
    const people = Array.from({ length: 64 }, (_, index) => `labeler-${index}`);
    const answers = await Promise.all(people.map((labeler) => t.pawl.people.next(name, labeler)));
    const assignments = answers.flatMap(({ assignment }) => assignment ?? []);
    expect(assignments).toHaveLength(60);
    const bySample = new Map<string, number>();
    for (const { sampleId } of assignments) bySample.set(sampleId, (bySample.get(sampleId) ?? 0) + 1);
    expect([...bySample.values()]).toEqual(Array(20).fill(3));
    const without = answers.flatMap((one) => (one.assignment === null ? [one.why.heldByOthers] : []));
    expect(without).toHaveLength(4);
  });

  test("a sample added a second time is there once", async () => {
    const name = await newQueue(t, { samples: 0 });
    const [one, again] = [
      await t.pawl.people.add(name, { key: "x", data: 1 }),
      await t.pawl.people.add(name, { key: "x", data: 2 }),
    ];
    expect(one).toMatchObject({ key: "x", created: true });
    expect(again).toEqual({ ...one, created: false });
    await labels(name, "a");
    expect(await whyNothing(t, name, "b")).toMatchObject({ code: "nothing_waits" });
  });

  test("samples added in a transaction that is rolled back were never there", async () => {
    const name = await newQueue(t, { samples: 0 });
    const failed = t.pawl.transaction(async (tx) => {
      await t.pawl.people.add(name, { data: 1 }, { tx });
      throw new Error("no");
    });
    await expect(failed).rejects.toThrow("no");
    expect(await whyNothing(t, name, "a")).toMatchObject({ code: "nothing_waits" });
    await t.pawl.transaction((tx) => t.pawl.people.add(name, { data: 1 }, { tx }));
    expect(await given(t, name, "a")).toMatchObject({ status: "pending" });
  });
});
