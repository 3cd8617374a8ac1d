import { durationMs } from "../../base/duration.ts";
import { builtInEvents, failed, type LifecycleModel, type StateModel } from "../model.ts";
import { acceptsNothing } from "../read/read.ts";
import { type Blocker, decide, type Refusal, recoveryTarget } from "./decide.ts";
import type { InstanceModel } from "./instance.ts";
import { type Decision, failedFromOf, type LifecycleEvent } from "./move.ts";

/** A move into `failed`, or a restart, from the journal: the failures of a budget are counted from these. */
export interface PastFailure {
  readonly version: number;
  readonly event: string;
  readonly from: string | null;
  readonly to: string;
}

/** Whether a move is an instance's failure: into `failed`, from where it was not yet. */
export function isFailure(lifecycle: LifecycleModel, move: Pick<PastFailure, "from" | "to">): boolean {
  return lifecycle.builtIns && move.to === failed && move.from !== failed;
}

/** Whether a failure has ended an instance: its state's own way out of it leads to a bad end. */
export function endsFailed({ event, instance }: Pick<Decision, "event" | "instance">): boolean {
  return event === "fail" && instance.outcome === "failure";
}

/** Those failures of a history that count against the budget of an instance that failed in `failedIn`. */
export function countedFailures<Move extends PastFailure>(
  lifecycle: LifecycleModel,
  history: readonly Move[],
  failedIn: string,
): Move[] {
  const scope = lifecycle.recovery?.scope ?? "restart";
  const begun = scope === "lifetime" ? -1 : history.findLastIndex((move) => move.event === "restart");
  const today = (state: string | null) => (state === null ? null : (lifecycle.renamed[state] ?? state));
  return history
    .slice(begun + 1)
    .filter((move) => isFailure(lifecycle, move) && (scope !== "state" || today(move.from) === today(failedIn)));
}

/** What follows on a failure: a recovery after a while, or a person. */
export type AfterFailure =
  | { readonly kind: "recover"; readonly afterMs: number }
  | { readonly kind: "give_up"; readonly reason: "no_recovery" | "recovery_exhausted" | "deadline" };

/** A function of the failures so far, including the current one, called once: in the transaction that fails. */
export function afterFailure(
  { recovery }: Pick<LifecycleModel, "recovery">,
  failing: { readonly failures: number; readonly nowMs: number; readonly deadlineAtMs: number | null },
): AfterFailure {
  if (recovery === undefined) return { kind: "give_up", reason: "no_recovery" };
  if (failing.failures >= recovery.maxFailures) return { kind: "give_up", reason: "recovery_exhausted" };
  const afterMs = durationMs(recovery.after, "recovery.after");
  const comesTooLate = failing.deadlineAtMs !== null && failing.nowMs + afterMs >= failing.deadlineAtMs;
  return comesTooLate ? { kind: "give_up", reason: "deadline" } : { kind: "recover", afterMs };
}

/** The plan of a recovery, as plain data. */
export interface RecoveryPlan {
  readonly kind: "planned";
  /** Where it resumes: the checkpoint of the state that failed, else that state. */
  readonly target: string;
  readonly way: "resume" | "recover_with" | "only_permitted" | "fallback";
  /** The target ranks before the state that `reset` names: that runs first. */
  readonly resets: boolean;
  /** `recover` and the event that follows it, or one event of `failed` alone. */
  readonly decisions: readonly Decision[];
}

/** The actor, the reason, the change of the data, and whether the deadline starts over. */
export type RecoveryCause = Pick<LifecycleEvent, "actor" | "reason" | "patch" | "renewsDeadline">;

/**
 * Plans the recovery of an instance. In this order: the target's `recoverWith`; a state that works runs again; under
 * `onlyPermitted` its one permitted event; the `fallback`; a state that failed while it waited waits again. Pure: the
 * same arguments give the same plan.
 */
export function planRecovery(
  lifecycle: LifecycleModel,
  instance: InstanceModel,
  cause: RecoveryCause,
  nowMs: number,
): RecoveryPlan | Refusal {
  const state = instance.state === failed ? lifecycle.states.get(recoveryTarget(lifecycle, instance) ?? "") : undefined;
  const sent = (name: string): LifecycleEvent => ({ name, payload: undefined, ...cause });
  const recovered = () => decide(lifecycle, instance, sent("recover"), nowMs);
  if (state === undefined) return recovered() as Refusal;

  const { recovery } = lifecycle;
  const plan = (way: RecoveryPlan["way"], ...decided: readonly (Decision | Refusal)[]): RecoveryPlan | Refusal => {
    const refusal = decided.find((one): one is Refusal => one.kind === "refused");
    if (refusal !== undefined) return refusal;
    return {
      kind: "planned",
      target: state.name,
      way,
      resets: resets(lifecycle, state),
      decisions: decided as Decision[],
    };
  };
  const follow = (way: RecoveryPlan["way"], event: string): RecoveryPlan | Refusal => {
    const first = recovered();
    if (first.kind === "refused") return first;
    const next = { name: event, payload: undefined, actor: cause.actor, reason: cause.reason };
    return plan(way, first, decide(lifecycle, first.instance, next, nowMs));
  };

  const { recoverWith } = state;
  if (recoverWith !== undefined) {
    const isOfTarget = lifecycle.edgesFrom(state.name, recoverWith).length > 0;
    if (isOfTarget) return follow("recover_with", recoverWith);
    return plan("recover_with", decide(lifecycle, instance, sent(recoverWith), nowMs));
  }
  // Without `recovery` in the definition, a manual recovery lets it wait again.
  if (state.kind !== "wait" || recovery === undefined) return plan("resume", recovered());
  const permitted = recovery.onlyPermitted ? permittedIn(lifecycle, recovered(), nowMs) : [];
  if (permitted.length === 1) return follow("only_permitted", permitted[0]!);
  if (recovery.fallback !== undefined)
    return plan("fallback", decide(lifecycle, instance, sent(recovery.fallback), nowMs));
  // A state that failed while it waited waits again. A checkpoint that waits may have had its event already.
  if (!recovery.onlyPermitted && failedFromOf(lifecycle, instance) === state.name) return plan("resume", recovered());
  return { kind: "refused", blockers: [noWay(state, permitted)] };
}

/** Whether the states after the target must be reset before it resumes there. */
function resets({ recovery, states }: LifecycleModel, target: StateModel): boolean {
  const before = recovery?.reset === undefined ? undefined : states.get(recovery.reset.before);
  return before !== undefined && target.rank < before.rank;
}

/** The events that an instance would take once it is back, without a payload: not those that are built in. */
function permittedIn(lifecycle: LifecycleModel, recovered: Decision | Refusal, nowMs: number): string[] {
  if (recovered.kind === "refused") return [];
  const { instance } = recovered;
  return lifecycle.eventsFrom(instance.state).filter((name) => {
    if ((builtInEvents as readonly string[]).includes(name) || !acceptsNothing(lifecycle.events.get(name)))
      return false;
    return (
      decide(lifecycle, instance, { name, payload: undefined, actor: null, reason: null }, nowMs).kind === "decided"
    );
  });
}

function noWay(target: StateModel, permitted: readonly string[]): Blocker {
  const why =
    permitted.length === 0
      ? "none of its events is permitted"
      : `several events are permitted: ${permitted.map((event) => `\`${event}\``).join(", ")}`;
  const reason = `\`${target.name}\` only waits, and ${why}; give it \`recoverWith\`, or the recovery a \`fallback\``;
  return { kind: "no_way", event: "recover", from: failed, to: target.name, reason };
}
