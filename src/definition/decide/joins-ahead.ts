import type { LifecycleModel } from "../model.ts";
import type { Shape } from "../shape.ts";

/** Events that lead anywhere, or nowhere: they say nothing about the way that an instance takes. */
export const notAhead: ReadonlySet<string> = new Set(["restart", "discard", "fail", "recover", "accept_late"]);

/**
 * Whether an instance in `state` comes to a join that deals with a failed child by itself: one that fails by it, or counts
 * it. A join that waits leaves the child to a person.
 */
export function joinsAhead({ states, edges }: Pick<Shape, "states" | "edges">, state: string): boolean {
  const joins = new Set(states.filter(({ join }) => join === "fail" || join === "count").map(({ name }) => name));
  const seen = new Set([state]);
  // A set is walked in the order of insertion: what is added is walked, too.
  for (const at of seen) {
    if (joins.has(at)) return true;
    for (const { from, event, to } of edges) if (from === at && !notAhead.has(event)) seen.add(to);
  }
  return false;
}

/** Whether a lifecycle has a join that deals with failed children by itself. */
export function hasJoins({ states }: LifecycleModel): boolean {
  for (const { join } of states.values()) if (join?.failed === "fail" || join?.failed === "count") return true;
  return false;
}
