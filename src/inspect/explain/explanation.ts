import type { RecoveryExplanation } from "../../definition/decide/explain.ts";

/** Why an instance does not move, and what happens next. Reading it changes nothing. */
export interface Explanation {
  readonly id: string;
  readonly key: string | null;
  readonly lifecycle: string;
  readonly state: string;
  readonly outcome: "success" | "failure" | "discarded" | null;
  /** When it entered its state. */
  readonly since: Date;
  /** The time of the database when it was read. */
  readonly at: Date;
  /** Everything that it waits for. Empty only for an instance that has ended and left nothing behind. */
  readonly waitingFor: readonly WaitingFor[];
  /** What happens next without a person or an event from outside; null when nothing does. */
  readonly next: NextAutomaticStep | null;
  /** What has to happen first, if nothing happens by itself (`next` is null), in plain English; null otherwise. */
  readonly idle: string | null;
  /** Why it does not move until a person acts; null if it will move. */
  readonly stuck: Stuck | null;
  /** Its error, its budget of failures, and what a recovery would do; null if a newer definition decides that. */
  readonly recovery: RecoveryExplanation | null;
  /** State, waits, next or idle, stuck and recovery in plain English. */
  readonly sentences: readonly string[];
}

/** Who or what ends a wait: a worker, the passing of time, a person, or a system outside of Pawl. */
export type WaitEndedBy = "worker" | "clock" | "person" | "outside";

interface Wait {
  readonly since: Date;
  /** When something happens without a person or an outside event; null when that is not known, or nothing does. */
  readonly until: Date | null;
  readonly by: WaitEndedBy;
  /** The wait in plain English. Names are in backticks; `since` is left out. */
  readonly sentence: string;
}

/** A task in its lane. */
interface LaneWait extends Wait {
  readonly lane: string;
  /** The current or next attempt, counted from 1. */
  readonly attempt: number;
  /** How many attempts it has; null where that is not known. */
  readonly maxAttempts: number | null;
  /** The error of the last attempt, or why it ended without a result; null for the first attempt. */
  readonly error: string | null;
}

interface ReadyWait extends LaneWait {
  readonly status: "ready";
  /** Why no worker has claimed it yet. */
  readonly notClaimed: NotClaimed;
}

interface ScheduledWait extends LaneWait {
  readonly status: "scheduled";
}

interface RunningWait extends LaneWait {
  readonly status: "running";
  readonly worker: string;
  readonly leaseUntil: Date;
  readonly progress: { readonly fraction: number; readonly note: string | null } | null;
}

/** A task: ready for a worker, scheduled for later, or running. */
export type TaskWait = ReadyWait | ScheduledWait | RunningWait;

/** One cause of waiting, by its kind. */
export type WaitingFor =
  /** The step of a state that works. */
  | ({ readonly kind: "step" } & TaskWait)
  /** The recovery of a failed instance. */
  | ({ readonly kind: "recovery"; readonly target: string | null } & TaskWait)
  /** An after-effect, or events on their way to other instances. */
  | ({ readonly kind: "effect"; readonly event: string | null } & TaskWait)
  /** Events that can be sent to it. */
  | ({
      readonly kind: "events";
      readonly events: readonly string[];
      /** The timer that ends the wait; null: no timer does. */
      readonly end: WaitEnd | null;
      /** Whether its state declares that it waits without a time limit. */
      readonly forever: boolean;
    } & Wait)
  /** A timeout or a deadline, in a state that does not wait for events alone. */
  | ({ readonly kind: "timer"; readonly timer: "timeout" | "deadline"; readonly event: string } & Wait)
  /** An event that is sent later. */
  | ({ readonly kind: "delayed_event"; readonly event: string; readonly failures: number } & Wait)
  /** The release of a parked instance. */
  | ({
      readonly kind: "release";
      readonly event: string | null;
      readonly failures: number;
      readonly lastFailure: { readonly what: "refused" | "failed"; readonly reason: string } | null;
    } & Wait)
  | ({
      readonly kind: "children";
      /** Not counted beyond 10,000. */
      readonly open: number;
      readonly failed: number;
      /** Ten at most, open ones first. */
      readonly first: readonly ExplainedChild[];
    } & Wait)
  /** The sample or the crowd job of a state that asks, which maintenance creates. */
  | ({ readonly kind: "question" } & Wait)
  /** Labels by people. */
  | ({
      readonly kind: "people";
      readonly queue: string;
      readonly sample: string;
      readonly wanted: number;
      readonly given: number;
      /** Labelers to whom it is assigned. */
      readonly heldBy: readonly string[];
      /** Who may label it; null: every labeler with the skills. */
      readonly labelers: readonly string[] | null;
      readonly skills: readonly string[];
    } & Wait)
  | ({ readonly kind: "crowd_job"; readonly lifecycle: string; readonly job: string; readonly state: string } & Wait)
  /** A result from outside, for which a token was issued. */
  | ({ readonly kind: "callback"; readonly event: string; readonly tokens: number; readonly expiresAt: Date } & Wait)
  /** A result that arrived, and that waits for a state that accepts its event. */
  | ({ readonly kind: "result"; readonly callback: string; readonly event: string; readonly reachable: boolean } & Wait)
  /** A decision by a person. */
  | ({ readonly kind: "person"; readonly deadLetter: string | null; readonly reason: string } & Wait)
  /** A definition that allows what its own step did. */
  | ({ readonly kind: "definition_fault"; readonly lane: string; readonly error: string } & Wait)
  /** A process with the definition that moved it last, or a newer one. `process` is the version of this process; 0: none. */
  | ({ readonly kind: "newer_definition"; readonly definition: number; readonly process: number } & Wait)
  /** A process whose definition has its state; that of this process, in version `process`, has not. */
  | ({ readonly kind: "undeclared_state"; readonly process: number } & Wait);

/** The timer that ends a wait for events. */
export interface WaitEnd {
  readonly timer: "timeout" | "deadline";
  readonly event: string;
  readonly at: Date;
}

export interface ExplainedChild {
  readonly id: string;
  readonly lifecycle: string;
  readonly key: string | null;
  readonly state: string;
  readonly outcome: "success" | "failure" | "discarded" | null;
}

/** Why a task that is ready has not been claimed. */
export type NotClaimed =
  | { readonly reason: "paused"; readonly since: Date; readonly actor: string | null; readonly why: string }
  | {
      readonly reason: "breaker";
      readonly breaker: string;
      readonly state: "open" | "half_open";
      /** Whether a person forced it open, and who: it does not close by itself. */
      readonly held: boolean;
      readonly actor: string | null;
      /** When it lets a first probe through; null unless that is scheduled. */
      readonly until: Date | null;
      readonly why: string | null;
    }
  /** With a key: the limit is that of each key. Null: of all tasks without one. */
  | { readonly reason: "limit"; readonly limit: number; readonly key?: string | null }
  | { readonly reason: "rate"; readonly rate: string; readonly until: Date | null; readonly key?: string | null }
  | { readonly reason: "no_worker" }
  /** All live workers have an older version of the definition. */
  | { readonly reason: "worker_outdated"; readonly version: number; readonly newest: number }
  /** Live workers serve the lane; it waits for a free slot. */
  | { readonly reason: "in_turn" };

/** What happens next without a person or an event from outside. */
export interface NextAutomaticStep {
  readonly kind: WaitingFor["kind"];
  /** Null: as soon as a worker or maintenance processes it. */
  readonly at: Date | null;
  /** What happens, in plain English; `at` is left out. */
  readonly sentence: string;
}

/** Why an instance waits although nothing will move it. */
export type StuckReason =
  /** No live worker serves the lane. */
  | "no_worker"
  /** All live workers have an older definition. */
  | "worker_outdated"
  /** No live process has a definition with its state. */
  | "state_undeclared"
  /** Ready for longer than `stuckAfter.ready`. */
  | "ready_too_long"
  /** Running for longer than `stuckAfter.running`: the step may hang. */
  | "running_too_long"
  /** What was due has not run: probably no process runs maintenance for it. */
  | "overdue"
  /** It failed permanently: a person must decide about its dead letter. */
  | "dead_letter"
  /** The instance keeps refusing its release. */
  | "release_refused"
  /** It refused the event that would have ended its wait, such as a timeout or `joined`. */
  | "event_refused"
  /** No reachable state accepts the event of a result that arrived. */
  | "result_unmatched"
  /** No eligible labeler is left. */
  | "unassignable"
  /** The queue of its sample is not active. */
  | "queue_inactive"
  /** Its step and its definition contradict each other. */
  | "definition_fault";

export interface Stuck {
  readonly reason: StuckReason;
  readonly since: Date;
  /** The cause in plain English; `since` is left out. */
  readonly sentence: string;
  /** What to do about it. */
  readonly remedy: string;
}
