import { builtInEvents, failed, type LifecycleModel, type StateModel } from "../model.ts";
import { type Fault, type Faults, list, quotedValue } from "./fault.ts";
import { acceptsNothing } from "./read.ts";
import { placeOf } from "./read-state.ts";

/** Whether a failure of a state leads anywhere, and a recovery of it would know what to do. */
export function checkFailure(state: StateModel, model: LifecycleModel, faults: Faults): void {
  if (state.final !== undefined) return;
  if (!model.builtIns) {
    if (isCaught(state, model) || !canFail(state, model)) return;
    const problem = "It can fail, and without built-ins no edge declares where that leads.";
    const place = `${placeOf(state.name)}.on.fail`;
    faults.add("built_in_missing", place, problem, 'Add `on: { fail: "state" }`, without a guard.');
    return;
  }
  const { recovery } = model;
  if (recovery === undefined || recovery.fallback !== undefined || !canBeFailed(state, model)) return;
  const target = model.states.get(state.checkpoint ?? state.name) ?? state;
  if (target.kind !== "wait" || target.recoverWith !== undefined) return;
  if (target === state && !recovery.onlyPermitted) return; // It waits again.
  const events = recovery.onlyPermitted ? silentEvents(target, model) : { all: [], certain: [] };
  const whose = target === state ? "it" : `its checkpoint ${quotedValue(target.name)}`;
  if (events.certain.length > 1) {
    const problem = `After a failure here a recovery could not choose: ${whose} takes ${list(events.certain)} alike.`;
    const remedy = "Give it `recoverWith`, or the recovery a `fallback`.";
    faults.add("recovery_ambiguous", placeOf(state.name), problem, remedy);
  } else if (events.all.length === 0) {
    const problem = `After a failure here a recovery would not know what to do: ${whose} only waits.`;
    const remedy = "Give it `recoverWith` or a `checkpoint` that works, or the recovery a `fallback`.";
    faults.add("recovery_missing", placeOf(state.name), problem, remedy);
  }
}

/** Checks of recovery over all states: loops that nothing limits, keys without effect. */
export function checkRecovery(model: LifecycleModel, declared: readonly StateModel[], faults: Faults): void {
  checkCycles(model, declared, faults);
  if (!model.builtIns) return;
  for (const state of declared) checkWords(state, model, declared, faults);
  const { reset } = model.recovery ?? {};
  if (reset === undefined || model.states.get(reset.before)?.rank !== 0) return;
  const problem = `No state is declared before ${quotedValue(reset.before)}, so it can never run.`;
  faults.add("recovery_unreachable", "recovery.reset.before", problem, "Name a later state, or take the reset out.");
}

/**
 * Weaknesses of a valid recovery. A `fallback` that leads into a `join` finds no children if the instance failed before it
 * started them: the join then ends at once, with none of that work done.
 */
export function recoveryWarnings(model: LifecycleModel): Fault[] {
  const { fallback } = model.recovery ?? {};
  if (fallback === undefined || !model.builtIns) return [];
  const edges = model.edgesFrom(failed, fallback).filter(({ guard }) => guard === undefined);
  return edges.flatMap(({ to }) => {
    if (to === null || model.states.get(to)?.kind !== "join") return [];
    const into = `${quotedValue(fallback)} leads from "failed" into the join ${quotedValue(to)}`;
    const problem = `${into}. An instance that failed before it started children joins at once, without any.`;
    const remedy =
      "Let it lead to the state that starts the children, or give its edge in `failed` a guard that asks for them.";
    return [{ code: "join_skipped", place: "recovery.fallback", problem, remedy }];
  });
}

/** Ways out of a failure that lead from one to the next and back: each failure is caught, and none is counted. */
function checkCycles(model: LifecycleModel, declared: readonly StateModel[], faults: Faults): void {
  const wayOut = (state: StateModel): StateModel | undefined => {
    const own = model.edgesFrom(state.name, "fail").find((edge) => !edge.builtIn && edge.guard === undefined);
    return own === undefined || !canFail(state, model) ? undefined : model.states.get(own.to ?? state.name);
  };
  const seen = new Set<StateModel>();
  for (const first of declared) {
    const path: StateModel[] = [];
    for (let state: StateModel | undefined = first; state !== undefined && !seen.has(state); state = wayOut(state)) {
      if (path.includes(state)) {
        const loop = [...path.slice(path.indexOf(state)), state].map((one) => one.name);
        const problem = `Failures lead round in a circle, ${loop.join(" → ")}, and no budget counts them.`;
        const remedy =
          "Give one of the edges a guard that ends it, or make it lead to `failed`, where failures are counted.";
        faults.add("recovery_cyclic", `${placeOf(state.name)}.on.fail`, problem, remedy);
        break;
      }
      path.push(state);
    }
    for (const state of path) seen.add(state);
  }
}

/** `checkpoint` and `recoverWith` that are never used. */
function checkWords(state: StateModel, model: LifecycleModel, declared: readonly StateModel[], faults: Faults): void {
  const place = placeOf(state.name);
  if (state.checkpoint !== undefined && !canBeFailed(state, model)) {
    const problem = "It never fails into `failed`: its own `fail` edge catches every failure.";
    faults.add("recovery_unreachable", `${place}.checkpoint`, problem, "Take it out, or give that edge a guard.");
  }
  if (state.recoverWith === undefined) return;
  const isTarget =
    (state.checkpoint === undefined && canBeFailed(state, model)) ||
    declared.some((other) => other.checkpoint === state.name);
  if (!isTarget) {
    const problem = "No recovery resumes here, so it is never sent.";
    const remedy =
      state.checkpoint === undefined ? "Take it out." : `Give it to ${quotedValue(state.checkpoint)}, its checkpoint.`;
    faults.add("recovery_unreachable", `${place}.recoverWith`, problem, remedy);
  }
}

/** The events of a state that need no payload: all of them, and those that no guard can be against. */
function silentEvents(state: StateModel, model: LifecycleModel): { all: string[]; certain: string[] } {
  const all = model.eventsFrom(state.name).filter((event) => {
    return !(builtInEvents as readonly string[]).includes(event) && acceptsNothing(model.events.get(event));
  });
  const isCertain = (event: string) => model.edgesFrom(state.name, event).some((edge) => edge.guard === undefined);
  return { all, certain: all.filter(isCertain) };
}

/** Whether the state's own way out catches every failure of its step. */
function isCaught(state: StateModel, model: LifecycleModel): boolean {
  return model.edgesFrom(state.name, "fail").some((edge) => !edge.builtIn && edge.guard === undefined);
}

/** Whether an instance can move from this state into `failed`. A deadline ignores the state's own `fail` edges. */
function canBeFailed(state: StateModel, model: LifecycleModel): boolean {
  if (state.final !== undefined) return false;
  if (!isCaught(state, model) || model.deadline !== undefined) return true;
  return model.edges.some((edge) => edge.from === state.name && edge.to === failed && !edge.builtIn);
}

/** Whether Pawl itself may send `fail` to an instance in this state. */
function canFail(state: StateModel, model: LifecycleModel): boolean {
  if (state.kind === "work") return true;
  if (state.kind === "ask") return model.edgesFrom(state.name, "unanswered").length === 0;
  return state.kind === "join" && state.join?.failed === "fail";
}
