import picocolors from "picocolors";
import { expect, test } from "vitest";
import type { CallbackResponse, ChildrenResponse, InstanceResponse } from "../../http/contract.ts";
import { printInstance } from "./instance.ts";
import type { Terminal } from "./terminal.ts";

const paint = picocolors.createColors(false);

function printed(one: Partial<InstanceResponse>, children?: ChildrenResponse, late: CallbackResponse[] = []): string {
  const lines: string[] = [];
  const terminal = { isTty: true, columns: 80, paint, print: (text: string) => void lines.push(text) };
  const at = new Date().toISOString();
  const instance: InstanceResponse = {
    id: "01890000-0000-7000-8000-000000000001",
    key: "a-1",
    lifecycle: "attempt",
    definition: 1,
    state: "solving",
    version: 1,
    data: {},
    outcome: null,
    createdAt: at,
    movedAt: at,
    closedAt: null,
    deadlineAt: null,
    timedOutAt: null,
    failure: null,
    parent: null,
    ...one,
  };
  const start = {
    kind: "move" as const,
    version: 1,
    event: "start",
    from: null,
    to: "solving",
    at,
    source: "call" as const,
    definition: 1,
    actor: null,
    reason: null,
    payload: null,
    patch: null,
    cleared: null,
  };
  printInstance(terminal as unknown as Terminal, instance, { history: [start], late, ...(children && { children }) });
  return lines.join("\n");
}

test("an instance shows whose child it is, how far its step is, and its own children with their counts", () => {
  const text = printed(
    {
      parent: { lifecycle: "exam", id: "01890000-0000-7000-8000-000000000000" },
      progress: { fraction: 0.4, note: "page 12 of 30\u001b[31m", at: new Date().toISOString() },
    },
    {
      total: 40,
      open: 37,
      succeeded: 1,
      failed: 2,
      discarded: 0,
      first: [
        { id: "c1", lifecycle: "solve", key: "q1", state: "failed", outcome: "failure", data: {} },
        { id: "c2", lifecycle: "solve", key: null, state: "checking", outcome: null, data: {} },
      ],
    },
  );
  expect(text).toContain("a child of exam 01890000-0000-7000-8000-000000000000");
  expect(text).toMatch(/████████░{12} 40 % {2}page 12 of 30\S* {2}now/);
  expect(text).not.toContain("\u001b");
  expect(text).toContain("children   40: 37 open, 1 succeeded, 2 failed");
  expect(text).toMatch(/solve q1 {2}failed\n {4}solve c2 {2}checking\n {4}and 38 more/);
});

test("R77 a late result is shown in a banner, to be seen and not in force", () => {
  const at = new Date().toISOString();
  const callback: CallbackResponse = {
    id: "01890000-0000-7000-8000-000000000002",
    lifecycle: "attempt",
    instance: "01890000-0000-7000-8000-000000000001",
    key: "a-1",
    event: "graded",
    dedupeKey: "r1",
    source: "token",
    actor: null,
    payload: { score: 7 },
    error: null,
    receivedAt: at,
    late: true,
    status: "kept",
    reason: null,
    version: null,
    settledAt: at,
  };
  const timedOut = { state: "failed", deadlineAt: at, timedOutAt: at };
  const text = printed(timedOut, undefined, [callback]);
  expect(text).toContain("timed out");
  expect(text).toMatch(/▲ late result {2}graded {"score":7} {2}now\n {4}not applied/);
  expect(text).toContain(`pawl callbacks accept ${callback.id}`);
  const decided = printed({}, undefined, [
    { ...callback, status: "accepted" },
    { ...callback, error: { name: "Error", message: "overloaded" } },
  ]);
  expect(decided).not.toContain("pawl callbacks accept");
  expect(decided).toContain("▲ late error");
});

test("without children, parent and progress nothing is said of them", () => {
  expect(printed({})).not.toMatch(/child|%/);
});
