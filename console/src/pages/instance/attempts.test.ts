import { expect, test } from "vitest";
import type { JournalResponse } from "../../../../src/http/contract.ts";
import { attemptsOf, waterfallOf } from "./attempts.ts";

const at = (second: number) => `2026-01-31T12:00:${String(second).padStart(2, "0")}.000Z`;
const entry = (what: string, attempt: number, second: number, more: object = {}) =>
  ({
    kind: "attempt",
    what,
    at: at(second),
    lane: "a/b",
    attempt,
    worker: "w1",
    detail: null,
    endedAt: null,
    outcome: null,
    ...more,
  }) as JournalResponse;

const journal = [
  { kind: "move", version: 1, event: "start", from: null, to: "b", at: at(0) } as JournalResponse,
  entry("claimed", 1, 1, { endedAt: at(3), outcome: "failed" }),
  entry("failed", 1, 3, { detail: { error: { name: "Error", message: "no" } } }),
  entry("claimed", 2, 5),
];

test("an attempt has its worker, its start and end, its outcome and its error", () => {
  expect(attemptsOf(journal)).toEqual([
    {
      number: 2,
      lane: "a/b",
      worker: "w1",
      at: at(5),
      endedAt: null,
      outcome: null,
      isFailure: false,
      error: undefined,
    },
    {
      number: 1,
      lane: "a/b",
      worker: "w1",
      at: at(1),
      endedAt: at(3),
      outcome: "failed",
      isFailure: true,
      error: { name: "Error", message: "no" },
    },
  ]);
});

test("visits and attempts lie on one line of time, those that last up to now", () => {
  const spans = waterfallOf(
    [{ state: "b", from: at(0), to: null }],
    attemptsOf(journal).toReversed(),
    Date.parse(at(10)),
  );
  expect(spans).toEqual([
    { name: "b", kind: "visit", left: 0, width: 100, lengthMs: 10_000 },
    { name: "attempt 1", kind: "failure", left: 10, width: 20, lengthMs: 2_000 },
    { name: "attempt 2", kind: "attempt", left: 50, width: 50, lengthMs: 5_000 },
  ]);
});
