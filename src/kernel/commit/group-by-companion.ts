import type { Kernel } from "../kernel.ts";
import type { CompanionTable } from "../types/companion-table.ts";

/**
 * A list cut into those of which the same room keeps something: what is written beside two of them may be one row, which a
 * statement can write only once if it is to know what it writes. Most lists are of one kind, and stay whole.
 */
export function groupByCompanion<T>(
  kernel: Kernel,
  list: readonly T[],
  lifecycleOf: (one: T) => string,
): (readonly T[])[] {
  const kinds = new Map<CompanionTable | undefined, T[]>();
  for (const one of list) {
    const companion = kernel.companions.get(lifecycleOf(one));
    const some = kinds.get(companion);
    if (some === undefined) kinds.set(companion, [one]);
    else some.push(one);
  }
  return [...kinds.values()];
}
