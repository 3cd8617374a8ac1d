import { expect, test } from "vitest";
import { compareLabels } from "./label-comparison.ts";

const label = (value: unknown, counts = true) => ({ value, counts });

test("labels are compared field by field, also those within others", () => {
  expect(
    compareLabels([label({ animal: "cat", where: { x: 1 } }), label({ animal: "dog", where: { x: 1 }, sure: true })]),
  ).toEqual([
    { name: "animal", values: ["cat", "dog"], differs: true },
    { name: "where.x", values: ["1", "1"], differs: false },
    { name: "sure", values: ["", "true"], differs: true },
  ]);
  expect(compareLabels([label("a"), label("a")])).toEqual([{ name: "Label", values: ["a", "a"], differs: false }]);
  expect(compareLabels([label([1, 2]), label([2, 1])])[0]).toMatchObject({ values: ["[1,2]", "[2,1]"], differs: true });
});

test("a rejected label is shown, and makes no difference", () => {
  expect(compareLabels([label({ a: 1 }), label({ a: 2 }, false), label({ a: 1 })])).toEqual([
    { name: "a", values: ["1", "2", "1"], differs: false },
  ]);
});
