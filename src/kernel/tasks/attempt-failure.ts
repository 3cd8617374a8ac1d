import { messageOf } from "../../base/errors.ts";
import { cleanText } from "../../base/json.ts";
import { PermanentError, TransientError } from "../../base/step-errors.ts";
import type { Failure, ThrownError } from "../../definition/language/built-in.ts";
import type { ClaimedTask } from "../types/claimed-task.ts";

/** A failed attempt, as it is recorded: values that cannot be stored are cleaned, long ones are cut. */
export interface AttemptFailure {
  readonly kind: "attempt_failed";
  readonly what: "failed" | "lapsed";
  /** No further attempt can help. */
  readonly final: boolean;
  readonly retryAfterMs: number | undefined;
  /** The thrown value; undefined if nothing was thrown. */
  readonly thrown: unknown;
  readonly payload: Failure;
}

type Failed =
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "gave_up"; readonly reason: string; readonly error?: unknown }
  | { readonly kind: "lapsed" };

export function attemptFailureOf(task: Pick<ClaimedTask, "attempt">, outcome: Failed): AttemptFailure {
  const attempts = task.attempt;
  if (outcome.kind === "lapsed") {
    return {
      kind: "attempt_failed",
      what: "lapsed",
      final: false,
      retryAfterMs: undefined,
      thrown: undefined,
      payload: { reason: "lease_exhausted", attempts, error: null, type: null },
    };
  }
  const error = outcome.error === undefined ? null : describeError(outcome.error);
  const type = error?.name ?? null;
  if (outcome.kind === "gave_up") {
    const reason = cleanText(outcome.reason, 500);
    return {
      kind: "attempt_failed",
      what: "failed",
      final: true,
      retryAfterMs: undefined,
      thrown: undefined,
      payload: { reason, attempts, error, type },
    };
  }
  const final = outcome.error instanceof PermanentError;
  const retryAfterMs = outcome.error instanceof TransientError ? outcome.error.retryAfterMs : undefined;
  return {
    kind: "attempt_failed",
    what: "failed",
    final,
    retryAfterMs,
    thrown: outcome.error,
    payload: { reason: final ? "permanent_error" : "attempts_used_up", attempts, error, type },
  };
}

/** The thrown value, as it is stored. */
export function describeError(error: unknown): ThrownError {
  const message = cleanText(messageOf(error), 2_000);
  if (!(error instanceof Error)) return { name: "thrown", message };
  // An error may be anything underneath: its name a number, its stack a getter that throws.
  const name = textOf(() => error.name, 200) ?? "Error";
  const code = textOf(() => (error as { code?: unknown }).code, 100);
  const stack = textOf(() => error.stack, 5_000);
  return { name, message, ...(code === undefined ? {} : { code }), ...(stack === undefined ? {} : { stack }) };
}

function textOf(read: () => unknown, most: number): string | undefined {
  try {
    const text = read();
    return text === undefined ? undefined : cleanText(String(text), most);
  } catch {
    return undefined;
  }
}
