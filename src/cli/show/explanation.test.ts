import picocolors from "picocolors";
import { expect, test } from "vitest";
import type { ExplanationResponse } from "../../http/contract.ts";
import { printExplanation } from "./explanation.ts";
import type { Terminal } from "./terminal.ts";

const at = "2030-01-01T12:00:00.000Z";

const explained: ExplanationResponse = {
  id: "01890000-0000-7000-8000-000000000001",
  key: "r1",
  lifecycle: "report",
  state: "writing",
  outcome: null,
  since: "2030-01-01T11:57:30.000Z",
  at,
  waitingFor: [
    {
      kind: "step",
      status: "ready",
      lane: "report@1/writing",
      attempt: 1,
      maxAttempts: 4,
      error: null,
      notClaimed: { reason: "no_worker" },
      since: "2030-01-01T11:57:30.000Z",
      until: null,
      by: "worker",
      sentence: "Its step is ready in lane `report@1/writing`: no live worker serves this lane.",
    },
    {
      kind: "timer",
      timer: "deadline",
      event: "fail",
      since: "2030-01-01T11:57:30.000Z",
      until: "2030-01-03T13:00:00.000Z",
      by: "clock",
      sentence: "At 2030-01-03 13:00:00 UTC its deadline sends `fail`.",
    },
  ],
  next: { kind: "timer", at: "2030-01-03T13:00:00.000Z", sentence: "The deadline sends `fail`." },
  idle: null,
  stuck: {
    reason: "no_worker",
    since: "2030-01-01T11:57:30.000Z",
    sentence: "No live worker serves its lane.",
    remedy: "Start a worker that serves this lane.",
  },
  recovery: null,
  sentences: [],
};

function printed(one: ExplanationResponse, { columns = 80, colours = false } = {}): string {
  const lines: string[] = [];
  const print = (text: string) => void lines.push(text);
  const terminal = { columns, paint: picocolors.createColors(colours), print } as unknown as Terminal;
  printExplanation(terminal, one);
  return lines.join("\n");
}

test("a person reads the state, why it is stuck and what to do, each wait with its times, and what happens next", () => {
  expect(printed(explained)).toBe(`
  report r1   writing for 2m 30s
  01890000-0000-7000-8000-000000000001

  ▲ stuck           For 2m 30s: no live worker serves its lane.
                    Start a worker that serves this lane.

  waits for
  step              Its step is ready in lane report@1/writing: no live
                    worker serves this lane.
                    for 2m 30s
  deadline          At 2030-01-03 13:00:00 UTC its deadline sends fail.
                    for 2m 30s, due in 2d 1h

  next              In 2d 1h: the deadline sends fail.
`);
});

test("being stuck is in colour, and what it waits for cannot steer the terminal", () => {
  const [step] = explained.waitingFor;
  const text = printed(
    { ...explained, waitingFor: [{ ...step!, sentence: "It is \u001b[31mred." }] },
    { colours: true },
  );
  expect(text).toContain("\u001b[31m▲ stuck\u001b[39m");
  expect(text).toContain("It is \\u001b[31mred.");
});

test("an instance that has ended waits for nothing", () => {
  const ended: ExplanationResponse = {
    ...explained,
    outcome: "success",
    state: "done",
    waitingFor: [],
    next: null,
    stuck: null,
  };
  expect(printed(ended)).toBe(`
  report r1   done 2m 30s ago
  01890000-0000-7000-8000-000000000001

  waits for         Nothing.
`);
});

test("what has to happen first is shown where nothing happens by itself, and no lease is shown as due", () => {
  const [step] = explained.waitingFor;
  const running = {
    ...(step as Extract<typeof step, { kind: "step" }>),
    status: "running",
    worker: "w",
    leaseUntil: at,
    until: at,
    progress: null,
  } as const;
  const idle = "Nothing happens by itself until lane `report@1/writing` is resumed.";
  const text = printed({ ...explained, stuck: null, next: null, idle, waitingFor: [running] });
  expect(text).toContain("next              Nothing happens by itself until lane");
  expect(text).toContain("for 2m 30s\n");
  expect(text).not.toContain("due");
});
