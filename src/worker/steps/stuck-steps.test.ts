import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { StuckSteps } from "./stuck-steps.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function stuckSteps(maxFreed = 2) {
  const seen: [string, boolean][] = [];
  const steps = new StuckSteps<string>({ graceMs: 1_000, maxFreed }, (step, isFreed) => seen.push([step, isFreed]));
  return { steps, seen };
}

test("a step that ends within its grace period is not stuck", () => {
  const { steps, seen } = stuckSteps();
  steps.watch("a");
  vi.advanceTimersByTime(999);
  expect(steps.ended("a")).toBe(false);
  vi.advanceTimersByTime(1_000);
  expect([seen, steps.count]).toEqual([[], 0]);
});

test("a step that goes on is stuck until it ends, and its slot is freed", () => {
  const { steps, seen } = stuckSteps();
  steps.watch("a");
  vi.advanceTimersByTime(1_000);
  expect([seen, steps.count]).toEqual([[["a", true]], 1]);
  expect(steps.ended("a")).toBe(true);
  expect(steps.count).toBe(0);
});

test("no more slots are freed than allowed: beyond that, stuck steps keep theirs", () => {
  const { steps, seen } = stuckSteps(2);
  for (const step of ["a", "b", "c"]) steps.watch(step);
  vi.advanceTimersByTime(1_000);
  expect(seen).toEqual([
    ["a", true],
    ["b", true],
    ["c", false],
  ]);
  expect([steps.count, steps.freed.size]).toEqual([3, 2]);
  expect(steps.ended("c")).toBe(false);
  steps.ended("a");
  steps.watch("d");
  vi.advanceTimersByTime(1_000);
  expect(seen.at(-1)).toEqual(["d", true]);
});

test("after the end nothing becomes stuck", () => {
  const { steps, seen } = stuckSteps();
  steps.watch("a");
  steps.stop();
  vi.advanceTimersByTime(1_000);
  expect(seen).toEqual([]);
});
