import { broken } from "../../base/errors.ts";
import type { Json } from "../../base/json.ts";
import type { Child, Step } from "../../definition/language/step.ts";
import { conclude } from "../../people/review/conclude.ts";
import type { CrowdLifecycles, Submission } from "../crowd-lifecycles.ts";
import type { Ended, JobData, Remote, SubmissionData, Wanted } from "../data.ts";
import { type NextAction, nextActionOf } from "../job/progress.ts";
import type { RemoteJob, RemoteSubmission } from "../marketplace.ts";
import { rejectedStates } from "../results.ts";
import { placesOf } from "./extend.ts";

type Outcomes = { wait: undefined; extend: Wanted; finish: Ended; fall_short: Ended; closed: Ended };
type SyncStep = Step<JobData, Outcomes>;
type Known = ReadonlyMap<string, Child<Submission>>;

/** The most that an ended job carries of its labels; they all stay with its submissions. */
const maxText = 512 * 1024;

/**
 * Syncs a job with the marketplace: starts an instance for each new submission, whatever its state there, sends
 * decisions to existing ones, and decides how the job continues. Repeating it starts no submission twice.
 */
export function syncJob(family: CrowdLifecycles) {
  return async (step: SyncStep) => {
    const { remotes, submissions } = await readJob(family, step);
    const children = await step.children(family.submission);
    const known: Known = new Map(children.map((child) => [child.key!, child]));
    for (const one of submissions) startOrUpdate(family, step, one, known.get(one.id));
    step.set({ remotes: remotes.map(({ id, places }) => ({ id, places })), ...countsOf(children) });
    const progress = nextActionOf(jobCountsOf(family, step, { remotes, submissions, children }));
    return outcomeOf(family, step, progress, children);
  };
}

interface JobRead {
  /** With all that is known of them, if they are still there. */
  readonly remotes: readonly (Remote & Partial<RemoteJob>)[];
  readonly submissions: readonly RemoteSubmission[];
}

async function readJob({ marketplace }: CrowdLifecycles, step: SyncStep): Promise<JobRead> {
  const remotes: (Remote & Partial<RemoteJob>)[] = [];
  const submissions: RemoteSubmission[] = [];
  for (const remote of step.data.remotes) {
    const job = await marketplace.job(remote.id, step);
    remotes.push(job ?? remote);
    if (job !== undefined) submissions.push(...(await marketplace.submissions(remote.id, step)));
  }
  return { remotes, submissions };
}

function startOrUpdate(
  { submission }: CrowdLifecycles,
  step: SyncStep,
  one: RemoteSubmission,
  known: Child<Submission> | undefined,
): void {
  if (known === undefined) {
    const { crowd, content } = step.data;
    step.start(submission, { key: one.id, data: arrived(one, crowd, content) });
  } else if (one.status !== "submitted" && waitsForDecision.has(known.state)) {
    step.send(submission, known, "decided", { verdict: one.status });
  } else if (one.status === "approved" && known.state === "rejected") {
    step.send(submission, known, "overridden");
  }
}

/** States in which a submission waits for an event; in all others it reads the marketplace itself. */
const waitsForDecision: ReadonlySet<string> = new Set(["pending_approval", "errored", "failed"]);

function arrived(one: RemoteSubmission, crowd: string, content: Json): SubmissionData {
  const { id, job, worker, answer } = one;
  const there = one.status === "submitted" ? null : one.status;
  const fresh = { label: null, feedback: null, there, auto: false, conflict: null, problem: null };
  return { crowd, content, submission: id, job, worker, answer, submittedAt: one.submittedAt.toISOString(), ...fresh };
}

function jobCountsOf(
  { crowd, marketplace }: CrowdLifecycles,
  step: SyncStep,
  { remotes, submissions, children }: JobRead & { readonly children: readonly Child<Submission>[] },
) {
  const { approved, rejected } = countsOf(children);
  const refused = children.filter(isRefusedHere).length;
  const fresh = submissions.filter((one) => !children.some((child) => child.key === one.id)).length;
  const { extensions, closing } = step.data;
  return {
    wanted: crowd.submissions,
    approved,
    rejected,
    refused,
    undecided: children.length - approved - rejected - refused + fresh,
    places: placesOf(remotes),
    submitted: children.length + fresh,
    settled: remotes.every(({ open = false, pending = 0 }) => !open && pending === 0),
    gone: remotes.some(({ open }) => open === undefined),
    rejectionReopens: marketplace.can.rejectionReopens,
    maxPlaces: crowd.maxPlaces,
    mayProlong: crowd.whenExpired === "extend" && extensions < crowd.maxExtensions,
    closing,
  };
}

function countsOf(children: readonly Child<Submission>[]): { approved: number; rejected: number } {
  return {
    approved: children.filter((child) => child.state === "approved" && !isRefusedHere(child)).length,
    rejected: children.filter(({ state }) => state === "discarded" || rejectedStates.includes(state)).length,
  };
}

/** The marketplace approved it although Pawl rejected it: it is paid, and its label does not count. */
function isRefusedHere({ state, data }: Child<Submission>): boolean {
  return state === "approved" && data.conflict?.wanted === "rejected";
}

function outcomeOf(
  family: CrowdLifecycles,
  step: SyncStep,
  progress: NextAction,
  children: readonly Child<Submission>[],
) {
  switch (progress.kind) {
    case "wait":
      return step.go("wait");
    case "widen":
      return step.go("extend", { places: progress.places });
    case "prolong":
      return step.go("extend", { places: null });
    case "close":
      return step.go("closed", endedOf(family, children, "It was closed."));
    case "fall_short":
      return step.go("fall_short", endedOf(family, children, progress.reason));
    case "finish": {
      const ended = endedOf(family, children, null);
      return ended.reason === null ? step.go("finish", ended) : step.go("fall_short", ended);
    }
    default:
      throw broken(`A crowd job has no progress "${(progress as NextAction).kind}".`);
  }
}

function endedOf({ crowd }: CrowdLifecycles, children: readonly Child<Submission>[], reason: string | null): Ended {
  const approved = children.filter((child) => child.state === "approved" && !isRefusedHere(child));
  // A submission that a person approved although it does not match its schema is paid, and has no label.
  const labels = approved.map(({ data }) => data.label).filter((label) => label !== null);
  const { consensus, agreement } = conclude(labels, crowd.form);
  const included = JSON.stringify(labels).length > maxText ? [] : labels;
  const why = reason ?? (consensus === undefined ? whyNone(labels) : null);
  return { labels: included, consensus: consensus ?? null, agreement, ...countsOf(children), reason: why };
}

function whyNone(labels: readonly Json[]): string {
  return labels.length === 0 ? "No approved submission fits the form." : "The labels tie.";
}
