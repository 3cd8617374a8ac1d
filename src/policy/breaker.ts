import { type Duration, durationMs } from "../base/duration.ts";
import { isPawlError, PawlError } from "../base/errors.ts";
import { checkedOptions, optionNames } from "../base/options.ts";
import { PermanentError } from "../base/step-errors.ts";
import { checkedText } from "../base/text.ts";

/** How the breaker of one outside dependency behaves. */
export interface BreakerOptions {
  /**
   * The time window of the calls that count.
   * @default "1m"
   */
  readonly window?: Duration;
  /**
   * It opens when more than this part of the calls failed.
   * @default 0.5
   */
  readonly threshold?: number;
  /**
   * With fewer calls than this it does not open.
   * @default 10
   */
  readonly minimum?: number;
  /**
   * How long it stays open before it lets a first probe through.
   * @default "30s"
   */
  readonly openFor?: Duration;
  /**
   * The longest pause that a dependency can request with `retryAfterMs`.
   * @default "1h"
   */
  readonly openAtMost?: Duration;
  /**
   * How many probes, one at a time, must end before it closes.
   * @default 5
   */
  readonly probes?: number;
  /**
   * It closes when more than this part of the probes succeeded. Any failed probe opens it again.
   * @default 0.8
   */
  readonly healthy?: number;
  /**
   * The ramp after closing: the limit of concurrent steps doubles each second for this long.
   * @default "10s"
   */
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

/** Why a breaker changed its state. */
export type BreakerCause = "failures" | "rested" | "probe_failed" | "probes_passed" | "forced" | "released";

const slices = 12;
const keys = optionNames<BreakerOptions>({
  window: true,
  threshold: true,
  minimum: true,
  openFor: true,
  openAtMost: true,
  probes: true,
  healthy: true,
  ramp: true,
  publish: true,
});

/** The options of a breaker, with defaults; throws `option_invalid` with the name of the option. */
export function breakerPolicy(name: string, options: BreakerOptions = {}): BreakerPolicy {
  const of = `\`breakers\`: the breaker \`${name}\``;
  checkedOptions(options, keys, `breakers.${name}`);
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

/** The policy of a breaker without configuration. */
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

/** How one call counts for the dependency: an error that the dependency did not cause does not count. */
export type Verdict = "good" | "failed" | null;

/** How a throw counts: an invalid request, and a refusal of Pawl itself, do not count. */
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

/** How long it stays open: as long as the dependency requested, within the limits. */
export function pauseOf(policy: BreakerPolicy, askedMs: number | null): number {
  return Math.min(Math.max(policy.openForMs, askedMs ?? 0), policy.openAtMostMs);
}

/** The next state after these probes; undefined if another probe is needed. */
export function afterProbes(
  policy: BreakerPolicy,
  { done, good }: { readonly done: number; readonly good: number },
): "open" | "closed" | undefined {
  if (good < done) return "open";
  return done >= policy.probes && good / done > policy.healthy ? "closed" : undefined;
}

const rampStepMs = 1_000;

/**
 * The limit of concurrent steps after it has been closed for this long: the number of probes, doubled each second, so
 * that a recovered dependency is not overloaded by everything that has waited. Undefined: no limit.
 */
export function rampLimit(policy: BreakerPolicy, closedForMs: number): number | undefined {
  if (closedForMs >= policy.rampMs) return undefined;
  const doubled = Math.min(Math.floor(Math.max(0, closedForMs) / rampStepMs), 20);
  return policy.probes * 2 ** doubled;
}
