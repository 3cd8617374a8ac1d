import { firstIdAt } from "../../base/ids.ts";
import { readDefinitions } from "../../store/definitions.ts";
import { claimSweep, type Ended, endSweep } from "../../store/move/sweeps.ts";
import { commitRemoval } from "../commit/commit-removal.ts";
import { discardLeftChildren } from "../family/discard-left-children.ts";
import type { Kernel } from "../kernel.ts";

/** The result of a round of pruning. */
export interface Pruned {
  readonly removed: number;
  /** A batch was full: there may be more to scan. */
  readonly more: boolean;
}

export interface PruneOptions {
  /** Dead letters are archived before they are deleted: until then, their instances stay. */
  readonly keepsLetters?: boolean;
}

const batchSize = 500;
const firstId = "00000000-0000-0000-0000-000000000000";
/** A process that dies loses its turn after this time. */
const heldMs = 60_000;
/** Ids made in haste run ahead of the time a little. */
const slackMs = 60_000;
const shortestPauseMs = 60_000;
const longestPauseMs = 3_600_000;

interface RetainedState extends Ended {
  /** The shortest retention that any version gives to it. */
  readonly retentionMs: number;
}

/**
 * One batch for each final state of this process: instances past their retention are deleted. Processes take turns, and
 * each continues where the last one stopped, so that instances which must stay block none behind them.
 */
export async function prune(kernel: Kernel, { keepsLetters = false }: PruneOptions = {}): Promise<Pruned> {
  let [removed, more] = [0, false];
  for (const kept of await keptEnds(kernel)) {
    const place = await claimSweep(kernel.db, kept, heldMs);
    if (place === undefined) continue;
    // Later instances cannot have been closed for long enough. The database checks each by its own clock.
    const before = firstIdAt(kernel.clock.nowMs() - kept.retentionMs + slackMs);
    const look = { lifecycle: kept.lifecycle, state: kept.state, after: place, before, limit: batchSize };
    await discardLeftChildren(kernel, look);
    const found = await commitRemoval(kernel, { ...look, keepsLetters });
    const isFull = found.looked === batchSize;
    await endSweep(
      kernel.db,
      kept,
      isFull ? { place: found.last!, afterMs: 0 } : { place: firstId, afterMs: pauseMs(kept, found) },
    );
    removed += found.removed;
    more ||= isFull;
    if (found.removed > 0) reportPruned(kernel, kept, found.removed);
  }
  return { removed, more };
}

/** Where most could go, more will be soon. Where most stay, looking at them again and again would find the same ones. */
function pauseMs({ retentionMs }: RetainedState, { looked, removed }: { looked: number; removed: number }): number {
  if (removed * 2 >= looked) return shortestPauseMs;
  return Math.min(longestPauseMs, Math.max(shortestPauseMs, retentionMs / 100));
}

/** The states in which instances end and are kept for a time, by all versions that the database knows. */
async function keptEnds(kernel: Kernel): Promise<RetainedState[]> {
  const ends = new Map<string, RetainedState>();
  for (const { name, shape, keep_closed_ms: retentionMs } of await readDefinitions(kernel.db, [
    ...kernel.lifecycles.keys(),
  ])) {
    if (retentionMs === null) continue;
    for (const state of shape.states.filter((one) => one.kind === "end")) {
      const known = ends.get(`${name}/${state.name}`);
      const shortest = Math.min(retentionMs, known?.retentionMs ?? retentionMs);
      ends.set(`${name}/${state.name}`, { lifecycle: name, state: state.name, retentionMs: shortest });
    }
  }
  return [...ends.values()];
}

function reportPruned({ telemetry }: Kernel, { lifecycle, state }: Ended, instances: number): void {
  telemetry.meters.pruned(lifecycle, instances);
  telemetry.log.debug(
    { lifecycle, state, instances },
    `${instances} of ${lifecycle}/${state} were deleted after their time.`,
  );
}
