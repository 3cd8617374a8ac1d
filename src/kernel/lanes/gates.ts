import { rateOf } from "../../policy/rate.ts";
import { type GateRow, type GateView, pruneBegun, readGates } from "../../store/tasks/gates.ts";
import type { Kernel } from "../kernel.ts";
import { currentLaneName } from "./lanes.ts";

/** What holds the lanes of one state back, by the state's `limit` and `rate`; it counts over all workers and versions. */
export type Gate = GateRow;

/**
 * The gates of these lanes, by the definitions of this process, and by `mostOf` for the lanes of a breaker: the limit
 * of concurrent steps of one state, if there is one.
 */
export function gatesOf(
  kernel: Kernel,
  lanes: readonly string[],
  mostOf: (breaker: string) => number | undefined = () => undefined,
): Gate[] {
  const gates = new Map<string, Gate & { readonly lanes: string[] }>();
  for (const lane of lanes) {
    const { lifecycle, part } = currentLaneName(kernel, lane);
    const { states, renamed = {} } = kernel.lifecycles.get(lifecycle) ?? {};
    const state = states?.get(part.slice(1));
    if (state === undefined) continue;
    const most = state.uses === undefined ? undefined : mostOf(state.uses);
    const limit = most === undefined ? state.limit : Math.min(most, state.limit ?? most);
    if ((limit ?? state.rate) === undefined) continue;
    const name = `${lifecycle}${part}`;
    const gate = gates.get(name) ?? {
      name,
      lifecycle,
      states: [state.name, ...Object.keys(renamed).filter((old) => renamed[old] === state.name)],
      lanes: [],
      limit: limit ?? null,
      rate: state.rate === undefined ? null : rateOf(state.rate),
    };
    gate.lanes.push(lane);
    gates.set(name, gate);
  }
  return [...gates.values()];
}

/** The same for a probe: lanes without a gate of their own get one without a limit. */
export function probeGates(kernel: Kernel, lanes: readonly string[]): Gate[] {
  return gatesOf(kernel, lanes, () => 2 ** 31 - 1);
}

/** The states of those gates that have ready tasks behind them. */
export function readGateViews(kernel: Kernel, gates: readonly Gate[]): Promise<GateView[]> {
  return readGates(kernel.db, gates);
}

/** Deletes starts that no rate counts any more. */
export async function tidyGates(kernel: Kernel, lanes: readonly string[]): Promise<void> {
  const rated = gatesOf(kernel, lanes).filter((gate) => gate.rate !== null);
  if (rated.length > 0) await pruneBegun(kernel.db, rated);
}
