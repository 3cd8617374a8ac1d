/** Payloads of the events that Pawl itself sends. */

/** The payload of a failure: `on: { fail: … }` of a state and the built-in event `fail` get it. */
export interface Failure {
  /**
   * Why it failed: `attempts_used_up`, `permanent_error`, `lease_exhausted`, `deadline`, `timeout`, `child_failed`, or
   * the reason of a person or of `giveUp`.
   */
  readonly reason: string;
  /** The last error that was thrown; null when nothing was. */
  readonly error: ThrownError | null;
  /** The type of the failure by the rules of `retry`; without a matching rule the name of the error. */
  readonly type: string | null;
  /** How many attempts the step had. */
  readonly attempts: number;
  /** The child that failed, when a `join` failed by it. */
  readonly child?: { readonly lifecycle: string; readonly id: string; readonly key: string | null };
}

/** A stored error. */
export interface ThrownError {
  readonly name: string;
  readonly message: string;
  /** Such as `ECONNRESET`, where it has one. */
  readonly code?: string;
  readonly stack?: string;
}

/** `answered`: the answer of people or a crowd. */
export interface Answered<Label> {
  readonly consensus: Label;
  readonly labels: readonly Label[];
  /** The agreement of the labels, from 0 to 1; null for one label alone. */
  readonly agreement: number | null;
}

/** `unanswered`: there will be no answer. */
export interface Unanswered<Label> {
  readonly reason: string;
  /** The labels that were submitted. */
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
