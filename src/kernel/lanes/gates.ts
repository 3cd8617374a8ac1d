import { rateOf, rateOfKey } from "../../policy/rate.ts";
import { type GateRow, type GateView, readGates } from "../../store/tasks/gates.ts";
import type { LaneLimits } from "../../store/tasks/lane-limits.ts";
import { type KeyUse, pruneBegun, readKeyUse, type Turn, type TurnGateRow } from "../../store/tasks/turns.ts";
import type { Kernel } from "../kernel.ts";
import { limitsOf } from "./lane-limits.ts";
import { currentLaneName } from "./lanes.ts";

/** What holds the lanes of one state back, by the state's `limit` and `rate`; it counts over all workers and versions. */
export interface Gate extends GateRow {
  /** What each key of its tasks may have; null where tasks have no keys. */
  readonly keys: { readonly limit: number | null; readonly rate: GateRow["rate"] } | null;
}

/** A gate whose tasks take turns by their keys. */
export type KeyedGate = Gate & { readonly keys: NonNullable<Gate["keys"]> };

/** The ring of each gate at its beginning. */
const firstTurn: Turn = { after: "", credit: 0 };

/**
 * The gates of these lanes, by the definitions of this process, and by `mostOf` for the lanes of a breaker: the limit
 * of concurrent steps of one state, if there is one. Lanes whose tasks take turns have one, too.
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
    const now = limitsOf(kernel, lifecycle, state);
    const limit = most === undefined ? now.limit : Math.min(most, now.limit ?? most);
    if (limit === null && now.rate === null && state.keyed === undefined) continue;
    const name = `${lifecycle}${part}`;
    const gate = gates.get(name) ?? {
      name,
      lifecycle,
      states: [state.name, ...Object.keys(renamed).filter((old) => renamed[old] === state.name)],
      lanes: [],
      limit,
      rate: now.rate === null ? null : rateOf(now.rate),
      keys: state.keyed === undefined ? null : keysOf(now),
    };
    gate.lanes.push(lane);
    gates.set(name, gate);
  }
  return [...gates.values()];
}

function keysOf({ limitEach, rateEach }: LaneLimits): Gate["keys"] {
  return { limit: limitEach, rate: rateEach === null ? null : rateOfKey(rateEach) };
}

/** A gate as its row, with the place where its ring continues. */
export function turnGateRow(gate: Gate, turn: Turn = firstTurn): TurnGateRow {
  return { ...gate, limitEach: gate.keys?.limit ?? null, rateEach: gate.keys?.rate ?? null, turn };
}

export function isKeyed(gate: Gate): gate is KeyedGate {
  return gate.keys !== null;
}

/** Whether its tasks count while they run: it has a limit or a rate, in all or of each key. */
export function isLimited({ limit, rate, keys }: Gate): boolean {
  return (limit ?? rate ?? keys?.limit ?? keys?.rate ?? null) !== null;
}

/** The same for a probe: lanes without a gate of their own get one without a limit. */
export function probeGates(kernel: Kernel, lanes: readonly string[]): Gate[] {
  return gatesOf(kernel, lanes, () => 2 ** 31 - 1);
}

/** The states of those gates that have ready tasks behind them. */
export function readGateViews(kernel: Kernel, gates: readonly Gate[]): Promise<GateView[]> {
  return readGates(kernel.db, gates);
}

/** What a key has of its gate. */
export function readUseOfKey(kernel: Kernel, gate: KeyedGate, key: string): Promise<KeyUse> {
  return readKeyUse(kernel.db, turnGateRow(gate), key);
}

/** Deletes starts that no rate counts any more. */
export async function tidyGates(kernel: Kernel, lanes: readonly string[]): Promise<void> {
  const rated = gatesOf(kernel, lanes).filter(({ rate, keys }) => (rate ?? keys?.rate ?? null) !== null);
  if (rated.length > 0)
    await pruneBegun(
      kernel.db,
      rated.map((gate) => turnGateRow(gate)),
    );
}
