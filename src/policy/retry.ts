import { type Duration, durationMs } from "../base/duration.ts";

/** How long to wait after the n-th failed attempt (from 1), given a random number in [0, 1). Milliseconds. */
export type Backoff = (failedAttempts: number, random: number) => number;

/** How often a step is tried, and how long it rests in between. */
export interface RetryPolicy {
  /** All attempts, the first one included. */
  readonly maxAttempts: number;
  readonly backoff: Backoff;
}

/**
 * Pauses that grow by `factor`: first the jitter, then the cap, so that the cap is the most there ever is.
 *
 * ```ts
 * retry: { maxAttempts: 5, backoff: exponential({ first: "2s", factor: 2, cap: "300s", jitter: 0.2 }) }
 * ```
 */
export function exponential(
  options: { first?: Duration; factor?: number; cap?: Duration; jitter?: number } = {},
): Backoff {
  const firstMs = durationMs(options.first ?? "2s", "exponential({ first })");
  const capMs = durationMs(options.cap ?? "300s", "exponential({ cap })");
  const factor = options.factor ?? 2;
  const jitter = options.jitter ?? 0.2;
  return (failedAttempts, random) => {
    const pauseMs = firstMs * factor ** (failedAttempts - 1);
    return Math.round(Math.min(pauseMs * (1 - jitter + 2 * jitter * random), capMs));
  };
}

/** The same pause each time. */
export function constant(pause: Duration): Backoff {
  const ms = durationMs(pause, "constant()");
  return () => ms;
}

/** What a state gets that names no policy: one attempt and three retries, after 2, 4 and 8 seconds. */
export const standardRetry: RetryPolicy = { maxAttempts: 4, backoff: exponential() };

/** When an attempt that failed is tried again; undefined when its attempts are used up. */
export function nextAttemptMs(policy: RetryPolicy, attempt: number, random: number): number | undefined {
  return attempt >= policy.maxAttempts ? undefined : Math.max(0, policy.backoff(attempt, random));
}
