import fc from "fast-check";
import { expect, test } from "vitest";
import { exponential, isNetworkError, matchingRule, nextAttemptMs, ruleFor, standardRetry } from "./retry.ts";

test("a policy without a pause gets the standard one", () => {
  expect([1, 2, 3].map((failed) => nextAttemptMs({ maxAttempts: 3 }, failed, 0.5))).toEqual([2_000, 4_000, undefined]);
});

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

const named = (name: string) => Object.assign(new Error("x"), { name });

test("the first rule that an error falls under holds, by its name or by a look at it", () => {
  const policy = {
    ...standardRetry,
    rules: [
      { type: "odd", when: () => JSON.parse("{") as boolean },
      { type: "slow", when: ["Slow", "Late"], maxAttempts: 7 },
      { when: (error: unknown) => (error as { code?: unknown }).code === 7, backoff: () => 5 },
      { type: "never", when: "Slow" },
    ],
  };
  expect(ruleFor(policy, named("Late"))).toBe(policy.rules[1]);
  expect(ruleFor(policy, { code: 7 })).toBe(policy.rules[2]);
  expect(ruleFor(policy, named("Other"))).toBeUndefined();
  expect(ruleFor(policy, null)).toBeUndefined();
  expect(ruleFor(standardRetry, named("Late"))).toBeUndefined();
  expect(nextAttemptMs(matchingRule(policy, policy.rules[1]), 4, 0.5)).toBe(16_000);
  expect(nextAttemptMs(matchingRule(policy, policy.rules[2]), 3, 0.5)).toBe(5);
  expect(matchingRule(policy, undefined)).toBe(policy);
});

test("an error is one of the network if its code, or that of a cause, says so", () => {
  const refused = new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }) });
  expect([refused, new Error("x"), "ECONNRESET"].map(isNetworkError)).toEqual([true, false, false]);
});
