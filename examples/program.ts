import { setTimeout as rest } from "node:timers/promises";
import { isPawlError } from "pawl";

/** Runs the programs of examples: until they end, are interrupted, or time out. */

const longestMs = 300_000;
const lookEveryMs = 200;

/** The end of a program. A refusal of Pawl is printed as it is; anything else is a bug of the example. */
export async function exitCodeOf(main: () => Promise<number>): Promise<number> {
  try {
    return await main();
  } catch (error) {
    if (!isPawlError(error)) throw error;
    console.error(error.message);
    return 1;
  }
}

export interface Simulated<Look> {
  look(): Promise<Look>;
  close(): Promise<void>;
}

/** Runs it with a signal that Ctrl-C aborts, and closes it in any case. */
export async function interruptibly<It extends Simulated<unknown>>(
  simulation: It,
  run: (simulation: It, interrupted: AbortSignal) => Promise<number>,
): Promise<number> {
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, interrupt);
  try {
    return await run(simulation, interrupted.signal);
  } finally {
    await simulation.close();
  }
}

/** Shows the state all the time. Returns whether it ended: not if it was interrupted, or timed out. */
export async function watch<Look extends { readonly isOver: boolean }>(
  simulation: Simulated<Look>,
  view: { show(look: Look): void; end(): void },
  interrupted: AbortSignal,
): Promise<boolean> {
  const giveUpAt = performance.now() + longestMs;
  try {
    while (performance.now() < giveUpAt && !interrupted.aborted) {
      const look = await simulation.look();
      view.show(look);
      if (look.isOver) return true;
      await rest(lookEveryMs, undefined, { signal: interrupted }).catch(() => {});
    }
    return false;
  } finally {
    view.end();
  }
}

/** The message after an interrupt, and the exit code. */
export function sayInterrupted(): number {
  console.log("\n  Interrupted. Everything is kept: run it again to continue.\n");
  return 130;
}
