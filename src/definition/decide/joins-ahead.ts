import type { LifecycleModel } from "../model.ts";
import { type Shape, shapeOf } from "../shape.ts";

/** Events that lead to any state, or to none: they do not show where an instance goes. */
export const notAhead: ReadonlySet<string> = new Set(["restart", "discard", "fail", "recover", "accept_late"]);

/**
 * Whether an instance in `state` can reach a join that handles a failed child by itself: one that fails with it, or
 * counts it. A join that waits leaves the child to a person.
 */
export function joinsAhead({ states, edges }: Pick<Shape, "states" | "edges">, state: string): boolean {
  const joins = new Set(states.filter(({ join }) => join === "fail" || join === "count").map(({ name }) => name));
  const seen = new Set([state]);
  // A set is iterated in the order of insertion, including what is added meanwhile.
  for (const at of seen) {
    if (joins.has(at)) return true;
    for (const { from, event, to } of edges) if (from === at && !notAhead.has(event)) seen.add(to);
  }
  return false;
}

const shapes = new WeakMap<LifecycleModel, Shape>();

/** The same for an instance of this definition. */
export function isJoinAhead(lifecycle: LifecycleModel, state: string): boolean {
  const shape = shapes.get(lifecycle) ?? shapeOf(lifecycle);
  shapes.set(lifecycle, shape);
  return joinsAhead(shape, state);
}

/** Whether a lifecycle has a join that handles failed children by itself. */
export function hasJoins({ states }: LifecycleModel): boolean {
  for (const { join } of states.values()) if (join?.failed === "fail" || join?.failed === "count") return true;
  return false;
}
