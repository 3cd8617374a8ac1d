import { effectLaneOf, type LifecycleModel, laneOf } from "../definition/model.ts";
import { readDefinitions } from "../store/definitions.ts";
import type { Kernel } from "./kernel.ts";

/**
 * The lanes that this process can serve: of its own definitions, and of older versions of them whose work it can do (the
 * state still works, or has a new name that does).
 */
export async function lanesOf(kernel: Kernel): Promise<string[]> {
  const lanes = new Set<string>();
  for (const known of await readDefinitions(kernel.db, [...kernel.lifecycles.keys()])) {
    const lifecycle = kernel.lifecycles.get(known.name)!;
    if (known.version > lifecycle.version) continue;
    lanes.add(effectLaneOf(known));
    for (const { name, kind } of known.shape.states)
      if (kind === "work" && canRun(lifecycle, name)) lanes.add(laneOf(known, name));
  }
  return [...lanes];
}

function canRun(lifecycle: LifecycleModel, state: string): boolean {
  return lifecycle.states.get(lifecycle.renamed[state] ?? state)?.kind === "work";
}
