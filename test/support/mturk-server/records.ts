import { createHash } from "node:crypto";

type AssignmentStatus = "Accepted" | "Submitted" | "Approved" | "Rejected";

/** One worker's assignment of a HIT; those returned or abandoned are deleted. */
export interface AssignmentRecord {
  readonly id: string;
  readonly hit: HitRecord;
  readonly worker: string;
  readonly acceptedAt: number;
  readonly deadline: number;
  status: AssignmentStatus;
  answer: string;
  submittedAt: number;
  /** Until then it can be listed, and not decided. */
  visibleAt: number;
  autoApprovedAt: number;
  decidedAt: number;
  feedback: string | undefined;
}

export interface HitRecord {
  readonly id: string;
  readonly type: string;
  /** As it was requested. */
  readonly terms: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  /** The number of places at its creation: it limits how many it may ever have. */
  readonly placesAtFirst: number;
  readonly assignments: AssignmentRecord[];
  readonly requiredNone: readonly string[];
  places: number;
  expiresAt: number;
  disposed: boolean;
}

function pendingOf(hit: HitRecord): number {
  return hit.assignments.filter(({ status }) => status === "Accepted").length;
}

/** How many could still begin, if there is time. */
export function availableOf(hit: HitRecord): number {
  return hit.places - hit.assignments.length;
}

export function statusOf(hit: HitRecord, now: number): string {
  if (hit.disposed) return "Disposed";
  const isFree = availableOf(hit) > 0 && now < hit.expiresAt;
  if (isFree) return "Assignable";
  return pendingOf(hit) > 0 ? "Unassignable" : "Reviewable";
}

const toSeconds = (ms: number) => ms / 1_000;

export function shownHit(hit: HitRecord, now: number): Record<string, unknown> {
  const { UniqueRequestToken: _, LifetimeInSeconds: __, ...terms } = hit.terms;
  return {
    ...terms,
    HITId: hit.id,
    HITTypeId: hit.type,
    HITGroupId: hit.type,
    CreationTime: toSeconds(hit.createdAt),
    HITStatus: statusOf(hit, now),
    MaxAssignments: hit.places,
    Expiration: toSeconds(hit.expiresAt),
    HITReviewStatus: "NotReviewed",
    NumberOfAssignmentsPending: pendingOf(hit),
    NumberOfAssignmentsAvailable: availableOf(hit),
    NumberOfAssignmentsCompleted: hit.assignments.filter(({ status }) => /^(?:Approved|Rejected)$/.test(status)).length,
  };
}

export function shownAssignment(one: AssignmentRecord): Record<string, unknown> {
  return {
    AssignmentId: one.id,
    WorkerId: one.worker,
    HITId: one.hit.id,
    AssignmentStatus: one.status,
    AutoApprovalTime: toSeconds(one.autoApprovedAt),
    AcceptTime: toSeconds(one.acceptedAt),
    SubmitTime: toSeconds(one.submittedAt),
    Deadline: toSeconds(one.deadline),
    Answer: one.answer,
    ...(one.status === "Approved" && { ApprovalTime: toSeconds(one.decidedAt) }),
    ...(one.status === "Rejected" && { RejectionTime: toSeconds(one.decidedAt) }),
    ...(one.feedback !== undefined && { RequesterFeedback: one.feedback }),
  };
}

/** Ids as the service makes them, the same in every run. */
export class Ids {
  #made = 0;

  next(first = "3"): string {
    this.#made += 1;
    const hash = createHash("sha256").update(`${first}${this.#made}`).digest("hex");
    return `${first}${BigInt(`0x${hash}`).toString(36).toUpperCase().slice(0, 29)}`;
  }
}
