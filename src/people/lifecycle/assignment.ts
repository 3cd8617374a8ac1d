import type { Json } from "../../base/json.ts";
import { lifecycle } from "../../definition/lifecycle.ts";
import type { Context } from "../../definition/model.ts";
import type { QueueSettings } from "../../definition/queue-settings.ts";
import {
  flag,
  json,
  number,
  optional,
  orNull,
  record,
  recordSchema,
  text,
  whole,
} from "../../definition/schema/record-schema.ts";

/** The settings of the queue at the time of the assignment, which hold until its end. */
export type AssignmentTerms = Pick<
  QueueSettings,
  | "startWithinMs"
  | "finishWithinMs"
  | "graceMs"
  | "maxAttemptsPerLabeler"
  | "maxAttemptsTotal"
  | "reassignExpired"
  | "reassignSkipped"
  | "skipRequiresReason"
  | "skipUnstarted"
> & {
  /** The queue is restricted. */
  readonly restricted: boolean;
  /** The maximum number of extensions; assignments from before this setting have none. */
  readonly maxExtensions?: number;
};

export function termsOf(settings: QueueSettings): AssignmentTerms {
  const { startWithinMs, finishWithinMs, graceMs, maxAttemptsPerLabeler, maxAttemptsTotal } = settings;
  const { reassignExpired, reassignSkipped, skipRequiresReason, skipUnstarted, labelers, skills } = settings;
  const { maxExtensions } = settings as Partial<Pick<QueueSettings, "maxExtensions">>; // Queues that were stored before
  // this setting existed.
  return {
    startWithinMs,
    finishWithinMs,
    graceMs,
    maxAttemptsPerLabeler,
    maxAttemptsTotal,
    reassignExpired,
    reassignSkipped,
    skipRequiresReason,
    skipUnstarted,
    restricted: labelers !== null || skills.length > 0,
    ...(maxExtensions === undefined ? {} : { maxExtensions }),
  };
}

export type AssignmentData = {
  readonly queue: string;
  readonly sampleId: string;
  readonly slot: number;
  readonly labelerId: string;
  /** Its place among the labeler's open assignments; null for a revision. */
  readonly place: number | null;
  /** The number of times the labeler was assigned the sample, including this one. */
  readonly try: number;
  /** The number of times the labeler started it. */
  readonly attempts: number;
  readonly revisionOf: string | null;
  /** The assignment whose slot it takes over. */
  readonly takesOver: string | null;
  readonly labelId: string | null;
  readonly skipReason: string | null;
  readonly extensions?: number;
  readonly terms: AssignmentTerms;
};

const assignmentData = recordSchema<AssignmentData>({
  queue: text,
  sampleId: text,
  slot: whole,
  labelerId: text,
  place: orNull(whole),
  try: whole,
  attempts: whole,
  revisionOf: orNull(text),
  takesOver: orNull(text),
  labelId: orNull(text),
  skipReason: orNull(text),
  extensions: optional(whole),
  terms: record<AssignmentTerms>({
    startWithinMs: orNull(number),
    finishWithinMs: number,
    graceMs: number,
    maxAttemptsPerLabeler: whole,
    maxAttemptsTotal: whole,
    reassignExpired: flag,
    reassignSkipped: flag,
    skipRequiresReason: flag,
    skipUnstarted: flag,
    restricted: flag,
    maxExtensions: optional(whole),
  }),
});

/** A submitted label. */
export type Submission = {
  readonly labelId: string;
  readonly label: Json;
  readonly isRight: boolean | null;
  /** For an accepted late label: how long its labeler had worked on it. */
  readonly workedMs?: number;
};

type AssignmentContext = Context<AssignmentData, unknown>;

export const onlyTheAssignee = "it is assigned to another labeler";
export const reasonMissing = "its queue requires a reason for a skip";
export const noMoreExtensions = "it was extended as often as its queue allows";
const notStarted = "it has not been started, and its queue allows skips only after the start";

function isAssignee({ data, actor }: AssignmentContext): true | string {
  return actor === data.labelerId || onlyTheAssignee;
}

function maySkip({ data, actor, payload }: Context<AssignmentData, { reason: string | null }>): true | string {
  if (actor !== data.labelerId) return onlyTheAssignee;
  return !data.terms.skipRequiresReason || (payload.reason ?? "").trim() !== "" || reasonMissing;
}

function mayExtend({ data, actor }: AssignmentContext): true | string {
  if (actor !== data.labelerId) return onlyTheAssignee;
  return (data.extensions ?? 0) < (data.terms.maxExtensions ?? Infinity) || noMoreExtensions;
}

function maySkipUnstarted(given: Context<AssignmentData, { reason: string | null }>): true | string {
  return given.data.terms.skipUnstarted ? maySkip(given) : notStarted;
}

/**
 * The lifecycle of an assignment: one labeler's work on one sample. The same statement also writes its slot, its sample
 * and its label; see `assignment-companions.ts`.
 */
export const assignment = lifecycle("pawl_assignment", {
  data: assignmentData,
  events: {
    submit: recordSchema<Submission>({
      labelId: text,
      label: json,
      isRight: orNull(flag),
      workedMs: optional(number),
    }),
    skip: recordSchema<{ reason: string | null }>({ reason: orNull(text) }),
  },
  builtIns: false,
  initial: "pending",
  states: {
    pending: {
      timeout: { after: ({ data }) => data.terms.startWithinMs, send: "expire" },
      on: {
        start: { to: "in_progress", guard: isAssignee, set: ({ data }) => ({ attempts: data.attempts + 1 }) },
        skip: { to: "skipped", guard: maySkipUnstarted, set: ({ payload }) => ({ skipReason: payload.reason }) },
        release: "expired",
        expire: "expired",
      },
    },
    in_progress: {
      timeout: { after: ({ data }) => data.terms.finishWithinMs + data.terms.graceMs, send: "expire" },
      on: {
        submit: { to: "completed", guard: isAssignee, set: ({ payload }) => ({ labelId: payload.labelId }) },
        skip: { to: "skipped", guard: maySkip, set: ({ payload }) => ({ skipReason: payload.reason }) },
        // Re-entered: its time limit starts again.
        extend: {
          to: "in_progress",
          guard: mayExtend,
          set: ({ data }) => ({ extensions: (data.extensions ?? 0) + 1 }),
        },
        release: "expired",
        expire: "expired",
      },
    },
    completed: { final: "success" },
    expired: { final: "failure" },
    skipped: { final: "failure" },
  },
});
