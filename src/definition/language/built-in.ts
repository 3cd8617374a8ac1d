/** Payloads of the events that Pawl itself sends. */

/** What a failure carries: `on: { fail: … }` of a state and the built-in event `fail` get it. */
export interface Failure {
  /** Why it failed: `attempts_used_up`, `permanent_error`, `lease_exhausted`, `deadline`, `timeout`, `child_failed`, or what a person or `giveUp` said. */
  readonly reason: string;
  /** The last error that was thrown; null when nothing was. */
  readonly error: ThrownError | null;
  /** What kind of failure the rules of `retry` say it is; the name of the error where they say nothing. */
  readonly type: string | null;
  /** How many attempts the step had. */
  readonly attempts: number;
  /** The child that failed, when a `join` failed by it. */
  readonly child?: { readonly lifecycle: string; readonly id: string; readonly key: string | null };
}

/** An error as it is kept. */
export interface ThrownError {
  readonly name: string;
  readonly message: string;
  /** Such as `ECONNRESET`, where it has one. */
  readonly code?: string;
  readonly stack?: string;
}

/** `answered`: what people or a crowd said. */
export interface Answered<Label> {
  readonly consensus: Label;
  readonly labels: readonly Label[];
  /** How far the labels agree, from 0 to 1; null for one label alone. */
  readonly agreement: number | null;
}

/** `unanswered`: there is no answer to be had. */
export interface Unanswered<Label> {
  readonly reason: string;
  /** The labels that did come. */
  readonly labels: readonly Label[];
}

/** `joined`: all children have ended. */
export interface Joined {
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly discarded: number;
}

export type BuiltInEvent = "fail" | "recover" | "restart" | "discard";
export type BuiltInState = "failed" | "discarded";
