/** What the verbs answer, as it comes over a socket: dates are ISO texts. */

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
}

export interface PermissionAnswer {
  readonly event: string;
  readonly permitted: "yes" | "no" | "depends";
  readonly blockers?: readonly { readonly reason: string }[];
}

export interface DeadLetterAnswer {
  readonly id: string;
  readonly instance: string | null;
  readonly key: string | null;
  readonly lifecycle: string;
  readonly kind: "instance" | "effect" | "message" | "broker";
  readonly origin: string;
  readonly reason: string;
  readonly error: { readonly name: string; readonly message: string; readonly stack?: string } | null;
  readonly attempts: number;
  readonly payload: unknown;
  readonly details: unknown;
  readonly fingerprint: string;
  readonly status: "open" | "requeued" | "discarded" | "archived";
  readonly createdAt: string;
  readonly decidedAt: string | null;
  readonly decidedBy: string | null;
  readonly decision: string | null;
}

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

export interface BreakerAnswer {
  readonly name: string;
  readonly state: "closed" | "open" | "half_open";
  readonly since: string | null;
  readonly openUntil: string | null;
  readonly forced: "open" | "closed" | null;
  readonly reason: string | null;
  readonly actor: string | null;
  readonly calls: { readonly good: number; readonly failed: number };
  readonly probes: {
    readonly done: number;
    readonly good: number;
    readonly needed: number;
    readonly underWay: boolean;
  };
  readonly usedBy: readonly string[];
}

export interface FlipAnswer {
  readonly flip: number;
  readonly from: string;
  readonly to: string;
  readonly cause: string;
  readonly good: number;
  readonly failed: number;
  readonly reason: string | null;
  readonly actor: string | null;
  readonly at: string;
}

export interface LaneAnswer {
  readonly lane: string;
  readonly lifecycle: string;
  readonly ready: number;
  readonly scheduled: number;
  readonly running: number;
  readonly oldestMs: number | null;
  readonly limit: number | null;
  readonly rate: string | null;
  readonly closed: { readonly since: string; readonly reason: string; readonly actor: string | null } | null;
}

export interface OutboxTypeAnswer {
  readonly type: string;
  readonly pending: number;
  readonly held: number;
  readonly dead: number;
  readonly oldestPendingAt: string | null;
}

export interface OutboxAnswer {
  readonly lag: { readonly pending: number; readonly dead: number; readonly oldestPendingMs: number | null };
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

export interface WorkerAnswer {
  readonly id: string;
  readonly pawl: string;
  readonly startedAt: string;
  readonly heartbeatAt: string;
  readonly silent: boolean;
  readonly stopping: boolean;
  readonly state: string;
  readonly slots: Readonly<Record<string, number>>;
  readonly concurrency: number;
  readonly tasks: Readonly<Record<string, number>>;
  readonly lanes: readonly string[];
}

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
