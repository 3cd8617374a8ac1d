import { PawlError } from "../base/errors.ts";
import type { AnyLifecycle } from "../definition/language/public-types.ts";
import { type Kernel, knownLifecycle } from "../kernel/kernel.ts";
import type { Snapshot } from "../kernel/types/snapshot.ts";
import type { Started } from "../kernel/types/start.ts";
import { type Instance, instanceOf, type StartedInstance } from "./results.ts";

/** An instance as a caller sees it: in its state by the name that it has today, also before the move that writes it so. */
export function shownInstance<L extends AnyLifecycle>(kernel: Kernel, lifecycle: L, snapshot: Snapshot): Instance<L> {
  return instanceOf<L>(snapshot, knownLifecycle(kernel, lifecycle).renamed);
}

/** The instance of a start; throws why there is none. */
export function startedInstance<L extends AnyLifecycle>(
  kernel: Kernel,
  lifecycle: L,
  started: Started,
): StartedInstance<L> {
  if (!started.ok) throw started.error;
  return Object.assign(shownInstance(kernel, lifecycle, started.instance), { created: started.created });
}

/** States that a caller names, each with the names that it had in earlier versions. */
export function knownStates(kernel: Kernel, lifecycle: AnyLifecycle, given: string | readonly string[]): string[] {
  const { states, renamed, name } = knownLifecycle(kernel, lifecycle);
  return [given].flat().flatMap((state) => {
    if (states.has(state)) return [state, ...Object.keys(renamed).filter((old) => renamed[old] === state)];
    const known = [...states.keys()].join(", ");
    throw new PawlError("option_invalid", `\`${name}\` has no state \`${String(state)}\`; it has ${known}.`);
  });
}
