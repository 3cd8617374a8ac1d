import { describe, expect, test } from "vitest";
import type { AttemptResponse, MoveResponse } from "../../../../src/http/contract.ts";
import { errorIn, only, pathOf, visitsOf } from "./history.ts";

function move(version: number, from: string | null, to: string, more: Partial<MoveResponse> = {}): MoveResponse {
  const at = `2026-01-31T12:00:0${version}.000Z`;
  const common = { actor: null, reason: null, payload: null, patch: null, cleared: null, definition: 1 };
  return { kind: "move", version, event: `to_${to}`, from, to, at, source: "call", ...common, ...more };
}

function attempt(what: AttemptResponse["what"]): AttemptResponse {
  return {
    kind: "attempt",
    what,
    at: "2026-01-31T12:00:01.500Z",
    lane: null,
    attempt: 1,
    worker: null,
    detail: null,
    endedAt: null,
    outcome: null,
  };
}

const journal = [
  move(1, null, "reading", { patch: { text: "a", draft: 1 } }),
  attempt("claimed"),
  attempt("failed"),
  move(2, "reading", "reading", { patch: { text: "b" } }),
  move(3, "reading", "failed", { cleared: ["draft"], event: "fail" }),
];

describe("a journal by visits", () => {
  test("has the newest first, with all that happened in each until it was left", () => {
    expect(visitsOf(journal)).toMatchObject([
      { state: "failed", from: journal[4]!.at, to: null, entries: [{ said: { version: 3 } }] },
      {
        state: "reading",
        from: journal[0]!.at,
        to: journal[4]!.at,
        entries: [{ said: { version: 2 } }, { said: { what: "failed" } }, { said: { what: "claimed" } }, {}],
      },
    ]);
  });

  test("tells what each move changed, and what was there before", () => {
    const [failed, reading] = visitsOf(journal);
    expect(failed!.entries[0]!.changes).toEqual([{ key: "draft", before: 1, after: undefined }]);
    expect(reading!.entries[0]!.changes).toEqual([{ key: "text", before: "a", after: "b" }]);
  });

  test("can be read for its failures alone", () => {
    expect(only(visitsOf(journal), "failures").map(({ entries }) => entries.length)).toEqual([1, 1]);
    expect(only(visitsOf(journal), "attempts")).toMatchObject([{ state: "reading", entries: [{}, {}] }]);
  });
});

test("the path walked is known by its states and ways", () => {
  expect(pathOf(journal, "failed")).toEqual({
    states: new Set(["reading", "failed"]),
    ways: new Set([" reading", "reading reading", "reading failed"]),
    at: "failed",
  });
});

test("an error is found where one is carried, and nowhere else", () => {
  expect(errorIn({ error: { name: "TypeError", message: "no", stack: "at x" } })).toMatchObject({ message: "no" });
  expect([null, "text", {}, { error: "x" }].map(errorIn)).toEqual([undefined, undefined, undefined, undefined]);
});
