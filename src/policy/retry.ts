import { type Duration, durationMs } from "../base/duration.ts";
import { ignoreRejection, isThenable } from "../base/guard.ts";
import { checkedOptions } from "../base/options.ts";
import type { RetryModel, RetryRule } from "../definition/model.ts";

/** How long to wait after the n-th failed attempt (from 1), given a random number in [0, 1). Milliseconds. */
export type Backoff = (failedAttempts: number, random: number) => number;

/** How often a step is tried, how long it rests in between, and what holds for certain errors instead. */
export type RetryPolicy = RetryModel;

/**
 * An exponential backoff: delays grow by `factor`; the jitter is applied before the cap, so the cap is a hard maximum.
 *
 * ```ts
 * retry: { maxAttempts: 5, backoff: exponential({ first: "2s", factor: 2, cap: "300s", jitter: 0.2 }) }
 * ```
 */
export function exponential(
  options: { first?: Duration; factor?: number; cap?: Duration; jitter?: number } = {},
): Backoff {
  checkedOptions(options, ["first", "factor", "cap", "jitter"], "exponential");
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

const standardBackoff = exponential();

/** The default policy of a state: one attempt and three retries, after 2, 4 and 8 seconds. */
export const standardRetry = { maxAttempts: 4, backoff: standardBackoff } as const satisfies RetryPolicy;

const longestPauseMs = 365 * 86_400_000;

/**
 * When an attempt that failed is tried again; undefined when its attempts are used up. A `backoff` that throws or returns no
 * number does not decide over that: the pause is then that of the standard policy.
 */
export function nextAttemptMs(policy: RetryPolicy, attempt: number, random: number): number | undefined {
  if (attempt >= policy.maxAttempts) return undefined;
  const { backoff = standardBackoff } = policy;
  try {
    return pauseOf(backoff(attempt, random)) ?? standardBackoff(attempt, random);
  } catch {
    return standardBackoff(attempt, random);
  }
}

/** A delay that the database can store; undefined for an invalid number of milliseconds. */
export function pauseOf(given: unknown): number | undefined {
  ignoreRejection(given);
  if (typeof given !== "number" || Number.isNaN(given)) return undefined;
  return Math.min(Math.max(0, given), longestPauseMs);
}

/** The rule of a policy that matches an error, if any. A rule that throws does not match. */
export function ruleFor({ rules }: RetryPolicy, error: unknown): RetryRule | undefined {
  return rules?.find(({ when }) => {
    try {
      if (typeof when === "function") return says(when(error));
      const name: unknown = error instanceof Error ? error.name : undefined;
      return typeof name === "string" && [when].flat().includes(name);
    } catch {
      return false;
    }
  });
}

/** A promise would be taken for a yes. */
function says(answer: unknown): boolean {
  ignoreRejection(answer);
  return Boolean(answer) && !isThenable(answer);
}

/** A policy as a rule of it changes it. */
export function matchingRule(policy: RetryPolicy, rule: RetryRule | undefined): RetryPolicy {
  if (rule === undefined) return policy;
  return { maxAttempts: rule.maxAttempts ?? policy.maxAttempts, backoff: rule.backoff ?? policy.backoff };
}

const networkCodes =
  /^(?:ECONN(?:RESET|REFUSED|ABORTED)|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EPIPE|EHOSTUNREACH|ENETUNREACH|UND_ERR_\w+)$/;

/** Whether an error, or its cause, is a network error, by its `code`. */
export function isNetworkError(error: unknown): boolean {
  for (let one = error, depth = 0; one instanceof Error && depth < 5; one = one.cause, depth++) {
    if (networkCodes.test(String((one as { code?: unknown }).code ?? ""))) return true;
  }
  return false;
}
