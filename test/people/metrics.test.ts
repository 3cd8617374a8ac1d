import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { TestPawl } from "../../src/testing/test-pawl.ts";
import { eachStore } from "../support/each-store.ts";
import { cat, dog, expectSound, given, labeled, newQueue, started } from "./labeling.ts";

eachStore((store) => {
  let t: TestPawl;
  beforeAll(async () => {
    t = await store.open({ lifecycles: [] });
  });
  afterEach(() => expectSound(t));
  afterAll(() => t.close());

  test("R119 metrics count every assignment, keep expired and skipped apart, and measure time from start to label", async () => {
    const name = await newQueue(t, { samples: 8, maxAttemptsPerLabeler: 3 });
    for (const minutes of ["4m", "8m"] as const) {
      const { id } = await started(t, name, "ada");
      await t.advance(minutes);
      await t.pawl.people.submit(id, "ada", cat);
    }
    const skipped = await started(t, name, "ada");
    await t.pawl.people.skip(skipped.id, "ada");
    await given(t, name, "ben");
    await t.advance("5m"); // Never started.
    await started(t, name, "ben");
    await t.advance("1h"); // Started, and left.
    await started(t, name, "ben");
    await given(t, name, "cem");
    const metrics = await t.pawl.people.metrics(name);
    expect(metrics).toMatchObject({
      total: 7,
      byStatus: { pending: 1, in_progress: 1, completed: 2, expired: 2, skipped: 1 },
      expired: { neverStarted: 1, unfinished: 1, released: 0 },
      avgTimeToComplete: 6 * 60,
    });
    expect(metrics.completionRate).toBeCloseTo(2 / 7);
    expect(metrics.skipRate).toBeCloseTo(1 / 7);
    expect(metrics.expireRate).toBeCloseTo(2 / 7);
    // ada 1, 1, 1; ben 0, then 1, then 2 on the same sample; cem 0.
    expect(metrics.avgAttempts).toBeCloseTo(6 / 7);
  });

  test("R119 expired ones are kept apart: never started, not finished, released by a lead", async () => {
    const name = await newQueue(t, { samples: 4 });
    const [waiting, begun] = [await given(t, name, "ada"), await started(t, name, "ben")];
    for (const { id } of [waiting, begun]) await t.pawl.people.release(id, { actor: "lea" });
    await given(t, name, "ada");
    await started(t, name, "ben");
    await t.advance("2h");
    expect(await t.pawl.people.metrics(name)).toMatchObject({
      total: 4,
      byStatus: { pending: 0, in_progress: 0, completed: 0, expired: 4, skipped: 0 },
      expired: { neverStarted: 1, unfinished: 1, released: 2 },
      expireRate: 1,
      skipRate: 0,
      completionRate: 0,
      avgTimeToComplete: null,
    });
  });

  test("R119 no rate of an hour or of a time is above 1, and what was open when it began is counted", async () => {
    const name = await newQueue(t, { samples: 3, finishWithin: "5h" });
    const early = [];
    for (const labeler of ["a", "b", "c"]) early.push(await started(t, name, labeler));
    await t.advance("2h");
    const from = t.now();
    for (const { id, labelerId } of early.slice(1)) await t.pawl.people.submit(id, labelerId, cat);
    const hours = await t.pawl.people.metricsByHour(name);
    expect(hours).toMatchObject([
      { total: 3, byStatus: { pending: 0, in_progress: 3, completed: 0 }, completionRate: 0 },
      { total: 3, byStatus: { pending: 0, in_progress: 1, completed: 2 }, completionRate: 2 / 3 },
    ]);
    const later = {
      total: 3,
      byStatus: { in_progress: 1, completed: 2 },
      completionRate: 2 / 3,
      ofClosed: { completionRate: 1 },
    };
    expect(await t.pawl.people.metrics(name, { from })).toMatchObject(later);
    expect(await t.pawl.people.metricsByHour(name, { from })).toMatchObject([later]);
    expect(await t.pawl.people.metricsByLabeler(name, { from })).toMatchObject([
      { labeler: "b", total: 1, completionRate: 1 },
      { labeler: "c", total: 1, completionRate: 1 },
    ]);
  });

  test("A51 rates are shares of all assignments, and beside that of those that have ended", async () => {
    const name = await newQueue(t, { samples: 4 });
    await labeled(t, name, "a");
    await started(t, name, "b");
    const { id } = await started(t, name, "c");
    await t.pawl.people.skip(id, "c");
    expect(await t.pawl.people.metrics(name)).toMatchObject({
      completionRate: 1 / 3,
      ofClosed: { completionRate: 1 / 2, skipRate: 1 / 2, expireRate: 0 },
    });
    const [load] = (await t.pawl.people.queueStats()).filter(({ queue }) => queue === name);
    expect(load).toMatchObject({ waiting: 2, assigned: 1, late: 0, metrics: { total: 3 } });
    const empty = await newQueue(t, { samples: 0 });
    expect(await t.pawl.people.metrics(empty)).toMatchObject({
      total: 0,
      completionRate: null,
      avgTimeToComplete: null,
      avgAttempts: null,
      ofClosed: { skipRate: null },
    });
  });

  test("R119 they can be had per labeler, per hour and for a time", async () => {
    const name = await newQueue(t, { samples: 0, overlap: 2 });
    await t.pawl.people.addMany(name, [{ data: 1, gold: cat }, { data: 2 }, { data: 3 }]);
    const from = t.now();
    await labeled(t, name, "ada", cat);
    await labeled(t, name, "ben", dog);
    await t.advance("2h");
    await labeled(t, name, "ada", cat);
    expect(await t.pawl.people.metricsByLabeler(name)).toMatchObject([
      { labeler: "ada", total: 2, byStatus: { completed: 2 }, gold: { labels: 1, right: 1, accuracy: 1 } },
      { labeler: "ben", total: 1, gold: { labels: 1, right: 0, accuracy: 0 } },
    ]);
    const hours = await t.pawl.people.metricsByHour(name);
    expect(hours.map((one) => [one.hour.getMinutes(), one.total])).toEqual([
      [0, 2],
      [0, 1],
    ]);
    expect(hours[1]!.hour.getTime() - hours[0]!.hour.getTime()).toBe(7_200_000);
    expect(await t.pawl.people.metrics(name, { labeler: "ada" })).toMatchObject({ total: 2 });
    expect(await t.pawl.people.metrics(name, { from: t.now() })).toMatchObject({ total: 1 });
    expect(await t.pawl.people.metrics(name, { from, to: t.now() })).toMatchObject({ total: 3 });
    await expect(t.pawl.people.metrics(name, { from: "monday" as never })).rejects.toMatchObject({
      code: "option_invalid",
    });
    await expect(t.pawl.people.metrics("nowhere")).rejects.toMatchObject({ code: "queue_unknown" });
  });
});
