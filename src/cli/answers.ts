import type { Json } from "../base/json.ts";
import type { Pawl } from "../pawl.ts";
import type { Callback, DeadLetter } from "../shown.ts";

/** What the verbs answer, as it comes over a socket: dates are ISO texts. */
export type InJson<T> = T extends Date
  ? string
  : T extends Json // What is JSON already, and may be nested for ever.
    ? T
    : T extends object
      ? { readonly [Key in keyof T]: InJson<T[Key]> }
      : T;

/** One of those that a verb lists. */
type Each<Verb extends keyof Pawl> = Pawl[Verb] extends (...args: never[]) => Promise<readonly (infer One)[]>
  ? InJson<One>
  : never;

export interface InstanceAnswer {
  readonly id: string;
  readonly key: string | null;
  readonly lifecycle: string;
  readonly definition: number;
  readonly state: string;
  readonly version: number;
  readonly data: Readonly<Record<string, unknown>>;
  readonly outcome: "success" | "failure" | "discarded" | null;
  readonly createdAt: string;
  readonly movedAt: string;
  readonly closedAt: string | null;
  readonly deadlineAt: string | null;
  readonly timedOutAt: string | null;
  readonly failure: {
    readonly reason: string;
    readonly error: { readonly name: string; readonly message: string } | null;
    readonly at: string;
    readonly state: string;
  } | null;
  readonly parent: { readonly lifecycle: string; readonly id: string } | null;
  readonly progress?: { readonly fraction: number; readonly note: string | null; readonly at: string };
}

export interface ChildrenAnswer {
  readonly total: number;
  readonly open: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly discarded: number;
  readonly first: readonly {
    readonly id: string;
    readonly lifecycle: string;
    readonly key: string | null;
    readonly state: string;
    readonly outcome: InstanceAnswer["outcome"];
  }[];
}

export interface StateAnswer {
  readonly name: string;
  readonly kind: string;
  readonly final: "success" | "failure" | null;
  readonly instances: number;
}

export interface LifecycleAnswer {
  readonly name: string;
  readonly version: number;
  readonly initial: string;
  readonly states: readonly StateAnswer[];
}

export interface MoveAnswer {
  readonly kind: "move";
  readonly version: number;
  readonly event: string;
  readonly from: string | null;
  readonly to: string;
  readonly at: string;
  readonly source: string;
  readonly actor: string | null;
  readonly reason: string | null;
  readonly payload: unknown;
  readonly patch: Readonly<Record<string, unknown>> | null;
  readonly cleared: readonly string[] | null;
}

export interface AttemptAnswer {
  readonly kind: "attempt";
  readonly what: string;
  readonly at: string;
  readonly lane: string | null;
  readonly attempt: number | null;
  readonly worker: string | null;
  readonly detail: unknown;
  readonly endedAt: string | null;
  readonly outcome: string | null;
}

export interface PermissionAnswer {
  readonly event: string;
  readonly permitted: "yes" | "no" | "depends";
  readonly blockers?: readonly { readonly reason: string }[];
}

export type DeadLetterAnswer = InJson<DeadLetter>;

export type CallbackAnswer = InJson<Callback>;

export interface ScheduleAnswer {
  readonly name: string;
  readonly timing: string;
  readonly starts: string;
  readonly status: "active" | "paused" | "new" | "orphaned";
  readonly nextAt: string | null;
  readonly last: {
    readonly tick: string;
    readonly at: string;
    readonly result: string;
    readonly error: string | null;
  } | null;
}

export type BreakerAnswer = Each<"breakers">;

export type FlipAnswer = Each<"breakerFlips">;

export type LaneAnswer = Each<"lanes">;

export interface OutboxTypeAnswer {
  readonly type: string;
  readonly pending: number;
  readonly held: number;
  readonly dead: number;
  readonly oldestPendingAt: string | null;
}

export interface OutboxAnswer {
  readonly lag: {
    readonly pending: number;
    readonly dead: number;
    readonly unrouted: number;
    readonly oldestPendingMs: number | null;
  };
  readonly types: readonly OutboxTypeAnswer[];
}

export interface MessageAnswer {
  readonly id: string;
  readonly type: string;
  readonly aggregate: { readonly type: string; readonly id: string };
  readonly status: "pending" | "published" | "dead" | "discarded";
  readonly createdAt: string;
  readonly retryCount: number;
  readonly error: string | null;
  readonly behind: boolean;
}

export type WorkerAnswer = Each<"workers">;

export interface JobAnswer {
  readonly id: string;
  readonly key: string | null;
  readonly job: string;
  readonly status: "pending" | "running" | "done" | "error";
  readonly attempt: number | null;
  readonly enqueuedAt: string;
  readonly runsAt: string | null;
  readonly endedAt: string | null;
}
