import picocolors from "picocolors";
import { expect, test } from "vitest";
import type { ChildrenAnswer, InstanceAnswer } from "./answers.ts";
import { printInstance } from "./show-instance.ts";
import type { Terminal } from "./terminal.ts";

const paint = picocolors.createColors(false);

function printed(one: Partial<InstanceAnswer>, children?: ChildrenAnswer): string {
  const lines: string[] = [];
  const terminal = { isTty: true, columns: 80, paint, print: (text: string) => void lines.push(text) };
  const at = new Date().toISOString();
  const instance: InstanceAnswer = {
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
    source: "call",
    actor: null,
    reason: null,
    payload: null,
    patch: null,
    cleared: null,
  };
  printInstance(terminal as unknown as Terminal, instance, { history: [start], ...(children && { children }) });
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
        { id: "c1", lifecycle: "solve", key: "q1", state: "failed", outcome: "failure" },
        { id: "c2", lifecycle: "solve", key: null, state: "checking", outcome: null },
      ],
    },
  );
  expect(text).toContain("a child of exam 01890000-0000-7000-8000-000000000000");
  expect(text).toMatch(/████████░{12} 40 % {2}page 12 of 30\S* {2}now/);
  expect(text).not.toContain("\u001b");
  expect(text).toContain("children   40: 37 open, 1 succeeded, 2 failed");
  expect(text).toMatch(/solve q1 {2}failed\n {4}solve c2 {2}checking\n {4}and 38 more/);
});

test("without children, parent and progress nothing is said of them", () => {
  expect(printed({})).not.toMatch(/child|%/);
});
