import { expect, test } from "vitest";
import { PrefetchEstimator } from "./prefetch.ts";

function begin() {
  let nowMs = 0;
  const pace = new PrefetchEstimator(() => nowMs);
  return {
    pace,
    /** A number of steps ends, each of which ran for this long. */
    end: (steps: number, durationMs: number): void => {
      for (let step = 0; step < steps; step++) pace.finished(durationMs);
    },
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

test("nothing is held in advance before anything has ended", () => {
  const { pace, pass } = begin();
  pass(1_000);
  expect(pace.prefetch(16)).toBe(0);
});

test("slow steps that end together are not taken for quick ones", () => {
  const { pace, end, pass } = begin();
  pass(5_000);
  pace.prefetch(16);
  end(16, 5_000);
  pass(30);
  expect(pace.prefetch(16)).toBe(0);
});

test("of quick steps as many are held as end within a tenth of a second", () => {
  const { pace, end, pass } = begin();
  end(400, 4);
  pass(100);
  expect(pace.prefetch(16)).toBe(400);
  pass(100);
  expect(pace.prefetch(16)).toBe(200);
});

test("slots in which a step runs for long do not count", () => {
  const { pace, end, pass } = begin();
  end(400, 4);
  pass(100);
  expect(pace.prefetch(2)).toBe(50);
  expect(pace.prefetch(0)).toBe(0);
});
