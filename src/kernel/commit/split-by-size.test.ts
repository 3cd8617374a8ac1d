import fc from "fast-check";
import { expect, test } from "vitest";
import { splitBySize } from "./split-by-size.ts";

test("a list is cut where its parts would grow too large, and nothing is lost or out of order", () => {
  expect(splitBySize([4, 4, 4, 1, 20, 3], (size) => size, 10)).toEqual([[4, 4], [4, 1], [20], [3]]);
  expect(splitBySize([], (size: number) => size, 10)).toEqual([]);
  fc.assert(
    fc.property(fc.array(fc.nat(20)), (sizes) => {
      const parts = splitBySize(sizes, (size) => size, 10);
      expect(parts.flat()).toEqual(sizes);
      for (const part of parts) {
        const sum = part.reduce((total, size) => total + size, 0);
        expect(part.length === 1 || sum <= 10).toBe(true);
        expect(part).not.toEqual([]);
      }
    }),
  );
});
