/** Throw this when trying again cannot help: the step gives up at once. */
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
