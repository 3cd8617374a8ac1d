import type { LifecycleModel } from "../model.ts";
import { notAhead } from "./joins-ahead.ts";

/**
 * Whether an instance in `state` can still reach a state that accepts an event, by the edges that its definition
 * declares.
 */
export function isEventAhead(lifecycle: LifecycleModel, state: string, event: string): boolean {
  const seen = new Set([lifecycle.renamed[state] ?? state]);
  // A set is iterated in the order of insertion, including what is added meanwhile.
  for (const at of seen) {
    if (lifecycle.edgesFrom(at, event).some((edge) => !edge.builtIn)) return true;
    for (const { from, event: by, to } of lifecycle.edges)
      if (from === at && to !== null && !notAhead.has(by)) seen.add(to);
  }
  return false;
}
