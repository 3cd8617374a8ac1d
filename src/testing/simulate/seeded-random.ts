import { AsyncLocalStorage } from "node:async_hooks";

const streams = new AsyncLocalStorage<() => number>();
let running = 0;
let original = Math.random;

/**
 * Runs `work` with a seeded `Math.random`, which spreads backoffs and may drive fakes. Code outside keeps the real one.
 */
export async function withSeededRandom<Result>(random: () => number, work: () => Promise<Result>): Promise<Result> {
  if (running === 0) {
    original = Math.random;
    Math.random = seeded;
  }
  running += 1;
  try {
    return await streams.run(random, work);
  } finally {
    running -= 1;
    if (running === 0 && Math.random === seeded) Math.random = original;
  }
}

function seeded(): number {
  return (streams.getStore() ?? original)();
}
