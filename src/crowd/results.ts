import type { Json } from "../base/json.ts";
import { dateOf } from "../base/moment.ts";
import type { Snapshot } from "../kernel/types/snapshot.ts";
import type { JobData, SubmissionData, Verdict } from "./data.ts";

export type CrowdJobState =
  | "publishing"
  | "running"
  | "syncing"
  | "extending"
  | "closing"
  | "finished"
  | "incomplete"
  | "closed"
  | "failed"
  | "discarded";

/** A question to a crowd, and its progress. */
export interface CrowdJob {
  readonly id: string;
  readonly key: string | null;
  readonly crowd: string;
  readonly state: CrowdJobState;
  readonly content: Json;
  /** Its postings at the marketplace, by their ids there. */
  readonly postings: readonly { readonly id: string; readonly places: number }[];
  readonly approved: number;
  readonly rejected: number;
  readonly labels: readonly Json[];
  readonly consensus: Json | null;
  readonly agreement: number | null;
  /** Why it ended with fewer submissions than requested, or why it failed. */
  readonly reason: string | null;
  readonly movedAt: Date;
  readonly closedAt: Date | null;
}

export type SubmissionState =
  | "submitted"
  | "pending_approval"
  | "errored"
  | "approving"
  | "rejecting"
  | "approved"
  | "rejected"
  | "failed"
  | "discarded";

/**
 * The states of a submission's lifecycle that are reported as `rejected`: it waits there in case a person overrides the
 * rejection at the marketplace, is checked once more, and ends.
 */
export const rejectedStates: readonly string[] = ["rejected", "confirming_rejection", "rejection_final"];

export function submissionStateOf(state: string): SubmissionState {
  return rejectedStates.includes(state) ? "rejected" : (state as SubmissionState);
}

/** What one worker of a marketplace has submitted. */
export interface CrowdSubmission {
  readonly id: string;
  readonly crowd: string;
  /** The crowd job, by its id in Pawl. */
  readonly jobId: string;
  /** The submission, its posting and its worker, by their ids at the marketplace. */
  readonly submission: string;
  readonly posting: string;
  readonly worker: string;
  readonly state: SubmissionState;
  readonly label: Json | null;
  /** The worker's input, unchanged. */
  readonly answer: Json;
  readonly feedback: string | null;
  /** The marketplace decided before Pawl did. */
  readonly auto: boolean;
  /**
   * Pawl's own verdict, if the marketplace decided otherwise. A submission that Pawl rejected is paid if it was
   * approved there, and its label does not count.
   */
  readonly conflict: { readonly wanted: Verdict; readonly found: Verdict } | null;
  /** Why a person has to decide. */
  readonly problem: string | null;
  readonly submittedAt: Date;
  readonly movedAt: Date;
}

/** The reason of a failed submission, which is not part of its own data. */
function failureText({ failure }: Snapshot): string | null {
  return failure === null ? null : (failure.error?.message ?? failure.reason);
}

export function jobShown(snapshot: Snapshot): CrowdJob {
  const { model, movedAtMs, closedAtMs } = snapshot;
  const data = model.data as JobData;
  const { crowd, content, approved, rejected, labels, consensus, agreement, reason } = data;
  return {
    id: model.id,
    key: model.key,
    crowd,
    state: model.state as CrowdJobState,
    content,
    postings: data.remotes,
    approved,
    rejected,
    labels,
    consensus,
    agreement,
    reason: reason ?? failureText(snapshot),
    movedAt: new Date(movedAtMs),
    closedAt: dateOf(closedAtMs),
  };
}

export function submissionShown(snapshot: Snapshot): CrowdSubmission {
  const { model, movedAtMs } = snapshot;
  const data = model.data as SubmissionData;
  const { crowd, submission, worker, label, answer, feedback, auto, conflict, problem, submittedAt } = data;
  return {
    id: model.id,
    crowd,
    jobId: model.parent!.id,
    submission,
    posting: data.job,
    worker,
    state: submissionStateOf(model.state),
    label,
    answer,
    feedback,
    auto,
    conflict,
    problem: problem ?? failureText(snapshot),
    submittedAt: new Date(submittedAt),
    movedAt: new Date(movedAtMs),
  };
}
