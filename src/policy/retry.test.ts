import fc from "fast-check";
import { expect, test } from "vitest";
import { exponential, nextAttemptMs, standardRetry } from "./retry.ts";

test("R65 the standard pauses are 2, 4 and 8 seconds, and then it is over", () => {
  const pauses = [1, 2, 3, 4].map((attempt) => nextAttemptMs(standardRetry, attempt, 0.5));
  expect(pauses).toEqual([2_000, 4_000, 8_000, undefined]);
});

test("R65 jitter moves a pause by a fifth at most, and the cap holds after it", () => {
  const backoff = exponential();
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 30 }), fc.double({ min: 0, max: 0.999, noNaN: true }), (attempt, random) => {
      const plain = 2_000 * 2 ** (attempt - 1);
      const pause = backoff(attempt, random);
      expect(pause).toBeLessThanOrEqual(300_000);
      expect(pause).toBeGreaterThanOrEqual(Math.min(Math.floor(plain * 0.8), 300_000));
      expect(pause).toBeLessThanOrEqual(Math.ceil(plain * 1.2));
    }),
  );
});
