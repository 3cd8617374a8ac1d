import { durationMs } from "../../base/duration.ts";
import { checkedText } from "../../base/text.ts";
import type { AnyLifecycle } from "../../definition/language/public-types.ts";
import { type Kernel, knownLifecycle } from "../../kernel/kernel.ts";
import type { InstanceFilter } from "../../views/move/filtered.ts";
import { knownStates } from "../instance-result.ts";
import { type FilterOptions, idOf } from "./options.ts";

/** The options that choose instances. */
export const filterOptions = ["state", "key", "parent", "failure", "olderThan", "idleFor"] as const;

/** The filter of a user, checked. */
export function filterOf<L extends AnyLifecycle>(
  kernel: Kernel,
  lifecycle: L,
  given: FilterOptions<L>,
): InstanceFilter {
  const { states, name } = knownLifecycle(kernel, lifecycle);
  const wanted = given.state === undefined ? null : knownStates(kernel, lifecycle, given.state);
  return {
    lifecycle: name,
    states: wanted,
    resting: wanted?.every((state) => states.has(state) && states.get(state)!.kind !== "work") ?? false,
    key: given.key === undefined || given.key === "" ? null : checkedText(given.key, "`key`"),
    failure: given.failure === undefined ? null : checkedText(given.failure, "`failure`"),
    parentId: given.parent === undefined ? null : idOf(given.parent),
    olderThanMs: given.olderThan === undefined ? null : durationMs(given.olderThan, "olderThan"),
    idleMs: given.idleFor === undefined ? null : durationMs(given.idleFor, "idleFor"),
  };
}
