import { expect, test } from "vitest";
import { writtenOf } from "./start-instances.ts";

const rows = ["a", "b", "c"].map((id) => ({ id }));

test("an answer without ids means all that were asked for, each with its token", () => {
  expect(writtenOf(rows, { many: 3, now_ms: 5, ids: null, granted: "{7,NULL,9}" })).toEqual([
    { id: "a", now_ms: 5, granted: 7 },
    { id: "b", now_ms: 5, granted: null },
    { id: "c", now_ms: 5, granted: 9 },
  ]);
  expect(writtenOf(rows, { many: 3, now_ms: 5, ids: null, granted: null }).map((one) => one.granted)).toEqual([
    null,
    null,
    null,
  ]);
});

test("where some were not written, tokens belong to those that were", () => {
  expect(writtenOf(rows, { many: 2, now_ms: 5, ids: "{a,c}", granted: "{7,9}" })).toEqual([
    { id: "a", now_ms: 5, granted: 7 },
    { id: "c", now_ms: 5, granted: 9 },
  ]);
  expect(writtenOf(rows, { many: 0, now_ms: 5, ids: null, granted: null })).toEqual([]);
});
