import { dateOf } from "../base/moment.ts";
import type { SampleData } from "./lifecycle/sample.ts";
import { sampleKeyOf } from "./lifecycle/sample-key.ts";
import type { AssignmentRow, AssignmentStatus } from "./store/assignments.ts";
import type { LabelRow } from "./store/labels.ts";
import type { SampleContent } from "./store/samples.ts";
import type { SampleRow } from "./views/samples.ts";

/** One labeler's work on one sample, as of the time of the read. */
export interface Assignment {
  readonly id: string;
  readonly sampleId: string;
  readonly labelerId: string;
  /** The name of its queue. */
  readonly queue: string;
  readonly status: AssignmentStatus;
  /** When it expires if it is not labeled; null until it is started. */
  readonly deadlineAt: Date | null;
  /** The number of times its labeler started this sample. */
  readonly attempts: number;
  readonly labelId: string | null;
  readonly skipReason: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
  readonly expiredAt: Date | null;
  readonly skippedAt: Date | null;
  /** When it expires if it is not started; null if there is no such limit. */
  readonly startBy: Date | null;
  /** The number of times its labeler was assigned this sample, including this one. */
  readonly try: number;
  /** The assignment that it corrects. */
  readonly revisionOf: string | null;
}

export function assignmentOf(row: AssignmentRow): Assignment {
  return {
    id: row.id,
    sampleId: row.sample_id,
    labelerId: row.labeler,
    queue: row.queue,
    status: row.status,
    deadlineAt: dateOf(row.deadline_ms),
    attempts: row.attempts,
    labelId: row.label_id,
    skipReason: row.skip_reason,
    createdAt: new Date(row.created_ms),
    startedAt: dateOf(row.started_ms),
    completedAt: dateOf(row.completed_ms),
    expiredAt: dateOf(row.expired_ms),
    skippedAt: dateOf(row.skipped_ms),
    startBy: dateOf(row.start_by_ms),
    try: row.try,
    revisionOf: row.revision_of,
  };
}

/** The part of a sample that labelers see. */
export interface SampleInfo {
  readonly id: string;
  /** Its key within its queue. */
  readonly key: string | null;
  readonly data: unknown;
}

export function sampleOf(row: SampleContent): SampleInfo {
  return { id: row.id, key: sampleKeyOf(row.key), data: row.content };
}

/**
 * The state of a sample: open for labels, agreed, ended for lack of tries or of eligible labelers, or closed; a posted
 * sample can also be open without new assignments.
 */
export type SampleState = "open" | "agreed" | "exhausted" | "unassignable" | "withdrawn" | "closed";

/** A sample. */
export interface Sample extends SampleInfo {
  /** The name of its queue. */
  readonly queue: string;
  readonly state: SampleState;
  /** The number of labels it needs, and of accepted labels. */
  readonly needs: number;
  readonly labeled: number;
  /** Free slots, and assigned slots. */
  readonly open: number;
  readonly held: number;
  /** The remaining number of reassignments. */
  readonly spare: number;
  /** The known correct label, if any. */
  readonly gold: unknown;
  /** The agreed result of its labels. */
  readonly consensus: unknown;
  /** The agreement of its labels, from 0 to 1. */
  readonly agreement: number | null;
  /** Why it ended without a result, or that its labels contradict the gold label. */
  readonly reason: string | null;
  readonly createdAt: Date;
  readonly movedAt: Date;
}

export function sampleView(row: SampleRow): Sample {
  const data = row.data as SampleData;
  return {
    id: row.id,
    key: sampleKeyOf(row.key),
    data: data.content,
    queue: row.queue,
    state: row.state as SampleState,
    needs: row.needs,
    labeled: row.filled,
    open: row.open_slots,
    held: row.held_slots,
    spare: row.spare,
    gold: data.isGold ? data.gold : undefined,
    consensus: data.consensus,
    agreement: data.agreement,
    reason: data.reason,
    createdAt: new Date(row.created_ms),
    movedAt: new Date(row.moved_ms),
  };
}

/** A label. */
export interface Label {
  readonly id: string;
  readonly assignmentId: string;
  readonly sampleId: string;
  /** The name of its queue. */
  readonly queue: string;
  readonly labelerId: string;
  readonly value: unknown;
  readonly at: Date;
  /** It arrived after its assignment had expired, and is used only if a lead accepts it. */
  readonly late: boolean;
  /** The review of a lead, if any. */
  readonly review: "accepted" | "rejected" | null;
  readonly reviewedBy: string | null;
  readonly comment: string | null;
  /** Whether it equals the gold label; null for a sample without one. */
  readonly isRight: boolean | null;
}

export function labelOf(row: LabelRow): Label {
  return {
    id: row.id,
    assignmentId: row.assignment_id,
    sampleId: row.sample_id,
    queue: row.queue,
    labelerId: row.labeler,
    value: row.value,
    at: new Date(row.at_ms),
    late: row.late,
    review: row.review,
    reviewedBy: row.reviewed_by,
    comment: row.comment,
    isRight: row.gold_right,
  };
}
