import { durationMs, formatDuration } from "../../base/duration.ts";
import { messageOf } from "../../base/errors.ts";
import type { LifecycleModel, RetryModel, StateModel } from "../../definition/model.ts";
import { pauseOf, standardRetry } from "../../policy/retry.ts";
import { declaredStates, exitsOf } from "./exits.ts";
import type { Findings } from "./finding.ts";
import type { KnownTiming } from "./timings.ts";

/** The time that a state takes until its step has failed permanently. */
export interface Budget {
  /** All attempts of one visit. */
  readonly attempts: number;
  /** All pauses between them together, at their longest. */
  readonly pausesMs: number;
}

/** Longer than this counts as for ever. */
const longestBudgetMs = 365 * 86_400_000;
/** A budget of more attempts is estimated from the first ones. */
const maxAsked = 10_000;

interface Known {
  readonly deadline: KnownTiming | undefined;
  readonly timeouts: ReadonlyMap<string, readonly KnownTiming[]>;
}

/** Deadlines, timeouts, releases and retries that do not fit together. Returns what each step may spend. */
export function checkTimes(lifecycle: LifecycleModel, known: Known, findings: Findings): Map<string, Budget> {
  const budgets = new Map<string, Budget>();
  const { deadline, timeouts } = known;
  if (deadline?.maxMs !== undefined) checkShortestWay(lifecycle, deadline.maxMs, timeouts, findings);
  for (const state of declaredStates(lifecycle)) {
    const times = timeouts.get(state.name) ?? [];
    checkTimeouts(lifecycle, state, times, deadline?.maxMs, findings);
    if (deadline?.maxMs !== undefined) checkRelease(state, deadline.maxMs, findings);
    if (state.kind !== "work") continue;
    const budget = budgetOf(state, findings);
    budgets.set(state.name, budget.most);
    checkRetries(lifecycle, state, budget, leastOf(deadline?.maxMs, leavingMs(lifecycle, state, times)), findings);
  }
  return budgets;
}

function leastOf(...given: readonly (number | undefined)[]): number | undefined {
  const known = given.filter((one) => one !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** When a timeout leaves the state for certain, at the earliest. */
function leavingMs(lifecycle: LifecycleModel, state: StateModel, times: readonly KnownTiming[]): number | undefined {
  const certain = exitsOf(lifecycle, state).filter(({ timeout, isCertain }) => timeout !== undefined && isCertain);
  return leastOf(
    ...certain.map(({ timeout }) => (times[timeout!]?.isOptional === false ? times[timeout!]!.maxMs : undefined)),
  );
}

/** The least time from the start to a good end: only states that nothing but their own timeouts can leave take any. */
function checkShortestWay(
  lifecycle: LifecycleModel,
  deadlineMs: number,
  timeouts: Known["timeouts"],
  findings: Findings,
): void {
  const reachedMs = new Map([[lifecycle.initial, 0]]);
  const open = new Set([lifecycle.initial]);
  for (;;) {
    const next = [...open].sort((one, other) => reachedMs.get(one)! - reachedMs.get(other)!)[0];
    if (next === undefined) break;
    open.delete(next);
    const state = lifecycle.states.get(next)!;
    for (const { by, event, to, timeout } of exitsOf(lifecycle, state)) {
      if (by === "worker" && event === "fail") continue;
      const takesMs = timeout === undefined ? 0 : (timeouts.get(next)?.[timeout]?.leastMs ?? 0);
      for (const target of to) {
        const atMs = reachedMs.get(next)! + takesMs;
        if (atMs >= (reachedMs.get(target) ?? Number.POSITIVE_INFINITY)) continue;
        reachedMs.set(target, atMs);
        open.add(target);
      }
    }
  }
  const ends = [...lifecycle.states.values()].filter(({ final }) => final === "success");
  const leastMs = leastOf(...ends.map(({ name }) => reachedMs.get(name)));
  if (leastMs === undefined || leastMs < deadlineMs) return;
  findings.add(
    "deadline_unmeetable",
    "error",
    {},
    `The deadline of \`${lifecycle.name}\` is ${formatDuration(deadlineMs)}, and its timeouts alone take ${formatDuration(leastMs)} on the shortest way to success.`,
    "Lengthen the `deadline`, shorten those timeouts, or add an event that leaves earlier.",
  );
}

/** Finds timeouts that never fire, because something earlier always moves the instance. */
function checkTimeouts(
  lifecycle: LifecycleModel,
  state: StateModel,
  times: readonly KnownTiming[],
  deadlineMs: number | undefined,
  findings: Findings,
): void {
  const firstMs = leavingMs(lifecycle, state, times);
  for (const [index, { send: event }] of state.timeouts.entries()) {
    const leastMs = times[index]?.leastMs;
    if (leastMs === undefined) continue;
    const about = { state: state.name, event };
    const shown = `The timeout of \`${state.name}\` that sends \`${event}\` after ${formatDuration(leastMs)}`;
    if (firstMs !== undefined && leastMs > firstMs) {
      const message = `${shown} never fires: an earlier one leaves the state after ${formatDuration(firstMs)}.`;
      findings.add(
        "timeout_unreachable",
        "warning",
        about,
        message,
        "Put the one that leaves last, or remove this one.",
      );
    } else if (deadlineMs !== undefined && leastMs >= deadlineMs) {
      const message = `${shown} never fires: the deadline of ${formatDuration(deadlineMs)} comes first.`;
      findings.add("timeout_unreachable", "warning", about, message, "Shorten the timeout, or remove it.");
    }
  }
}

function checkRelease({ name, release }: StateModel, deadlineMs: number, findings: Findings): void {
  if (release === undefined) return;
  const everyMs = durationMs(release.interval, "release.interval");
  if (everyMs < deadlineMs) return;
  findings.add(
    "release_too_slow",
    "warning",
    { state: name, event: release.send },
    `\`${name}\` is released every ${formatDuration(everyMs)}, and the deadline is ${formatDuration(deadlineMs)}: an instance can miss it while it is parked.`,
    "Release more often, or lengthen the `deadline`.",
  );
}

function checkRetries(
  lifecycle: LifecycleModel,
  { name }: StateModel,
  { most, leastMs }: { readonly most: Budget; readonly leastMs: number },
  limitMs: number | undefined,
  findings: Findings,
): void {
  const attempts = most.attempts.toLocaleString("en-US");
  if (limitMs !== undefined && most.attempts > 1 && leastMs >= limitMs) {
    findings.add(
      "retries_too_slow",
      "warning",
      { state: name },
      `The ${attempts} attempts of \`${name}\` pause for at least ${formatDuration(leastMs)}, and it has ${formatDuration(limitMs)}: the last ones are never made.`,
      "Shorten the `backoff`, lower `maxAttempts`, or lengthen the timeout or deadline.",
    );
  }
  if (limitMs !== undefined || most.pausesMs < longestBudgetMs) return;
  const days = Math.floor(most.pausesMs / 86_400_000).toLocaleString("en-US");
  findings.add(
    "budget_endless",
    "error",
    { state: name },
    `The ${attempts} attempts of \`${name}\` take up to ${days} days: a step that keeps failing in \`${lifecycle.name}\` never exhausts its attempts in practice.`,
    "Lower `maxAttempts`, or shorten the `backoff`.",
  );
}

/** All pauses of a step together, at their longest and at their shortest. */
function budgetOf(state: StateModel, findings: Findings): { readonly most: Budget; readonly leastMs: number } {
  const retry = state.retry ?? standardRetry;
  const attempts = retry.maxAttempts;
  const asked = Math.min(attempts - 1, maxAsked);
  let [maxMs, leastMs, last] = [0, 0, 0];
  for (let failure = 1; failure <= asked; failure++) {
    last = pauseAfter(retry, failure, 0.999999, state, findings);
    maxMs += last;
    leastMs += pauseAfter(retry, failure, 0, state, findings);
  }
  maxMs += last * (attempts - 1 - asked);
  return { most: { attempts, pausesMs: maxMs }, leastMs };
}

/** One pause. What throws or returns no number is replaced by the standard one, as the engine does. */
function pauseAfter(
  { backoff }: RetryModel,
  failure: number,
  random: number,
  { name: state }: StateModel,
  findings: Findings,
): number {
  if (backoff === undefined) return standardRetry.backoff(failure, random);
  let problem = "did not return a number of milliseconds";
  try {
    const ms = pauseOf(backoff(failure, random));
    if (ms !== undefined) return ms;
  } catch (error) {
    problem = `threw: ${messageOf(error)}`;
  }
  const isKnown = findings.list.some((one) => one.code === "function_failed" && one.state === state);
  if (!isKnown) {
    const message = `The \`backoff\` of \`${state}\` ${problem} for failure ${failure}; the engine uses the default pause instead.`;
    findings.add("function_failed", "error", { state }, message, "Return a number of milliseconds for every attempt.");
  }
  return standardRetry.backoff(failure, random);
}
