import { describe, expect, test } from "vitest";
import { ticksOf } from "../definition/schedule/ticks.ts";
import { dueTicks } from "./due-ticks.ts";

const hourMs = 3_600_000;
const hourly = ticksOf({ cron: undefined, everyMs: hourMs, timezone: "UTC" });
const eachSecond = ticksOf({ cron: undefined, everyMs: 1_000, timezone: "UTC" });
const most = 100;

describe("of the ticks that have come", () => {
  test.each(["skip", "once", "all"] as const)("what is not due yet waits (%s)", (missed) => {
    expect(dueTicks(hourly, missed, { firstMs: hourMs, nowMs: hourMs - 1, most })).toEqual({
      run: [],
      nextMs: hourMs,
    });
  });

  test.each(["skip", "once", "all"] as const)("those of the last minute are all run (%s)", (missed) => {
    expect(dueTicks(eachSecond, missed, { firstMs: 5_000, nowMs: 8_500, most })).toEqual({
      run: [5_000, 6_000, 7_000, 8_000],
      nextMs: 9_000,
    });
  });

  test.each([
    ["skip", []],
    ["once", [5 * hourMs]],
    ["all", [2, 3, 4, 5].map((hour) => hour * hourMs)],
  ] as const)("of those that were missed: %s", (missed, run) => {
    const nowMs = 5.5 * hourMs;
    expect(dueTicks(hourly, missed, { firstMs: 2 * hourMs, nowMs, most })).toEqual({ run, nextMs: 6 * hourMs });
  });

  test.each([
    ["skip", [5 * hourMs]],
    ["once", [5 * hourMs]],
    ["all", [2, 3, 4, 5].map((hour) => hour * hourMs)],
  ] as const)("one that has just come takes the place of those missed: %s", (missed, run) => {
    const nowMs = 5 * hourMs + 30_000;
    expect(dueTicks(hourly, missed, { firstMs: 2 * hourMs, nowMs, most })).toEqual({ run, nextMs: 6 * hourMs });
  });

  test("only so many at a time, and the next ones are not forgotten", () => {
    const first = dueTicks(hourly, "all", { firstMs: hourMs, nowMs: 5 * hourMs, most: 3 });
    expect(first).toEqual({ run: [hourMs, 2 * hourMs, 3 * hourMs], nextMs: 4 * hourMs });
  });

  test("a year of missed seconds is not counted through", () => {
    const before = performance.now();
    const due = dueTicks(eachSecond, "once", { firstMs: 1_000, nowMs: 365 * 24 * hourMs, most });
    expect(due.run.at(-1)).toBe(365 * 24 * hourMs);
    expect(performance.now() - before).toBeLessThan(1_000);
  });
});
