import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ProgressReport } from "../../kernel/tasks/progress.ts";
import { ProgressThrottle } from "./progress.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const word = (fraction: number): ProgressReport => ({ fraction, note: null });

test("a tight loop is told of once a second, first and last word included", async () => {
  const told: number[] = [];
  const progress = new ProgressThrottle(async ({ fraction }) => void told.push(fraction));
  for (let part = 1; part <= 10_000; part++) progress.report(word(part / 10_000));
  expect(told).toEqual([0.0001]);
  await vi.advanceTimersByTimeAsync(999);
  expect(told).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(told).toEqual([0.0001, 1]);
  await vi.advanceTimersByTimeAsync(5_000);
  progress.report(word(0.5));
  expect(told).toEqual([0.0001, 1, 0.5]);
});

test("a database that is slow or away holds nothing up and gets no second word meanwhile", async () => {
  const told: number[] = [];
  let fail = (_error: Error): void => {};
  const progress = new ProgressThrottle(({ fraction }) => {
    told.push(fraction);
    return new Promise((_resolve, reject) => {
      fail = reject;
    });
  });
  progress.report(word(0.1));
  progress.report(word(0.2));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(told).toEqual([0.1]);
  fail(new Error("gone"));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(told).toEqual([0.1, 0.2]);
});

test("after the step's end nothing more is told", async () => {
  const told: number[] = [];
  const progress = new ProgressThrottle(async ({ fraction }) => void told.push(fraction));
  progress.report(word(0.1));
  progress.report(word(0.2));
  progress.stop();
  progress.report(word(0.3));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(told).toEqual([0.1]);
});
