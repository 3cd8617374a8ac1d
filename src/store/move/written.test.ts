import { expect, test } from "vitest";
import { writtenOf } from "./written.ts";

const rows = ["a", "b", "c"].map((id) => ({ id }));

test("an answer without ids means that all were written", () => {
  expect(writtenOf(rows, { many: 3, now_ms: 5, ids: null })).toEqual(rows.map(({ id }) => ({ id, now_ms: 5 })));
});

test("an answer with ids names those that were written", () => {
  expect(writtenOf(rows, { many: 2, now_ms: 5, ids: "{a,c}" })).toEqual([
    { id: "a", now_ms: 5 },
    { id: "c", now_ms: 5 },
  ]);
  expect(writtenOf(rows, { many: 0, now_ms: 5, ids: null })).toEqual([]);
});
