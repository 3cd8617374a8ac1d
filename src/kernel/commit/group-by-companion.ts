import type { Kernel } from "../kernel.ts";
import type { CompanionTable } from "../types/companion-table.ts";

/**
 * Splits a list by companion table: two instances may share a companion row, which a statement can write only once if
 * it has to know the result. Most lists are of one kind, and are not split.
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
