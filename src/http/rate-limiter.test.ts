import { expect, test } from "vitest";
import { RateLimiter } from "./rate-limiter.ts";

test("a burst passes at once, then as many as the rate allows, for each key alone", () => {
  let now = 0;
  const limiter = new RateLimiter(10, 3, () => now);
  expect([1, 2, 3, 4].map(() => limiter.take("ada"))).toEqual([0, 0, 0, 100]);
  expect(limiter.take("bob")).toBe(0);
  now += 100;
  expect([limiter.take("ada"), limiter.take("ada")]).toEqual([0, 100]);
  now += 3_600_000;
  expect([1, 2, 3, 4].map(() => limiter.take("ada"))).toEqual([0, 0, 0, 100]);
});

test("looking takes nothing, and what was refused does not lengthen the wait", () => {
  let now = 0;
  const limiter = new RateLimiter(1, 1, () => now);
  expect([limiter.waitMs("ada"), limiter.waitMs("ada"), limiter.take("ada")]).toEqual([0, 0, 0]);
  for (let time = 0; time < 100; time++) expect(limiter.take("ada")).toBe(1_000);
  now += 1_000;
  expect(limiter.take("ada")).toBe(0);
});

test("a flood of keys is forgotten, the oldest first", () => {
  const limiter = new RateLimiter(1, 1, () => 0);
  limiter.take("ada");
  for (let index = 0; index < 10_000; index++) limiter.take(`key-${index}`);
  expect(limiter.take("key-9999")).toBe(1_000);
  expect(limiter.take("ada")).toBe(0);
});
