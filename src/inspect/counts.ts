import type { Kernel } from "../kernel/kernel.ts";
import { readCounts } from "../views/counts.ts";

export interface StateCount {
  readonly lifecycle: string;
  readonly state: string;
  readonly instances: number;
}

/**
 * How many instances of these lifecycles are in each state, under today's names: an instance is moved to the new name of
 * its state only when something happens to it, and is found by that name before.
 */
export async function countInstances(kernel: Kernel, lifecycles: readonly string[]): Promise<StateCount[]> {
  const counts = new Map<string, StateCount>();
  for (const row of await readCounts(kernel.db, lifecycles)) {
    const { states, renamed } = kernel.lifecycles.get(row.lifecycle)!;
    const state = states.has(row.state) ? row.state : (renamed[row.state] ?? row.state);
    const place = JSON.stringify([row.lifecycle, state]);
    const instances = row.instances + (counts.get(place)?.instances ?? 0);
    counts.set(place, { lifecycle: row.lifecycle, state, instances });
  }
  return [...counts.values()];
}
