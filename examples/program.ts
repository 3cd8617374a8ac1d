import { setTimeout as rest } from "node:timers/promises";
import { isPawlError } from "pawl";

/** How the programs of examples run: until they are over, are interrupted, or take too long. */

const longestMs = 300_000;
const lookEveryMs = 200;

/** What a program ends with. What Pawl refuses is told in its words; anything else is a fault of the example. */
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

/** Shows how it stands all the time. Tells whether it is over: not where it was interrupted, or took too long. */
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

/** What is said to who interrupts it, and what the program then ends with. */
export function sayInterrupted(): number {
  console.log("\n  Interrupted. Everything is kept: run it again, and it goes on from here.\n");
  return 130;
}
