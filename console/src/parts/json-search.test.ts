import { expect, test } from "vitest";
import { searchJson } from "./json-search.ts";

const value = {
  rows: [
    { name: "Ada", ok: true },
    { name: "ben", ok: null },
  ],
  empty: {},
  total: 12,
};

test("values are found by their text and by their path", () => {
  expect(searchJson(value, " ada", 10)).toEqual({ found: [{ path: "rows.0.name", value: "Ada" }], more: false });
  expect(searchJson(value, "rows.1", 10).found).toEqual([
    { path: "rows.1.name", value: "ben" },
    { path: "rows.1.ok", value: null },
  ]);
  expect(searchJson(value, "12", 10).found).toEqual([{ path: "total", value: 12 }]);
  expect(searchJson(value, "nothing", 10)).toEqual({ found: [], more: false });
});

test("a search ends after the most that is shown", () => {
  const many = Array.from({ length: 5_000 }, (_, at) => `x${at}`);
  expect(searchJson(many, "x", 100)).toMatchObject({ more: true, found: { length: 100 } });
});
