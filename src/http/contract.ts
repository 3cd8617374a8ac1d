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
  StartedInstance,
} from "../api/results.ts";
import type { Wire } from "./api/schema.ts";
import type { Problem } from "./problem.ts";

export type { Problem };

export interface SessionAnswer {
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

export type InstanceAnswer = Wire<Instance>;
export type InstanceCountAnswer = Wire<Awaited<ReturnType<Pawl["inspect"]["count"]>>>;
export type StartedAnswer = Wire<StartedInstance>;
export type MoveAnswer = Wire<JournalEntry>;
export type AttemptAnswer = Wire<AttemptEntry>;
export type JournalAnswer = MoveAnswer | AttemptAnswer;
export type AllowedEventAnswer = Each<Pawl["allowedEvents"]>;
export type ChildrenAnswer = Wire<Children>;
export type ExplanationAnswer = AnswerOfVerb<Pawl["explain"]>;

export type CallbackAnswer = Wire<Callback>;
export type ReceivedAnswer = Wire<ReceivedCallback>;

export type DeadLetterAnswer = AnswerOfVerb<Dead["get"]>;
export type DeadLetterGroupAnswer = Each<Dead["groups"]>;
export type PreviewAnswer = AnswerOfVerb<Dead["preview"]>;
export type OperationAnswer = AnswerOfVerb<Pawl["operations"]["get"]>;
export type TicketAnswer = Each<Dead["tickets"]["list"]>;
export type ArchiveAnswer = Each<Dead["archives"]>;
export type ArchivedAnswer = AnswerOfVerb<Dead["archive"]>;
export type RestoredAnswer = AnswerOfVerb<Dead["restore"]>;

export type LaneAnswer = Each<Pawl["lanes"]["list"]>;
export type WorkerAnswer = Each<Pawl["workers"]["list"]>;
export type JobAnswer = Each<Pawl["jobs"]["list"]>;
export type BreakerAnswer = Each<Pawl["breakers"]["list"]>;
export type BreakerChangeAnswer = Each<Pawl["breakers"]["history"]>;
export type ScheduleAnswer = Wire<ScheduleStatus>;

export type MessageAnswer = Each<Outbox["messages"]>;
export interface OutboxAnswer {
  readonly lag: AnswerOfVerb<Outbox["lag"]>;
  readonly types: readonly Each<Outbox["status"]>[];
}
/** How many messages were decided about. */
export interface DecidedMessagesAnswer {
  readonly messages: number;
}

export type QueueAnswer = AnswerOfVerb<People["queue"]>;
export type QueueStatsAnswer = Each<People["queueStats"]>;
export type LabelerAnswer = Each<People["labelers"]>;
export type AddedSampleAnswer = Each<People["addMany"]>;
export type SampleAnswer = Each<People["samples"]>;
export type SampleHistoryAnswer = AnswerOfVerb<People["sample"]>;
export type AssignmentAnswer = AnswerOfVerb<People["assignment"]>;
export type WorkMoveAnswer = Each<People["assignmentJournal"]>;
export type LabelAnswer = Each<People["labels"]>;
export type RejectedAnswer = AnswerOfVerb<People["reject"]>;
export type NextAnswer = AnswerOfVerb<People["next"]>;
export type SubmittedAnswer = AnswerOfVerb<People["submit"]>;
/** A labeler's desk. */
export type DeskAnswer = AnswerOfVerb<People["desk"]>;
export type DeskQueueAnswer = DeskAnswer["queues"][number];
/** An assignment with all that its labeler needs for it. */
export type DeskWorkAnswer = AnswerOfVerb<People["deskWork"]>;
export type DraftAnswer = AnswerOfVerb<People["saveDraft"]>;
export type QualityAnswer = AnswerOfVerb<People["quality"]>;
export type MetricsAnswer = AnswerOfVerb<People["metrics"]>;
export type ExportedLabelAnswer =
  ReturnType<People["exportLabels"]> extends AsyncGenerator<infer One> ? Wire<One> : never;

export type CrowdAnswer = Each<Crowds["list"]> & AnswerOfVerb<Crowds["counts"]>;
export type CrowdJobAnswer = AnswerOfVerb<Crowds["job"]>;
export type SubmissionAnswer = AnswerOfVerb<Crowds["submission"]>;
export type BonusAnswer = AnswerOfVerb<Crowds["bonus"]>;
export type ReconcileIssueAnswer = Each<Crowds["reconcile"]>;
export interface BalanceAnswer {
  readonly marketplace: string;
  /** Null where nothing is paid. */
  readonly balance: string | null;
}
/** Whether a posting belongs to a crowd of this Pawl. */
export interface NoticeAnswer {
  readonly ours: boolean;
}

/** A lifecycle with its instance counts by state. */
export interface LifecycleAnswer {
  readonly name: string;
  readonly version: number;
  readonly initial: string;
  /** A plain background job. */
  readonly job: boolean;
  readonly states: readonly StateAnswer[];
}

/** A state: its kind, its instance count, and its definition. */
export interface StateAnswer {
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
export type OpenSessionAnswer = Wire<OpenSession>;
export type TokenAnswer = Wire<Token>;

/** A link for one sign-in. */
export interface SignInAnswer {
  readonly path: string;
  readonly url: string | null;
}

/** The overview of a Pawl. */
export type OverviewAnswer = Wire<Awaited<ReturnType<Pawl["inspect"]["overview"]>>>;

/** Instances that are stuck for the same reason in the same place. */
export type StuckAnswer = Each<Pawl["inspect"]["stuck"]>;

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
