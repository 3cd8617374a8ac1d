import { acceptLate, type EdgeModel, type LifecycleModel, type StateModel } from "../model.ts";
import { checkFailure, checkRecovery } from "./check-recovery.ts";
import { type Faults, quotedValue } from "./fault.ts";
import { placeOf } from "./read-state.ts";

/** Checks of the complete definition: whether every state is reachable, can end, and recovers from a failure. */
export function checkGraph(model: LifecycleModel, faults: Faults): void {
  const declared = [...model.states.values()].filter((state) => !state.builtIn);
  if (model.states.has(model.initial)) checkReached(model, declared, faults);
  checkEnds(model, declared, faults);
  for (const state of declared) {
    checkWait(state, model, faults);
    checkFailure(state, model, faults);
  }
  checkRecovery(model, declared, faults);
}

function checkReached(model: LifecycleModel, declared: readonly StateModel[], faults: Faults): void {
  // A recovery only goes back to where an instance has been.
  const isBack = ({ event }: EdgeModel) => event === "recover" || event === acceptLate;
  const ways = model.edges.filter((edge) => !(edge.builtIn && isBack(edge)));
  const reached = closure([model.initial], ways, "from", "to");
  for (const state of declared) {
    if (reached.has(state.name)) continue;
    const problem = `Nothing leads here from ${quotedValue(model.initial)}, where an instance starts.`;
    faults.add("state_unreachable", placeOf(state.name), problem, "Add an edge to it, or take the state out.");
  }
}

function checkEnds(model: LifecycleModel, declared: readonly StateModel[], faults: Faults): void {
  const ends = [...model.states.values()].filter((state) => state.final !== undefined).map((state) => state.name);
  // To discard it is always possible, and no plan for its end.
  const ways = model.edges.filter((edge) => !edge.builtIn);
  const ending = closure(ends, ways, "to", "from");
  for (const state of declared) {
    if (ending.has(state.name)) continue;
    const problem = "No way from here leads to an end.";
    const remedy = 'Add an edge towards a state with `final: "success"` or `final: "failure"`.';
    faults.add("end_unreachable", placeOf(state.name), problem, remedy);
  }
}

/** All states that can be reached from `starts` by following edges from one side to the other. */
function closure(
  starts: readonly string[],
  edges: LifecycleModel["edges"],
  side: "from" | "to",
  other: "from" | "to",
): Set<string> {
  const next = new Map<string, string[]>();
  for (const edge of edges) {
    const [here, there] = [edge[side], edge[other]];
    if (here === null || there === null) continue;
    const known = next.get(here);
    if (known === undefined) next.set(here, [there]);
    else known.push(there);
  }
  const found = new Set(starts);
  for (const state of found) for (const one of next.get(state) ?? []) found.add(one);
  return found;
}

function checkWait(state: StateModel, model: LifecycleModel, faults: Faults): void {
  if (state.kind !== "wait" || state.forever || state.timeouts.length > 0 || model.deadline !== undefined) return;
  const problem = "An instance could wait here for ever.";
  const remedy = "Give the state a `timeout` or the lifecycle a `deadline`, or set `forever: true` if it is intended.";
  faults.add("wait_endless", placeOf(state.name), problem, remedy);
}
