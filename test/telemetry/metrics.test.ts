import { createPawl, job, lifecycle, schedule } from "pawl";
import { testPawl } from "pawl/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import type { TestClock } from "../../src/testing/clock.ts";
import { CapturedLog } from "../support/captured-log.ts";
import { eachStore } from "../support/each-store.ts";
import { metric } from "../support/metric.ts";

const parcel = lifecycle("parcel", {
  data: z.object({}),
  initial: "labeling",
  states: {
    labeling: {
      run: (step) => step.publish("label.wanted", {}),
      retry: { maxAttempts: 2, backoff: () => 1_000 },
      on: { labeled: "packed" },
    },
    packed: { forever: true, on: { shipped: "done" } },
    done: { final: "success" },
  },
});
const tidy = job("tidy", { run: () => {} });
const hourly = schedule("hourly", { interval: "1h", start: tidy, missed: "all" });
const lane = 'lane="parcel@1/labeling"';

eachStore((store) => {
  const open = () => store.open({ lifecycles: [parcel, tidy], schedules: [hourly] });

  test("what the database knows is read when it is asked for: states, waiting times, lags", async () => {
    await using t = await open();
    await t.maintain();
    const empty = await t.pawl.inspect.metrics();
    expect(metric(empty, "pawl_database_up")).toBe(1);
    expect(metric(empty, `pawl_lane_oldest_ready_seconds{${lane}}`)).toBe(0);
    expect(metric(empty, "pawl_outbox_oldest_pending_seconds")).toBe(0);
    expect(metric(empty, 'pawl_schedule_lag_seconds{schedule="hourly"}')).toBe(0);
    await t.pawl.startMany(
      parcel,
      Array.from({ length: 3 }, () => ({ data: {} })),
    );
    const clock = t.kernel.clock as TestClock;
    await clock.set(clock.nowMs() + 90_000);
    expect(metric(await t.pawl.inspect.metrics(), `pawl_lane_oldest_ready_seconds{${lane}}`)).toBe(90);
    await t.work();
    await clock.set(clock.nowMs() + 3_600_000);
    const text = await t.pawl.inspect.metrics();
    expect(metric(text, 'pawl_instances{lifecycle="parcel",state="packed"}')).toBe(3);
    expect(metric(text, `pawl_lane_oldest_ready_seconds{${lane}}`)).toBe(0);
    expect(metric(text, "pawl_outbox_oldest_pending_seconds")).toBe(3_600);
    expect(metric(text, "pawl_outbox_pending")).toBe(3);
    expect(metric(text, "pawl_outbox_dead")).toBe(0);
    expect(metric(text, 'pawl_schedule_lag_seconds{schedule="hourly"}')).toBe(90);
    await t.maintain();
    expect(metric(await t.pawl.inspect.metrics(), 'pawl_schedule_ticks_total{schedule="hourly"}')).toBe(1);
    expect(metric(await t.pawl.inspect.metrics(), 'pawl_schedule_lag_seconds{schedule="hourly"}')).toBe(0);
  });

  test("every end of an attempt is counted as what it was", async () => {
    await using t = await open();
    const start = () => t.pawl.start(parcel, { data: {} });
    const claim = async () => {
      await start();
      return t.claim("parcel/labeling");
    };
    await (await claim()).retryLater("1h");
    await (await claim()).release();
    await (await t.claim("parcel/labeling")).report("labeled");
    await (await claim()).fail(new Error("no ink"));
    const silent = await claim();
    await t.advance("31s");
    await expect(silent.report("labeled")).rejects.toMatchObject({ code: "lease_lost" });
    await (await t.claim("parcel/labeling")).fail(new Error("no paper"));
    const text = await t.pawl.inspect.metrics();
    const counted = ["deferred", "released", "done", "failed", "lapsed", "retried"].map((what) => [
      what,
      metric(text, `pawl_tasks_${what}_total{${lane}}`),
    ]);
    expect(Object.fromEntries(counted)).toEqual({
      deferred: 1,
      released: 1,
      done: 1,
      failed: 2,
      lapsed: 1,
      retried: 2,
    });
    expect(metric(text, `pawl_leases_lost_total{${lane}}`)).toBe(1);
    expect(metric(text, `pawl_dead_letters_total{${lane}}`)).toBe(1);
    expect(metric(text, "pawl_report_batch_tasks_count")).toBe(7);
  });
});

test("while the database does not answer, just that is told, and what this process has counted", async () => {
  await using t = await testPawl({ lifecycles: [parcel] });
  await t.pawl.start(parcel, { data: {} });
  await t.work();
  await t.db.close();
  const text = await t.pawl.inspect.metrics();
  expect(metric(text, "pawl_database_up")).toBe(0);
  expect(metric(text, `pawl_tasks_done_total{${lane}}`)).toBe(1);
  expect(text).not.toContain("pawl_instances{");
});

test("what goes wrong is logged once, with what it was and without what it held", async () => {
  const log = new CapturedLog();
  await using t = await testPawl({ lifecycles: [parcel, tidy], schedules: [hourly], logger: log });
  await t.pawl.start(parcel, { data: {} });
  await (await t.claim("parcel/labeling")).fail(new TypeError("no ink"));
  expect(log.lines.at(-1)).toMatchObject({
    level: "warn",
    message: "parcel@1/labeling failed and is retried.",
    fields: {
      lifecycle: "parcel",
      state: "labeling",
      attempt: 1,
      retryAfterMs: 1_000,
      err: { type: "TypeError", message: "no ink" },
    },
  });
  await t.advance("1s");
  await t.maintain();
  await t.claim("parcel/labeling");
  await t.advance("31s");
  expect(log.said("error")).toEqual(["parcel@1/labeling failed and left a dead letter."]);
  await t.advance("1h");
  expect(log.said("info")).toContain("Schedule hourly ran.");
});

test.each([["loud"], [7], [null], [{ info: "not a function" }], [{ info() {}, warn() {} }]])(
  "a logger that is none is refused before anything is opened: %j",
  async (logger) => {
    const options = { lifecycles: [parcel], folder: "no/such/folder", logger } as never;
    await expect(createPawl(options)).rejects.toMatchObject({ code: "option_invalid" });
  },
);
