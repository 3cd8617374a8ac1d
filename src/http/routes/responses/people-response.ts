import {
  about,
  anyOf,
  anything,
  flag,
  id,
  listOf,
  moment,
  named,
  nothing,
  number,
  oneOf,
  orNull,
  record,
  type Schema,
  shape,
  text,
  whole,
  withMore,
} from "../../api/schema.ts";
import type {
  AssignmentResponse,
  LabelerResponse,
  LabelResponse,
  NextResponse,
  QueueResponse,
  SampleHistoryResponse,
  SampleResponse,
  SubmittedResponse,
  WorkMoveResponse,
} from "../../contract.ts";

export const assignmentStatus = oneOf("pending", "in_progress", "completed", "expired", "skipped");
export const sampleState = oneOf("open", "agreed", "exhausted", "unassignable", "withdrawn", "closed");

export const queue = named(
  "Queue",
  shape<QueueResponse>({
    name: text,
    active: about(flag, "An inactive queue makes no new assignments; existing ones can be finished."),
    source: oneOf("code", "run_time"),
    instructions: orNull(text),
    labelSchema: about(record, "The JSON Schema of a label."),
    overlap: about(whole, "The number of labelers for each sample."),
    finishWithinMs: whole,
    startWithinMs: orNull(whole),
    graceMs: whole,
    maxAttemptsPerLabeler: whole,
    maxAttemptsTotal: whole,
    reassignExpired: flag,
    reassignSkipped: flag,
    skipRequiresReason: flag,
    skipUnstarted: flag,
    labelers: about(orNull(listOf(text)), "Labelers that may work on it; null for anyone."),
    skills: listOf(text),
    order: oneOf("oldest", "priority", "least_labeled", "number"),
    maxExtensions: about(whole, "How often a labeler may extend an assignment."),
    concurrency: whole,
    review: flag,
    agreement: orNull(shape<NonNullable<QueueResponse["agreement"]>>({ atLeast: number, maxOverlap: whole })),
    createdAt: moment,
    updatedAt: moment,
  }),
);

export const labeler = named(
  "Labeler",
  shape<LabelerResponse>({
    id: text,
    name: orNull(text),
    skills: listOf(text),
    active: about(flag, "An inactive labeler gets no assignments."),
    createdAt: moment,
  }),
);

export const assignment = named(
  "Assignment",
  shape<AssignmentResponse>({
    id,
    sampleId: id,
    labelerId: text,
    queue: about(text, "The name of its queue."),
    status: assignmentStatus,
    deadlineAt: about(orNull(moment), "When it expires if it is not labeled; null until it is started."),
    attempts: about(whole, "The number of times its labeler has started this sample."),
    labelId: orNull(id),
    skipReason: orNull(text),
    createdAt: moment,
    startedAt: orNull(moment),
    completedAt: orNull(moment),
    expiredAt: orNull(moment),
    skippedAt: orNull(moment),
    startBy: about(orNull(moment), "When it expires if it is not started."),
    try: about(whole, "The number of times its labeler was assigned this sample, including this one."),
    revisionOf: about(orNull(id), "The assignment that it corrects."),
  }),
);

export const label = named(
  "Label",
  shape<LabelResponse>({
    id,
    assignmentId: id,
    sampleId: id,
    queue: text,
    labelerId: text,
    value: anything,
    at: moment,
    late: about(flag, "It arrived after its assignment had expired, and is used only if a lead accepts it."),
    review: orNull(oneOf("accepted", "rejected")),
    reviewedBy: orNull(text),
    comment: orNull(text),
    isRight: about(orNull(flag), "Whether it equals the gold label; null for a sample without one."),
  }),
);

export const sample = named(
  "Sample",
  shape<SampleResponse>(
    {
      id,
      key: orNull(text),
      data: anything,
      queue: about(text, "The name of its queue."),
      state: sampleState,
      needs: about(whole, "The number of labels it needs."),
      labeled: about(whole, "The number of accepted labels."),
      open: about(whole, "Free slots."),
      held: about(whole, "Assigned slots."),
      spare: about(whole, "The remaining number of reassignments."),
      gold: about(anything, "The known correct label, if any."),
      consensus: about(anything, "The agreed result of its labels."),
      agreement: orNull(number),
      reason: about(orNull(text), "Why it ended without a result."),
      createdAt: moment,
      movedAt: moment,
    },
    ["gold"],
  ),
);

export const sampleHistory: Schema<SampleHistoryResponse> = named(
  "SampleHistory",
  withMore(sample, { assignments: listOf(assignment), labels: listOf(label) }),
);

export const workMove: Schema<WorkMoveResponse> = named(
  "WorkMove",
  shape<WorkMoveResponse>({
    version: whole,
    event: text,
    from: about(orNull(text), "Null for the start."),
    to: text,
    at: moment,
    source: oneOf("call", "worker", "timer", "callback", "pawl"),
    actor: orNull(text),
    reason: orNull(text),
  }),
);

type Given = Omit<Extract<NextResponse, { assignment: object }>, "why">;
type Empty = Pick<Extract<NextResponse, { assignment: null }>, "assignment" | "why">;

/** The next assignment of a labeler, or why there is none. */
export const next = named(
  "Next",
  anyOf(
    shape<Given>({
      assignment,
      sample: shape<Given["sample"]>({ id, key: orNull(text), data: anything }),
      resumed: about(flag, "The labeler already had it assigned."),
    }),
    shape<Empty>({
      assignment: nothing,
      why: shape<Empty["why"]>({
        code: oneOf("queue_inactive", "labeler_inactive", "not_eligible", "nothing_waits", "nothing_for_you"),
        sentence: text,
        heldByOthers: whole,
        done: whole,
        skipped: whole,
        tooOften: whole,
      }),
    }),
  ),
);

export const submitted = shape<SubmittedResponse>({
  assignment,
  label: shape<SubmittedResponse["label"]>({ id, value: anything, at: moment }),
  late: about(flag, "It arrived after the deadline, and is used only if a lead accepts it."),
});
