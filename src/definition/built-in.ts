/** Payloads of the events that Pawl itself sends. */

/** What a failure carries: `on: { fail: … }` of a state and the built-in event `fail` get it. */
export interface Failure {
  /** Why it failed: `attempts_used_up`, `timeout`, or what a person or `giveUp` said. */
  readonly reason: string;
  /** The last error that was thrown; null when nothing was. */
  readonly error: { readonly name: string; readonly message: string; readonly stack?: string } | null;
  /** How many attempts the step had. */
  readonly attempts: number;
  /** The child that failed, when a `join` failed by it. */
  readonly child?: { readonly lifecycle: string; readonly id: string; readonly key: string | null };
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
