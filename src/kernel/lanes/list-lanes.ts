import { isInternal } from "../../definition/internal.ts";
import { effectLaneOf, failed, hasEffects, laneOf, sendLaneOf } from "../../definition/model.ts";
import { readDefinitions } from "../../store/definitions.ts";
import { readLanes } from "../../views/tasks/lanes.ts";
import { readBreakerStates } from "../breakers/breakers.ts";
import type { Kernel } from "../kernel.ts";
import { type LaneClosedReason, readClosedLanes } from "./closed-lanes.ts";
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
  readonly limit: number | null;
  readonly rate: string | null;
  /** Why nothing is claimed from it; null while it is open. */
  readonly closed: ClosedLane | null;
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
  const closures = await readClosedLanes(kernel, lanes);
  return (await readLanes(kernel.db, lanes, maxCounted)).flatMap(({ oldest_ms, ...row }) => {
    const { lifecycle, version = 1, part } = currentLaneName(kernel, row.lane);
    const definition = kernel.lifecycles.get(lifecycle)!;
    const isOptional = version !== definition.version || part === ":send";
    const isEmpty = row.ready + row.scheduled + row.running === 0;
    if (isOptional && isEmpty) return [];
    if (!internal && isInternal(lifecycle) && isEmpty && !closures.has(row.lane)) return [];
    const state = part.startsWith("/") ? part.slice(1) : null;
    const { limit = null, rate = null } = definition.states.get(state ?? "") ?? {};
    const closure = closures.get(row.lane);
    const closed = closure === undefined ? null : closedOf(closure);
    return { ...row, lifecycle, version, state, oldestMs: oldest_ms, limit, rate, closed };
  });
}

function closedOf({ by, sinceMs, reason, actor }: LaneClosedReason): ClosedLane {
  return { by, since: new Date(sinceMs), reason, actor };
}
