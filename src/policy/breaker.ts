import { type Duration, durationMs } from "../base/duration.ts";
import { isPawlError, PawlError } from "../base/errors.ts";
import { PermanentError } from "../base/step-errors.ts";
import { checkedText } from "../base/text.ts";

/** How the breaker of one outside dependency behaves. */
export interface BreakerOptions {
  /** The stretch of time whose calls are looked at; `"1m"` unless given. */
  readonly window?: Duration;
  /** It opens when more than this part of the calls failed; 0.5 unless given. */
  readonly threshold?: number;
  /** Fewer calls than this tell nothing; 10 unless given. */
  readonly minimum?: number;
  /** How long it stays open before it lets a first probe through; `"30s"` unless given. */
  readonly openFor?: Duration;
  /** The longest pause that a dependency can ask for with `retryAfterMs`; `"1h"` unless given. */
  readonly openAtMost?: Duration;
  /** How many probes, one at a time, must have ended before it closes; 5 unless given. */
  readonly probes?: number;
  /** It closes when more than this part of the probes went well; 0.8 unless given. Any that failed opens it again. */
  readonly healthy?: number;
  /** After it has closed, how long the number of steps at once is held back, doubled each second; `"10s"` unless given. */
  readonly ramp?: Duration;
  /** The type of the message that each change of its state puts into the outbox, such as `"pawl.breaker"`. Defaults to none. */
  readonly publish?: string | false;
}

/** The same, checked and complete. */
export interface BreakerPolicy {
  readonly windowMs: number;
  /** The grain of the window: calls are counted by the slice of time that they ended in. */
  readonly sliceMs: number;
  readonly threshold: number;
  readonly minimum: number;
  readonly openForMs: number;
  readonly openAtMostMs: number;
  readonly probes: number;
  readonly healthy: number;
  readonly rampMs: number;
  readonly publish: string | null;
}

export type BreakerState = "closed" | "open" | "half_open";

/** Why a breaker went from one state to another. */
export type FlipCause = "failures" | "rested" | "probe_failed" | "probes_passed" | "forced" | "released";

const slices = 12;
const keys = ["window", "threshold", "minimum", "openFor", "openAtMost", "probes", "healthy", "ramp", "publish"];

/** What was given for one breaker, with the defaults for the rest; throws `option_invalid` that names the setting. */
export function breakerPolicy(name: string, options: BreakerOptions = {}): BreakerPolicy {
  const of = `\`breakers\`: the breaker \`${name}\``;
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw new PawlError("option_invalid", `${of} takes an object with any of ${keys.join(", ")}.`);
  const stray = Object.keys(options).find((key) => !keys.includes(key));
  if (stray !== undefined)
    throw new PawlError("option_invalid", `${of} has no setting \`${stray}\`; there are ${keys.join(", ")}.`);
  const time = (key: "window" | "openFor" | "openAtMost" | "ramp", standard: Duration, leastMs: number) => {
    const ms = durationMs(options[key] ?? standard, `${of}: \`${key}\``);
    if (ms >= leastMs) return ms;
    throw new PawlError("option_invalid", `${of}: \`${key}\` must be at least ${leastMs} milliseconds.`);
  };
  const whole = (key: "minimum" | "probes", standard: number, most: number) => {
    const count = options[key] ?? standard;
    if (Number.isInteger(count) && count >= 1 && count <= most) return count;
    throw new PawlError("option_invalid", `${of}: \`${key}\` must be a whole number from 1 to ${most}.`);
  };
  const share = (key: "threshold" | "healthy", standard: number) => {
    const part = options[key] ?? standard;
    if (typeof part === "number" && part >= 0 && part < 1) return part;
    throw new PawlError("option_invalid", `${of}: \`${key}\` must be a number from 0 to less than 1, such as 0.5.`);
  };
  const { publish = false } = options;
  const windowMs = time("window", "1m", 1_000);
  const openForMs = time("openFor", "30s", 100);
  return {
    windowMs,
    sliceMs: windowMs / slices,
    threshold: share("threshold", 0.5),
    minimum: whole("minimum", 10, 1_000_000),
    openForMs,
    openAtMostMs: Math.max(openForMs, time("openAtMost", "1h", 100)),
    probes: whole("probes", 5, 1_000),
    healthy: share("healthy", 0.8),
    rampMs: time("ramp", "10s", 0),
    publish: publish === false ? null : checkedText(publish, `${of}: \`publish\``),
  };
}

/** What a breaker gets that nobody configured. */
export const standardBreaker = breakerPolicy("standard");

/** The policies of all breakers that are configured, by name. */
export function breakerPolicies(given: unknown): Map<string, BreakerPolicy> {
  if (given === undefined) return new Map();
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw new PawlError("option_invalid", '`breakers` must be an object: { llm: { openFor: "30s" } }.');
  const named = Object.entries(given) as [string, BreakerOptions][];
  return new Map(named.map(([name, one]) => [checkedBreaker(name), breakerPolicy(name, one)]));
}

export function checkedBreaker(name: unknown): string {
  return checkedText(name, "The name of a breaker");
}

/** What one call tells about the dependency: nothing when it was not the dependency that said no. */
export type Verdict = "good" | "failed" | null;

/** What a throw tells: a request that can never be right, and a refusal of Pawl itself, tell nothing. */
export function verdictOn(error: unknown): Verdict {
  return error instanceof PermanentError || isPawlError(error) ? null : "failed";
}

/** The beginning of the slice of time that a moment is in. */
export function sliceOf(policy: BreakerPolicy, atMs: number): number {
  return Math.floor(atMs / policy.sliceMs) * policy.sliceMs;
}

/** Whether a closed breaker opens: enough calls in the window, and more than the threshold of them failed. */
export function trips(policy: BreakerPolicy, calls: { readonly good: number; readonly failed: number }): boolean {
  const all = calls.good + calls.failed;
  return all >= policy.minimum && calls.failed / all > policy.threshold;
}

/** How long it stays open: as long as it was asked to, but no shorter than usual and not for ever. */
export function pauseOf(policy: BreakerPolicy, askedMs: number | null): number {
  return Math.min(Math.max(policy.openForMs, askedMs ?? 0), policy.openAtMostMs);
}

/** What the probes so far lead to; undefined when another one is needed. */
export function afterProbes(
  policy: BreakerPolicy,
  { done, good }: { readonly done: number; readonly good: number },
): "open" | "closed" | undefined {
  if (good < done) return "open";
  return done >= policy.probes && good / done > policy.healthy ? "closed" : undefined;
}

const rampStepMs = 1_000;

/**
 * How many steps may run at once when it has been closed for so long: as many as there were probes, and twice as many each
 * second, so that what has just healed is not flooded by all that has waited. Undefined: any number again.
 */
export function rampLimit(policy: BreakerPolicy, closedForMs: number): number | undefined {
  if (closedForMs >= policy.rampMs) return undefined;
  const doubled = Math.min(Math.floor(Math.max(0, closedForMs) / rampStepMs), 20);
  return policy.probes * 2 ** doubled;
}
