import { expect, test } from "vitest";
import { Rates } from "./rates.ts";

const totals = (total: number, done: number, failed: number) => new Map([["essay", { total, done, failed }]]);
const start = Date.parse("2026-01-31T12:00:00Z");

test("rates are what counts have grown by in half a minute, per minute", () => {
  const rates = new Rates();
  expect(rates.add(start, totals(10, 4, 1))).toBeUndefined();
  expect(rates.add(start + 500, totals(11, 4, 1))).toBeUndefined();
  expect(rates.add(start + 4_900, totals(90, 5, 9))).toBeUndefined();
  expect(rates.add(start + 5_000, totals(12, 5, 1))).toEqual({
    at: "2026-01-31T12:00:05.000Z",
    started: 24,
    done: 12,
    failed: 0,
  });
  expect(rates.add(start + 10_000, totals(12, 5, 2))).toMatchObject({ started: 12, done: 6, failed: 6 });
  expect(rates.samples).toHaveLength(2);
  expect(rates.add(start + 30_000, totals(12, 5, 2))).toMatchObject({ started: 4, done: 2, failed: 2 });
  expect(rates.add(start + 35_000, totals(12, 5, 2))).toMatchObject({ started: 0, done: 0, failed: 2 });
});

test("a steady flow is shown with its rate from the first sample on", () => {
  const rates = new Rates();
  const perMinute = Array.from({ length: 20 }, (_, turn) => rates.add(start + turn * 5_000, totals(turn * 10, 0, 0)));
  for (const sample of perMinute.slice(1)) expect(sample?.started).toBeCloseTo(120, 5);
});

test("what was deleted is no negative start, and what happened while nobody looked is no burst", () => {
  const rates = new Rates();
  rates.add(start, totals(100, 50, 0));
  expect(rates.add(start + 5_000, totals(60, 10, 0))).toMatchObject({ started: 0, done: 0 });
  rates.rest();
  expect(rates.add(start + 60_000, totals(5_000, 4_000, 0))).toBeUndefined();
  expect(rates.add(start + 65_000, totals(5_001, 4_000, 0))).toMatchObject({ started: 12, done: 0 });
});

test("a quarter of an hour is kept", () => {
  const rates = new Rates();
  for (let at = 0; at <= 20 * 60_000; at += 5_000) rates.add(start + at, totals(at, 0, 0));
  expect(rates.samples).toHaveLength(180);
  expect(rates.samples.at(-1)?.at).toBe("2026-01-31T12:20:00.000Z");
});
