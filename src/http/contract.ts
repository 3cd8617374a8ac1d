/** The types of the answers of Pawl's routes, after their way over the wire, for the pages. */
import type { OpenSession, Token } from "../access/access.ts";
import type { Right, Role } from "../access/roles.ts";
import type { Pawl } from "../api/pawl.ts";
import type {
  AttemptEntry,
  Callback,
  Children,
  Instance,
  JournalEntry,
  ReceivedCallback,
  ScheduleStatus,
} from "../api/results.ts";
import type { Wire } from "./api/schema.ts";
import type { Problem } from "./problem.ts";

export type { Problem };

export interface SessionResponse {
  readonly name: string;
  readonly role: Role;
  readonly labeler: string | null;
  readonly may: readonly Right[];
}

type People = Pawl["people"];
type Dead = Pawl["deadLetters"];
type Outbox = Pawl["outbox"];
type Crowds = Pawl["crowd"];

/** The answer of a verb. */
type AnswerOfVerb<Verb> = Verb extends (...args: never[]) => infer Answer ? Wire<NonNullable<Awaited<Answer>>> : never;
/** One of those that a verb lists. */
type Each<Verb> = Verb extends (...args: never[]) => infer Answer
  ? Awaited<Answer> extends readonly (infer One)[]
    ? Wire<One>
    : never
  : never;

export type InstanceResponse = Wire<Instance>;
export type InstanceCountResponse = Wire<Awaited<ReturnType<Pawl["inspect"]["count"]>>>;
export type MoveResponse = Wire<JournalEntry>;
export type AttemptResponse = Wire<AttemptEntry>;
export type JournalResponse = MoveResponse | AttemptResponse;
export type AllowedEventResponse = Each<Pawl["allowedEvents"]>;
export type ChildrenResponse = Wire<Children>;
export type ExplanationResponse = AnswerOfVerb<Pawl["explain"]>;

export type CallbackResponse = Wire<Callback>;
export type ReceivedResponse = Wire<ReceivedCallback>;

export type DeadLetterResponse = AnswerOfVerb<Dead["get"]>;
export type DeadLetterGroupResponse = Each<Dead["groups"]>;
export type PreviewResponse = AnswerOfVerb<Dead["preview"]>;
export type OperationResponse = AnswerOfVerb<Pawl["operations"]["get"]>;
export type OperationPreviewResponse = AnswerOfVerb<Pawl["operations"]["preview"]>;
export type TicketResponse = Each<Dead["tickets"]["list"]>;
export type ArchiveResponse = Each<Dead["archives"]>;
export type ArchivedResponse = AnswerOfVerb<Dead["archive"]>;
export type RestoredResponse = AnswerOfVerb<Dead["restore"]>;

export type LaneResponse = Each<Pawl["lanes"]["list"]>;
export type LaneLimitsResponse = AnswerOfVerb<Pawl["lanes"]["putLimit"]>;
export type WorkerResponse = Each<Pawl["workers"]["list"]>;
export type JobResponse = Each<Pawl["jobs"]["list"]>;
export type BreakerResponse = Each<Pawl["breakers"]["list"]>;
export type BreakerChangeResponse = Each<Pawl["breakers"]["history"]>;
export type ScheduleResponse = Wire<ScheduleStatus>;

export type MessageResponse = Each<Outbox["messages"]>;
export type OutboxResponse = AnswerOfVerb<Outbox["status"]>;
/** How many messages were decided about. */
export interface DecidedMessagesResponse {
  readonly messages: number;
}

export type QueueResponse = AnswerOfVerb<People["queue"]>;
export type QueueStatsResponse = Each<People["queueStats"]>;
export type LabelerResponse = Each<People["labelers"]>;
export type AddedSampleResponse = Each<People["addMany"]>;
export type SampleResponse = Each<People["samples"]>;
export type SampleHistoryResponse = AnswerOfVerb<People["sample"]>;
export type AssignmentResponse = AnswerOfVerb<People["assignment"]>;
export type WorkMoveResponse = Each<People["assignmentJournal"]>;
export type LabelResponse = Each<People["labels"]>;
export type RejectedResponse = AnswerOfVerb<People["reject"]>;
export type NextResponse = AnswerOfVerb<People["next"]>;
export type SubmittedResponse = AnswerOfVerb<People["submit"]>;
/** A labeler's desk. */
export type DeskResponse = AnswerOfVerb<People["desk"]>;
export type DeskQueueResponse = DeskResponse["queues"][number];
/** An assignment with all that its labeler needs for it. */
export type DeskWorkResponse = AnswerOfVerb<People["deskWork"]>;
export type DraftResponse = AnswerOfVerb<People["saveDraft"]>;
export type QualityResponse = AnswerOfVerb<People["quality"]>;
export type MetricsResponse = AnswerOfVerb<People["metrics"]>;
export type ExportedLabelResponse =
  ReturnType<People["exportLabels"]> extends AsyncGenerator<infer One> ? Wire<One> : never;

export type CrowdResponse = Each<Crowds["list"]> & AnswerOfVerb<Crowds["counts"]>;
export type CrowdJobResponse = AnswerOfVerb<Crowds["job"]>;
export type SubmissionResponse = AnswerOfVerb<Crowds["submission"]>;
export type BonusResponse = AnswerOfVerb<Crowds["bonus"]>;
export type ReconcileIssueResponse = Each<Crowds["reconcile"]>;
export interface BalanceResponse {
  readonly marketplace: string;
  /** Null where nothing is paid. */
  readonly balance: string | null;
}
/** Whether a posting belongs to a crowd of this Pawl. */
export interface NotificationResponse {
  readonly ours: boolean;
}

/** A lifecycle with its instance counts by state. */
export interface LifecycleResponse {
  readonly name: string;
  readonly version: number;
  readonly initial: string;
  /** A plain background job. */
  readonly job: boolean;
  readonly states: readonly StateResponse[];
}

/** A state: its kind, its instance count, and its definition. */
export interface StateResponse {
  readonly name: string;
  readonly kind: string;
  readonly final: "success" | "failure" | "discarded" | null;
  readonly instances: number;
  /** The queue or the crowd of a state that asks. */
  readonly asks: { readonly whom: "people" | "crowd"; readonly name: string } | null;
  /** The lane of its work, to pause and resume. */
  readonly lane: string | null;
  /** The delay of a timeout; null if it depends on the data. */
  readonly timeouts: readonly { readonly after: string | null; readonly send: string }[];
  /** All attempts of its work, the first one included; null where the standard holds. */
  readonly maxAttempts: number | null;
  /** Its breaker. */
  readonly uses: string | null;
  readonly limit: number | null;
  readonly rate: string | null;
  readonly checkpoint: string | null;
  /** The events that can be sent to an instance in this state. */
  readonly events: readonly string[];
}

/** A token that was given out. */
export type OpenSessionResponse = Wire<OpenSession>;
export type TokenResponse = Wire<Token>;

/** A link for one sign-in. */
export interface SignInResponse {
  readonly path: string;
  readonly url: string | null;
}

/** The overview of a Pawl. */
export type OverviewResponse = Wire<Awaited<ReturnType<Pawl["inspect"]["overview"]>>>;

/** Instances that are stuck for the same reason in the same place. */
export type StuckResponse = Each<Pawl["inspect"]["stuck"]>;

/** The changed instance counts, by lifecycle and state. */
export type LiveCounts = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** The instances that started, ended and failed per minute, around a moment. */
export interface RateSample {
  readonly at: string;
  readonly started: number;
  readonly done: number;
  readonly failed: number;
}

/** A watched instance that has moved. */
export interface LiveInstance {
  readonly id: string;
  readonly version: number;
  readonly state: string;
}
