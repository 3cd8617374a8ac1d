import type { Decision } from "../../definition/decide/move.ts";
import type { Kernel } from "../kernel.ts";

/** Logs what was wrong with the keys of steps that were written: they wait all the same, with other keys. */
export function logKeyProblems(
  { telemetry: { log } }: Kernel,
  instance: { readonly id: string; readonly lifecycle: string },
  decision: Decision | undefined,
): void {
  const problem = decision?.step?.key?.problem ?? null;
  if (problem !== null)
    log.warn({ lifecycle: instance.lifecycle, instance: instance.id, state: decision!.to }, problem);
}
