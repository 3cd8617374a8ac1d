import type { CrowdJobResponse, CrowdResponse, SubmissionResponse } from "../../http/contract.ts";
import { ago } from "./moments.ts";
import { type Column, type Paint, pad, type Terminal, visible } from "./terminal.ts";

export const crowdColumns: readonly Column<CrowdResponse>[] = [
  { title: "crowd", text: (one) => one.name, shown: (one, paint) => paint.bold(one.name) },
  { title: "marketplace", text: (one) => one.marketplace },
  { title: "jobs", text: (one) => counted(one.jobs), shown: (one, paint) => shownCounts(one.jobs, paint) },
  {
    title: "submissions",
    text: (one) => counted(one.submissions),
    shown: (one, paint) => shownCounts(one.submissions, paint),
  },
];

type Counts = Readonly<Record<string, number | undefined>>;

/** Counts by state, first those that wait for a person. */
function counted(counts: Counts): string {
  return inOrder(counts)
    .map((state) => `${state} ${counts[state]}`)
    .join(", ");
}

function shownCounts(counts: Counts, paint: Paint): string {
  const parts = inOrder(counts).map((state) => `${colouredState(state, paint)} ${counts[state]}`);
  return parts.join(paint.dim(" · ")) || paint.dim("none yet");
}

function inOrder(counts: Counts): string[] {
  const rank = (state: string) => Number(ended.has(state)) - Number(waitForPerson.has(state));
  return Object.keys(counts).sort((one, other) => rank(one) - rank(other));
}

const waitForPerson: ReadonlySet<string> = new Set(["pending_approval", "errored", "failed"]);
const ended: ReadonlySet<string> = new Set(["finished", "incomplete", "closed", "approved", "rejected", "discarded"]);

function colouredState(state: string, paint: Paint): string {
  if (state === "finished" || state === "approved") return paint.green(state);
  if (state === "incomplete" || state === "errored" || state === "failed") return paint.red(state);
  if (state === "pending_approval") return paint.yellow(state);
  return ended.has(state) ? paint.dim(state) : paint.cyan(state);
}

export const jobColumns: readonly Column<CrowdJobResponse>[] = [
  { title: "crowd", text: (one) => one.crowd, shown: (one, paint) => paint.bold(one.crowd) },
  { title: "key", text: (one) => one.key ?? "", shown: (one, paint) => visible(one.key ?? "") || paint.dim("–") },
  { title: "state", text: (one) => one.state, shown: (one, paint) => colouredState(one.state, paint) },
  { title: "places", text: (one) => String(placesOf(one)), alignRight: true },
  { title: "approved", text: (one) => String(one.approved), alignRight: true },
  { title: "rejected", text: (one) => String(one.rejected), alignRight: true },
  { title: "moved", text: (one) => one.movedAt, shown: (one) => ago(one.movedAt) },
  { title: "id", text: (one) => one.id, shown: (one, paint) => paint.dim(one.id) },
  { title: "outcome", text: cameTo, shown: (one) => clipped(cameTo(one)) },
];

function placesOf({ postings }: CrowdJobResponse): number {
  return postings.reduce((sum, { places }) => sum + places, 0);
}

function cameTo({ reason, consensus }: CrowdJobResponse): string {
  return reason ?? (consensus === null ? "" : JSON.stringify(consensus));
}

export const submissionColumns: readonly Column<SubmissionResponse>[] = [
  { title: "id", text: (one) => one.id, shown: (one, paint) => paint.dim(one.id) },
  { title: "crowd", text: (one) => one.crowd },
  { title: "worker", text: (one) => one.worker, shown: (one, paint) => paint.bold(visible(one.worker)) },
  { title: "state", text: (one) => one.state, shown: (one, paint) => colouredState(one.state, paint) },
  { title: "submitted", text: (one) => one.submittedAt, shown: (one) => ago(one.submittedAt) },
  { title: "answer", text: answerOf, shown: (one) => clipped(answerOf(one)) },
  { title: "note", text: noteOf, shown: (one) => clipped(noteOf(one)) },
];

function answerOf({ label, answer }: SubmissionResponse): string {
  return JSON.stringify(label ?? answer);
}

/** The most important line for a person. */
function noteOf({ conflict, problem, feedback, auto }: SubmissionResponse): string {
  if (conflict !== null) return `conflict: decided ${conflict.wanted}, marketplace has ${conflict.found}`;
  return problem ?? feedback ?? (auto ? "decided on the marketplace before Pawl decided" : "");
}

const longest = 60;

function clipped(text: string): string {
  const shown = visible(text);
  return shown.length > longest ? `${shown.slice(0, longest - 1)}…` : shown;
}

/** A job for a person: its question, its marketplace, and its results. */
export function printJob(terminal: Terminal, one: CrowdJobResponse): void {
  const { bold, dim } = terminal.paint;
  terminal.print(
    `\n  ${bold(visible(one.key ?? one.id))}  ${colouredState(one.state, terminal.paint)}  ${dim(`${one.crowd}, moved ${ago(one.movedAt)}`)}\n`,
  );
  const postings = one.postings.map(({ id, places }) => `${id} (${places} ${places === 1 ? "place" : "places"})`);
  const lines: [title: string, text: string][] = [
    ["id", one.id],
    ["content", JSON.stringify(one.content)],
    ["postings", postings.join(", ") || "none yet"],
    ["decided", `${one.approved} approved, ${one.rejected} rejected`],
    ["consensus", one.consensus === null ? "" : JSON.stringify(one.consensus)],
    ["agreement", one.agreement === null ? "" : one.agreement.toFixed(2)],
    ["reason", one.reason ?? ""],
  ];
  for (const [title, text] of lines) if (text !== "") terminal.print(`  ${dim(pad(title, 9))}  ${visible(text)}`);
  terminal.print("");
}
