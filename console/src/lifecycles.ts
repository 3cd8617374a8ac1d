import { signal } from "@preact/signals";
import type { LifecycleResponse } from "../../src/http/contract.ts";
import { get } from "./api.ts";
import { counts } from "./live.ts";

/** The lifecycles of the process that answers; empty until it has. Their counts are kept up by the live stream. */
export const lifecycles = signal<readonly LifecycleResponse[]>([]);

/** Pawl's own lifecycles, which no list offers: pages of their instances need them. */
const internalLifecycles = signal<readonly LifecycleResponse[]>([]);

export async function loadLifecycles(): Promise<void> {
  const all = await get("/lifecycles", { internal: true });
  lifecycles.value = all.filter(({ name }) => !isInternal(name));
  internalLifecycles.value = all.filter(({ name }) => isInternal(name));
}

/** A lifecycle by its name, also one of Pawl's own. */
export function lifecycleNamed(wanted: string | undefined): LifecycleResponse | undefined {
  return [...lifecycles.value, ...internalLifecycles.value].find(({ name }) => name === wanted);
}

/** Whether a lifecycle is one of Pawl's own: samples, assignments, and those of crowds. */
export function isInternal(lifecycle: string): boolean {
  return lifecycle.startsWith("pawl_");
}

/** The number of instances in a state: from the live stream, otherwise from when the page was opened. */
export function countIn(lifecycle: LifecycleResponse, state: string): number {
  const live = counts.value.get(lifecycle.name);
  if (live !== undefined) return live.get(state) ?? 0;
  return lifecycle.states.find((one) => one.name === state)?.instances ?? 0;
}
