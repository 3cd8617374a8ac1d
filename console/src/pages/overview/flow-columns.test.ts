import { expect, test } from "vitest";
import { columnsOf } from "./flow-columns.ts";

const sample = (second: number, done: number) => ({
  at: new Date(second * 1_000).toISOString(),
  started: 3,
  done,
  failed: 1,
});

test("failed is on top of done", () => {
  expect(columnsOf([sample(5, 4), sample(10, 6)])).toEqual([
    [5, 10],
    [5, 7],
    [4, 6],
    [3, 3],
  ]);
});

test("a time without samples is a gap, which no line crosses", () => {
  expect(columnsOf([sample(5, 4), sample(10, 6), sample(300, 2)])).toEqual([
    [5, 10, 10.001, 300],
    [5, 7, null, 3],
    [4, 6, null, 2],
    [3, 3, null, 3],
  ]);
});
