import picocolors from "picocolors";
import { expect, test } from "vitest";
import type { CrowdJobResponse, CrowdResponse, SubmissionResponse } from "../../http/contract.ts";
import { crowdColumns, printJob, submissionColumns } from "./crowd.ts";
import type { Column, Terminal } from "./terminal.ts";

const paint = picocolors.createColors(false);

function shown<Row>(columns: readonly Column<Row>[], title: string, row: Row): string {
  const column = columns.find((one) => one.title === title)!;
  return column.shown?.(row, paint) ?? column.text(row);
}

test("what waits for a person comes first, and what has ended last", () => {
  const row: CrowdResponse = {
    name: "receipts",
    marketplace: "mturk",
    title: "Mechanical Turk",
    paysBonuses: true,
    sandbox: true,
    jobs: { finished: 4, running: 2, failed: 1 },
    submissions: {},
  };
  expect(shown(crowdColumns, "jobs", row)).toBe("failed 1 · running 2 · finished 4");
  expect(shown(crowdColumns, "submissions", row)).toBe("none yet");
});

test("a job is shown with what is asked, where, and why it fell short", () => {
  const lines: string[] = [];
  const terminal = { columns: 80, paint, print: (text: string) => void lines.push(text) } as unknown as Terminal;
  const job = {
    id: "01890000-0000-7000-8000-000000000001",
    key: "r-42",
    crowd: "receipts",
    state: "incomplete",
    content: { image: "a.png" },
    postings: [{ id: "HIT1", places: 1 }],
    approved: 0,
    rejected: 1,
    consensus: null,
    agreement: null,
    reason: "It has 0 of 1 approved submissions, and its time has expired.",
    movedAt: new Date().toISOString(),
  } as unknown as CrowdJobResponse;
  printJob(terminal, job);
  const text = lines.join("\n");
  expect(text).toContain("r-42  incomplete  receipts, moved now");
  expect(text).toContain('content    {"image":"a.png"}');
  expect(text).toContain("postings   HIT1 (1 place)");
  expect(text).toContain("reason     It has 0 of 1 approved submissions, and its time has expired.");
  expect(text).not.toContain("consensus");
});

test.each([
  [{ conflict: { wanted: "rejected", found: "approved" } }, "conflict: decided rejected, marketplace has approved"],
  [{ problem: "below nought", feedback: "…" }, "below nought"],
  [{ feedback: "Please look again." }, "Please look again."],
  [{ auto: true }, "decided on the marketplace before Pawl decided"],
])("of a submission, what matters most is noted: %j", (given, note) => {
  const row = { conflict: null, problem: null, feedback: null, auto: false, ...given } as SubmissionResponse;
  expect(shown(submissionColumns, "note", row)).toContain(note);
});
