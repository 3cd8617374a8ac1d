import { expect, test } from "vitest";
import { short } from "./drawing.ts";

test("counts are as short as they can be told apart", () => {
  expect([0, 7, 940, 1_000, 1_290, 38_499, 999_999, 4_190_000].map(short)).toEqual([
    "0",
    "7",
    "940",
    "1k",
    "1.2k",
    "38k",
    "999k",
    "4.1M",
  ]);
});
