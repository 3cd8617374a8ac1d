import type { SampleData } from "./lifecycle/sample.ts";
import { sampleKeyOf } from "./lifecycle/sample-key.ts";
import type { AssignmentRow, AssignmentStatus } from "./store/assignments.ts";
import type { LabelRow } from "./store/labels.ts";
import type { SampleContent } from "./store/samples.ts";
import type { SampleRow } from "./views/samples.ts";

/** One labeler's work on one sample, as it stood when it was read. */
export interface Assignment {
  readonly id: string;
  readonly sampleId: string;
  readonly labelerId: string;
  /** The name of its queue. */
  readonly queueId: string;
  readonly status: AssignmentStatus;
  /** When it expires unless it is labeled by then; null until it was started. */
  readonly deadline: Date | null;
  /** How often its labeler has begun this sample. */
  readonly attempts: number;
  readonly labelId: string | null;
  readonly skipReason: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
  readonly expiredAt: Date | null;
  readonly skippedAt: Date | null;
  /** When it expires unless it is started by then; null where there is no such limit. */
  readonly startBy: Date | null;
  /** How often its labeler has been given this sample, this time included. */
  readonly try: number;
  /** The assignment that it corrects. */
  readonly revisionOf: string | null;
}

export function assignmentOf(row: AssignmentRow): Assignment {
  return {
    id: row.id,
    sampleId: row.sample_id,
    labelerId: row.labeler,
    queueId: row.queue,
    status: row.status,
    deadline: dateOf(row.deadline_ms),
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

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}

/** What a labeler is shown of a sample. */
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
 * Where a sample stands: waiting for labels, agreed on, given up for lack of tries or of people, or taken out; or, when a
 * crowd has posted it, handed out to nobody new.
 */
export type SampleState = "open" | "agreed" | "exhausted" | "unassignable" | "withdrawn" | "closed";

/** A sample as it stands. */
export interface Sample extends SampleInfo {
  /** The name of its queue. */
  readonly queueId: string;
  readonly state: SampleState;
  /** How many labels it needs, and how many it has that count. */
  readonly needs: number;
  readonly labeled: number;
  /** Slots that can be had, and slots in somebody's hands. */
  readonly open: number;
  readonly held: number;
  /** How often it may still be handed out once more. */
  readonly spare: number;
  /** The label that is known to be right; undefined where none is. */
  readonly gold: unknown;
  /** What its labels say together, once it is agreed on. */
  readonly consensus: unknown;
  /** How far its labels agree, from 0 to 1. */
  readonly agreement: number | null;
  /** Why it was given up, or that its labels contradict the gold label. */
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
    queueId: row.queue,
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

/** What a labeler answered. */
export interface Label {
  readonly id: string;
  readonly assignmentId: string;
  readonly sampleId: string;
  /** The name of its queue. */
  readonly queueId: string;
  readonly labelerId: string;
  readonly value: unknown;
  readonly at: Date;
  /** It came after its assignment had expired, and counts only if a lead accepts it. */
  readonly late: boolean;
  /** What a lead said of it, if one did. */
  readonly review: "accepted" | "rejected" | null;
  readonly reviewedBy: string | null;
  readonly comment: string | null;
  /** Whether it is the answer that was known beforehand; null where none was. */
  readonly isRight: boolean | null;
}

export function labelOf(row: LabelRow): Label {
  return {
    id: row.id,
    assignmentId: row.assignment_id,
    sampleId: row.sample_id,
    queueId: row.queue,
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
