import { PawlError } from "../base/errors.ts";
import type { AnyLifecycle } from "../definition/language/public-types.ts";
import { type Kernel, knownLifecycle } from "../kernel/kernel.ts";
import type { Snapshot } from "../kernel/types/snapshot.ts";
import type { Started } from "../kernel/types/start.ts";
import { type Instance, instanceOf, type StartedInstance } from "./results.ts";

/** Converts a row to an `Instance`, with the current name of its state even before the next move writes it. */
export function instanceResult<L extends AnyLifecycle>(kernel: Kernel, lifecycle: L, snapshot: Snapshot): Instance<L> {
  return instanceOf<L>(snapshot, knownLifecycle(kernel, lifecycle).renamed);
}

/** Returns the instance of a start, or throws why it failed. */
export function startedInstance<L extends AnyLifecycle>(
  kernel: Kernel,
  lifecycle: L,
  started: Started,
): StartedInstance<L> {
  if (!started.ok) throw started.error;
  return Object.assign(instanceResult(kernel, lifecycle, started.instance), { created: started.created });
}

/** The states that a caller names, each with its names in earlier versions. */
export function knownStates(kernel: Kernel, lifecycle: AnyLifecycle, given: string | readonly string[]): string[] {
  const { states, renamed, name } = knownLifecycle(kernel, lifecycle);
  return [given].flat().flatMap((state) => {
    if (states.has(state)) return [state, ...Object.keys(renamed).filter((old) => renamed[old] === state)];
    const known = [...states.keys()].join(", ");
    throw new PawlError("option_invalid", `\`${name}\` has no state \`${String(state)}\`; it has ${known}.`);
  });
}
