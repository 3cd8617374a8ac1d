import { signal } from "@preact/signals";
import type { LifecycleAnswer } from "../../src/http/contract.ts";
import { get } from "./api.ts";
import { counts } from "./live.ts";

/** The lifecycles of the process that answers; empty until it has. Their counts are kept up by the live stream. */
export const lifecycles = signal<readonly LifecycleAnswer[]>([]);

export async function findLifecycles(): Promise<void> {
  const all = await get<LifecycleAnswer[]>("/lifecycles");
  lifecycles.value = all.toSorted((one, other) => Number(isPawls(one.name)) - Number(isPawls(other.name)));
}

/** One of those that Pawl itself brings: samples, assignments. They come after a user's own. */
export function isPawls(lifecycle: string): boolean {
  return lifecycle.startsWith("pawl_");
}

/** How many instances stand in a state: as the live stream said last, or as it was when the page was opened. */
export function countIn(lifecycle: LifecycleAnswer, state: string): number {
  const live = counts.value.get(lifecycle.name);
  if (live !== undefined) return live.get(state) ?? 0;
  return lifecycle.states.find((one) => one.name === state)?.instances ?? 0;
}
