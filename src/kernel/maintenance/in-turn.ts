import { claimSweep, endSweep } from "../../store/move/sweeps.ts";
import type { Kernel } from "../kernel.ts";

const noPlace = "00000000-0000-0000-0000-000000000000";

/**
 * Runs a duty that one process has at a time, if it is free and due; returns how much was done. The next turn is due at
 * once if that was anything, otherwise after `restMs`. A process that dies loses its turn after `heldMs`.
 */
export async function runDuty(
  kernel: Kernel,
  name: string,
  { heldMs, restMs }: { heldMs: number; restMs: number },
  work: () => Promise<number>,
): Promise<number> {
  const turn = { lifecycle: "pawl", state: name };
  if ((await claimSweep(kernel.db, turn, heldMs)) === undefined) return 0;
  let done = 0;
  try {
    done = await work();
    return done;
  } finally {
    await endSweep(kernel.db, turn, { place: noPlace, afterMs: done > 0 ? 0 : restMs });
  }
}
