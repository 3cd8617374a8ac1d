import { expect, test } from "vitest";
import type { AssignmentResponse } from "../../../src/http/contract.ts";
import { Refused } from "../api.ts";
import type { DeskApi } from "./api.ts";
import { NextAssignment } from "./next-assignment.ts";

const assignment = (id: string, status: string) => ({ id, status, revisionOf: null }) as unknown as AssignmentResponse;
const sample = { id: "s", key: "k", data: "text" };

/** A server with these answers, and the requests that it received. */
function asked(answers: Readonly<Record<string, unknown>>) {
  const calls: string[] = [];
  const answer = (verb: string) => (id: string) => {
    calls.push(`${verb} ${id}`);
    const given = answers[verb];
    return given instanceof Error ? Promise.reject(given) : Promise.resolve(given);
  };
  const api = { work: answer("work"), next: answer("next"), start: answer("start") } as unknown as DeskApi;
  return { finding: new NextAssignment(api, "q"), calls };
}

test("what lies on the desk comes first, with its draft, and is not begun twice", async () => {
  const work = { assignment: assignment("a", "in_progress"), sample, draft: { value: 1, at: "" }, revises: null };
  const { finding, calls } = asked({ work });
  expect(await finding.find([assignment("a", "in_progress"), assignment("b", "pending")])).toEqual(work);
  expect(calls).toEqual(["work a"]);
});

test("what the page is done with is passed over, however old its knowledge of the desk is", async () => {
  const next = { assignment: assignment("b", "pending"), sample, resumed: false };
  const { finding, calls } = asked({ next, start: assignment("b", "in_progress") });
  finding.end("a");
  expect(await finding.find([assignment("a", "in_progress")])).toMatchObject({
    assignment: { id: "b", status: "in_progress" },
    draft: null,
  });
  expect(calls).toEqual(["next q", "start b"]);
});

test("one more is fetched ahead once, where the queue lets two be in hand, and begun when its turn comes", async () => {
  const next = { assignment: assignment("b", "pending"), sample, resumed: false };
  const { finding, calls } = asked({ next, start: assignment("b", "in_progress") });
  finding.fetchAhead("a", 1);
  expect(calls).toEqual([]);
  finding.fetchAhead("a", 2);
  finding.fetchAhead("a", 2);
  expect(await finding.find([assignment("a", "in_progress")])).toMatchObject({ assignment: { id: "b" } });
  expect(calls).toEqual(["next q", "start b"]);
});

test("what is in hand already is not taken for something fetched ahead", async () => {
  const work = { assignment: assignment("a", "in_progress"), sample, draft: null, revises: null };
  const { finding, calls } = asked({ next: { ...work, resumed: true }, work });
  finding.fetchAhead("a", 2);
  await finding.find([assignment("a", "in_progress")]);
  expect(calls).toEqual(["next q", "work a"]);
});

test("where there is nothing, the reason is told; what expired before it was begun is nothing", async () => {
  const why = { sentence: "No sample waits." };
  expect(await asked({ next: { assignment: null, why } }).finding.find([])).toEqual({ why: "No sample waits." });

  const problem = { type: "about:blank", title: "Conflict", status: 409, code: "invalid_transition" } as const;
  const next = { assignment: assignment("b", "pending"), sample, resumed: false };
  const late = asked({ next, start: new Refused(problem) });
  expect(await late.finding.find([])).toBeUndefined();
  const broken = asked({ next, start: new Refused({ ...problem, status: 503 }) });
  await expect(broken.finding.find([])).rejects.toThrow("Conflict");
});
