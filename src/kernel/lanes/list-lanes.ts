import { isInternal } from "../../definition/internal.ts";
import { effectLaneOf, failed, hasEffects, laneOf, type StateModel, sendLaneOf } from "../../definition/model.ts";
import { readDefinitions } from "../../store/definitions.ts";
import { readLanes } from "../../views/tasks/lanes.ts";
import { readBreakerStates } from "../breakers/breakers.ts";
import type { Kernel } from "../kernel.ts";
import { type LaneClosedReason, readClosedLanes } from "./closed-lanes.ts";
import { hasLimits, limitsOf, readChangedLimits } from "./lane-limits.ts";
import { currentLaneName } from "./lanes.ts";

/** A lane: the queue in which the tasks of a state, or after-effects, or letters from others, wait for a worker. */
export interface Lane {
  /** As in `essay@1/grading`, or `essay@1:after`. */
  readonly lane: string;
  readonly lifecycle: string;
  readonly version: number;
  /** Null for after-effects and for letters. */
  readonly state: string | null;
  /** How many tasks are ready, scheduled, and running, counted up to 100,000. */
  readonly ready: number;
  readonly scheduled: number;
  readonly running: number;
  /** How long the one that has waited longest has been ready, in milliseconds; null when none is. */
  readonly oldestMs: number | null;
  /** How many may run, and begin in a time, as it holds now. */
  readonly limit: number | null;
  readonly rate: string | null;
  /** What each key of its tasks may have; null where tasks have no keys. */
  readonly each: LimitsOfKey | null;
  /** Who changed its limits last, with `putLimit`; null while they are as defined. */
  readonly limitsChanged: LimitsChanged | null;
  /** Why nothing is claimed from it; null while it is open. */
  readonly closed: ClosedLane | null;
}

/** The limit and the rate of each key of a lane; both null where keys only take turns. */
export interface LimitsOfKey {
  readonly limit: number | null;
  readonly rate: string | null;
}

/** A change of limits. */
export interface LimitsChanged {
  readonly at: Date;
  readonly actor: string | null;
  readonly reason: string | null;
}

/** Why a lane is closed, since when, and by whom. */
export interface ClosedLane {
  readonly by: LaneClosedReason["by"];
  readonly since: Date;
  readonly reason: string;
  readonly actor: string | null;
}

const maxCounted = 100_000;

/**
 * Every lane of the definitions of this process; those of other versions, and of deliveries, if they contain tasks.
 * Those of Pawl's own lifecycles are left out while they are empty and open, unless they are requested.
 */
export async function listLanes(kernel: Kernel, { internal }: { readonly internal: boolean }): Promise<Lane[]> {
  const known = await readDefinitions(kernel.db, [...kernel.lifecycles.keys()]);
  const lanes = known.flatMap((one) => [
    ...one.shape.states.filter(({ kind }) => kind === "work").map(({ name }) => laneOf(one, name)),
    ...(hasEffects(kernel.lifecycles.get(one.name)!) ? [effectLaneOf(one)] : []),
    sendLaneOf(one),
    ...(one.shape.recovers === true ? [laneOf(one, failed)] : []),
  ]);
  await readBreakerStates(kernel);
  if (hasLimits(kernel, lanes)) await readChangedLimits(kernel);
  const closures = await readClosedLanes(kernel, lanes);
  return (await readLanes(kernel.db, lanes, maxCounted)).flatMap(({ oldest_ms, ...row }) => {
    const { lifecycle, version = 1, part } = currentLaneName(kernel, row.lane);
    const definition = kernel.lifecycles.get(lifecycle)!;
    const isOptional = version !== definition.version || part === ":send";
    const isEmpty = row.ready + row.scheduled + row.running === 0;
    if (isOptional && isEmpty) return [];
    if (!internal && isInternal(lifecycle) && isEmpty && !closures.has(row.lane)) return [];
    const state = part.startsWith("/") ? part.slice(1) : null;
    const limits = limitsIn(kernel, lifecycle, definition.states.get(state ?? ""));
    const closure = closures.get(row.lane);
    const closed = closure === undefined ? null : closedOf(closure);
    return { ...row, lifecycle, version, state, oldestMs: oldest_ms, ...limits, closed };
  });
}

function limitsIn(kernel: Kernel, lifecycle: string, state: StateModel | undefined) {
  if (state === undefined) return { limit: null, rate: null, each: null, limitsChanged: null };
  const { limit, rate, limitEach, rateEach } = limitsOf(kernel, lifecycle, state);
  const changed = kernel.changedLimits.of(`${lifecycle}/${state.name}`);
  return {
    limit,
    rate,
    each: state.keyed === undefined ? null : { limit: limitEach, rate: rateEach },
    limitsChanged:
      changed === undefined ? null : { at: new Date(changed.changed_ms), actor: changed.actor, reason: changed.reason },
  };
}

function closedOf({ by, sinceMs, reason, actor }: LaneClosedReason): ClosedLane {
  return { by, since: new Date(sinceMs), reason, actor };
}
