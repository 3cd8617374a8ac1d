import { durationMs, formatDuration } from "../../base/duration.ts";
import { messageOf } from "../../base/errors.ts";
import type { Refusal } from "../../definition/decide/decide.ts";
import type { InstanceModel } from "../../definition/decide/instance.ts";
import { planRecovery, type RecoveryPlan } from "../../definition/decide/recover.ts";
import { failed, type LifecycleModel, type StateModel } from "../../definition/model.ts";
import { recoveryWarnings } from "../../definition/read/check-recovery.ts";
import { canFailForGood, declaredStates } from "./exits.ts";
import type { Findings } from "./finding.ts";
import type { KnownTiming, Samples } from "./timings.ts";

/** What follows on a failure in one state. */
export type FailureRoute =
  /** It recovers by itself: after this delay, through these states. */
  | { readonly kind: "recovers"; readonly afterMs: number; readonly states: readonly string[] }
  /** It stays failed until a person acts. */
  | { readonly kind: "person"; readonly reason: string }
  /** The state cannot fail into `failed`. */
  | { readonly kind: "none" };

/**
 * Plans a recovery, as the engine does, after a failure in each state: with guards that all hold, with guards that all
 * refuse, and with the real guards for each example.
 */
export function checkRecoveries(
  lifecycle: LifecycleModel,
  known: { readonly deadline: KnownTiming | undefined; readonly samples: Samples },
  findings: Findings,
): Map<string, FailureRoute> {
  const routes = new Map<string, FailureRoute>();
  for (const state of declaredStates(lifecycle)) {
    routes.set(state.name, canFailForGood(lifecycle, state) ? routeOf(lifecycle, state) : { kind: "none" });
  }
  const { recovery } = lifecycle;
  if (recovery === undefined || !lifecycle.builtIns) return routes;
  checkTime(lifecycle, known.deadline, findings);
  for (const { problem, remedy } of recoveryWarnings(lifecycle))
    findings.add("join_skipped", "warning", { state: failed, event: recovery.fallback! }, problem, remedy);
  for (const [name, route] of routes) {
    if (route.kind === "none") continue;
    const refusals = refusalsAfter(lifecycle, name, known.samples, findings);
    if (refusals.length > 0) describe(name, refusals, known.samples.length > 0, findings);
  }
  return routes;
}

function routeOf(lifecycle: LifecycleModel, { name }: StateModel): FailureRoute {
  const { recovery } = lifecycle;
  if (recovery === undefined) return { kind: "person", reason: "no `recovery` is declared" };
  const plan = plannedAfter(
    withGuards(lifecycle, () => true),
    name,
    {},
  );
  if (plan.kind === "refused") return { kind: "person", reason: plan.blockers.map(({ reason }) => reason).join("; ") };
  const afterMs = durationMs(recovery.after, "recovery.after");
  return { kind: "recovers", afterMs, states: plan.decisions.map(({ to }) => to) };
}

/** A recovery after the deadline is never made: the failure is left to a person at once. */
function checkTime(lifecycle: LifecycleModel, deadline: KnownTiming | undefined, findings: Findings): void {
  const { recovery, name } = lifecycle;
  if (deadline?.maxMs === undefined || recovery === undefined) return;
  const afterMs = durationMs(recovery.after, "recovery.after");
  const within = formatDuration(deadline.maxMs);
  if (afterMs >= deadline.maxMs) {
    findings.add(
      "recovery_too_late",
      "error",
      {},
      `\`${name}\` recovers ${formatDuration(afterMs)} after a failure, and its deadline is ${within}: it never recovers by itself.`,
      "Shorten `recovery.after`, or lengthen the `deadline`.",
    );
  } else if (afterMs * (recovery.maxFailures - 1) >= deadline.maxMs) {
    const used = Math.ceil(deadline.maxMs / afterMs);
    findings.add(
      "recovery_too_late",
      "warning",
      {},
      `Of the ${recovery.maxFailures} failures that \`${name}\` may have, at most ${used} fit before its deadline of ${within}.`,
      "Shorten `recovery.after`, lower `maxFailures`, or lengthen the `deadline`.",
    );
  }
}

/** The refusals that a recovery after a failure in this state may meet. */
function refusalsAfter(lifecycle: LifecycleModel, state: string, samples: Samples, findings: Findings): Refusal[] {
  if (samples.length === 0) {
    const plan = plannedAfter(
      withGuards(lifecycle, () => "its guard refuses"),
      state,
      {},
    );
    return plan.kind === "refused" ? [plan] : [];
  }
  return samples.flatMap((data) => {
    try {
      const plan = plannedAfter(lifecycle, state, data);
      return plan.kind === "refused" ? [plan] : [];
    } catch (error) {
      const message = `A recovery after a failure in \`${state}\` throws: ${messageOf(error)}`;
      findings.add("function_failed", "error", { state }, message, "Correct that function; a guard must not wait.");
      return [];
    }
  });
}

function describe(state: string, refusals: readonly Refusal[], hasSamples: boolean, findings: Findings): void {
  const blockers = [
    ...new Set(refusals.flatMap((one) => one.blockers.map(({ event, reason }) => `\`${event}\`: ${reason}`))),
  ];
  const when = hasSamples ? "For an example that you gave, a" : "If a guard refuses, a";
  findings.add(
    "recovery_refused",
    "warning",
    { state },
    `${when} recovery after a failure in \`${state}\` is refused (${blockers.join("; ")}): the instance is left to a person.`,
    "Give the state a `recoverWith` or a `checkpoint` without a guard, or the recovery a `fallback`.",
  );
}

function plannedAfter(
  lifecycle: LifecycleModel,
  state: string,
  data: Readonly<Record<string, unknown>>,
): RecoveryPlan | Refusal {
  const cause = { actor: null, reason: null };
  return planRecovery(lifecycle, failedIn(lifecycle, state, data), cause, Date.UTC(2030, 0, 1));
}

/** An instance that failed in a state. */
function failedIn(lifecycle: LifecycleModel, state: string, data: Readonly<Record<string, unknown>>): InstanceModel {
  return {
    id: "00000000-0000-7000-8000-000000000000",
    lifecycle: lifecycle.name,
    definition: lifecycle.version,
    key: null,
    parent: null,
    state: failed,
    version: 3,
    visit: 3,
    run: 1,
    data,
    deadlineAtMs: null,
    failedFrom: state,
    failedVisit: 2,
    timedOutAtMs: null,
    outcome: null,
    createdAtMs: 0,
  };
}

/** The same definition with another answer for every guard, and without functions that would need real data. */
function withGuards(lifecycle: LifecycleModel, guard: () => true | string): LifecycleModel {
  const replaced = (edge: LifecycleModel["edges"][number]) => ({
    ...edge,
    guard: edge.guard === undefined ? undefined : guard,
    set: undefined,
  });
  const states = new Map([...lifecycle.states].map(([name, state]) => [name, { ...state, timeouts: [] }]));
  return {
    ...lifecycle,
    states,
    deadline: undefined,
    edges: lifecycle.edges.map(replaced),
    edgesFrom: (state, event) => lifecycle.edgesFrom(state, event).map(replaced),
  };
}
