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
  /** Why nothing will move it until somebody acts; null while something will. */
  readonly stuck: Stuck | null;
  /** What it failed of, its budget of failures, and what a recovery would do; null where a newer definition decides that. */
  readonly recovery: RecoveryExplanation | null;
  /** State, waits, next and stuck in plain English. */
  readonly sentences: readonly string[];
}

/** Who or what ends a wait: a worker, the passing of time, a person, or a system outside of Pawl. */
export type WaitEndedBy = "worker" | "clock" | "person" | "outside";

interface Wait {
  readonly since: Date;
  /** When something happens by itself; null when that is not known, or nothing does. */
  readonly until: Date | null;
  readonly by: WaitEndedBy;
  readonly sentence: string;
}

/** A task in its lane. */
interface LaneWait extends Wait {
  readonly lane: string;
  /** The attempt that runs, or that comes next; from 1. */
  readonly attempt: number;
}

interface ReadyWait extends LaneWait {
  readonly status: "ready";
  /** Why no worker has claimed it yet. */
  readonly notClaimed: NotClaimed;
}

interface ScheduledWait extends LaneWait {
  readonly status: "scheduled";
  readonly maxAttempts: number | null;
  /** What the attempt before failed of, or why it was put off. */
  readonly error: string | null;
}

interface RunningWait extends LaneWait {
  readonly status: "running";
  readonly worker: string;
  readonly leaseUntil: Date;
  readonly progress: { readonly fraction: number; readonly note: string | null } | null;
}

type TaskWait = ReadyWait | ScheduledWait | RunningWait;

/** One thing that an instance waits for, by its kind. */
export type WaitingFor =
  /** The step of a state that works. */
  | ({ readonly kind: "step" } & TaskWait)
  /** The recovery of a failed instance. */
  | ({ readonly kind: "recovery"; readonly target: string | null } & TaskWait)
  /** An after-effect, or events on their way to other instances. */
  | ({ readonly kind: "effect"; readonly event: string | null } & TaskWait)
  /** Events that may be sent to it. `end` is the timer that ends the wait; null: it waits for ever. */
  | ({ readonly kind: "events"; readonly events: readonly string[]; readonly end: WaitEnd | null } & Wait)
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
  /** A question that is about to be put to people or to a crowd. */
  | ({ readonly kind: "question" } & Wait)
  /** Labels by people. */
  | ({
      readonly kind: "people";
      readonly queue: string;
      readonly sample: string;
      readonly wanted: number;
      readonly given: number;
      /** Labelers who have it in hand. */
      readonly heldBy: readonly string[];
      /** Who may label it; null: anybody. */
      readonly labelers: readonly string[] | null;
      readonly skills: readonly string[];
    } & Wait)
  | ({ readonly kind: "crowd_job"; readonly lifecycle: string; readonly job: string; readonly state: string } & Wait)
  /** A result from outside, for which a token was issued. */
  | ({ readonly kind: "callback"; readonly event: string; readonly tokens: number; readonly expiresAt: Date } & Wait)
  /** A result that came, and that waits for a state that takes its event. */
  | ({ readonly kind: "result"; readonly callback: string; readonly event: string; readonly reachable: boolean } & Wait)
  /** A decision by a person. */
  | ({ readonly kind: "person"; readonly deadLetter: string | null; readonly reason: string } & Wait)
  /** A definition that allows what its own step did. */
  | ({ readonly kind: "definition_fault"; readonly lane: string; readonly error: string } & Wait)
  /** A process with the definition that moved it last, or a newer one. */
  | ({ readonly kind: "newer_definition"; readonly definition: number; readonly process: number } & Wait);

/** What ends a wait for events by itself. */
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
  | { readonly reason: "breaker"; readonly breaker: string; readonly until: Date | null; readonly why: string }
  | { readonly reason: "limit"; readonly limit: number }
  | { readonly reason: "rate"; readonly rate: string; readonly until: Date | null }
  | { readonly reason: "no_worker" }
  /** Live workers have an older version of the definition only. */
  | { readonly reason: "worker_outdated"; readonly version: number; readonly newest: number }
  /** Workers serve the lane, and its turn comes. */
  | { readonly reason: "in_turn" };

/** What happens next by itself. */
export interface NextAutomaticStep {
  readonly kind: WaitingFor["kind"];
  /** Null: as soon as a worker or maintenance comes to it. */
  readonly at: Date | null;
  readonly sentence: string;
}

/** Why something waits and nothing will move it. */
export type StuckReason =
  /** No live worker serves the lane. */
  | "no_worker"
  /** All live workers have an older definition. */
  | "worker_outdated"
  /** Ready for longer than `readyAfter`. */
  | "ready_too_long"
  /** What was due has not happened: does any process run maintenance for it? */
  | "overdue"
  /** Given up: a person decides. */
  | "dead_letter"
  /** The instance goes on refusing its release. */
  | "release_refused"
  /** It refused what would have ended its wait, such as a timeout or `joined`. */
  | "event_refused"
  /** A result came that no state ahead takes. */
  | "result_unmatched"
  /** No eligible labeler is left. */
  | "unassignable"
  /** The queue of its sample hands out nothing. */
  | "queue_inactive"
  /** Its step and its definition contradict each other. */
  | "definition_fault";

export interface Stuck {
  readonly reason: StuckReason;
  readonly since: Date;
  readonly sentence: string;
}
