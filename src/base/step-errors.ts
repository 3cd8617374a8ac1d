import { PawlError } from "./errors.ts";

/** Throw this when a retry cannot help: the step fails at once. */
export class PermanentError extends Error {
  override readonly name = "PermanentError";
}

/** Throw this when the surroundings failed for a while: a retry without an alert, after `retryAfterMs` when it is given. */
export class TransientError extends Error {
  override readonly name = "TransientError";
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: { retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Throw this from a crowd's `onSubmitted`: the submission is rejected, and its worker receives the message. */
export class RejectSubmission extends Error {
  override readonly name = "RejectSubmission";
}

/**
 * Thrown by `step.call` while the breaker of its dependency is open. A step that does not catch it is deferred until
 * the breaker may let it through, and its attempt does not count.
 */
export class CircuitOpenError extends PawlError {
  readonly breaker: string;
  /** When it may be worth trying again. */
  readonly retryAfterMs: number;

  constructor(breaker: string, message: string, retryAfterMs: number) {
    super("circuit_open", message, { breaker, retryAfterMs });
    this.name = "CircuitOpenError";
    this.breaker = breaker;
    this.retryAfterMs = retryAfterMs;
  }
}
