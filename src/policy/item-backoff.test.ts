import { expect, test } from "vitest";
import { ItemBackoff } from "./item-backoff.ts";

const minute = 60_000;

test("an item rests longer after each failure, for an hour at most, and not once it has succeeded", () => {
  const backoff = new ItemBackoff();
  let nowMs = 0;
  for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
    backoff.failed("a", nowMs);
    expect(backoff.resting(nowMs + minutes * minute - 1)).toEqual(["a"]);
    nowMs += minutes * minute;
    expect(backoff.resting(nowMs)).toEqual([]);
  }
  backoff.failed("a", nowMs);
  backoff.succeeded("a");
  expect(backoff.resting(nowMs)).toEqual([]);
});

test("an item that did not fail for long begins again with a short pause, and only so many are remembered", () => {
  const backoff = new ItemBackoff();
  for (let times = 0; times < 10; times++) backoff.failed("a", 0);
  expect(backoff.resting(181 * minute)).toEqual([]);
  backoff.failed("a", 181 * minute);
  expect(backoff.resting(182 * minute)).toEqual([]);
  for (let number = 0; number < 20_000; number++) backoff.failed(`${number}`, 0);
  expect(backoff.resting(0)).toHaveLength(10_000);
});
