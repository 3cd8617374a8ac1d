import { describe, expect, test } from "vitest";

const huge = { text: "x".repeat(2 * 1024 * 1024) };

/** What a function of a user can do instead of what it should. */
export const ways = {
  throws: () => {
    throw new Error("broken on purpose");
  },
  "throws what is no error": () => {
    throw null;
  },
  rejects: () => Promise.reject(new Error("broken on purpose")),
  "returns NaN": () => Number.NaN,
  "returns something huge": () => huge,
  "returns what cannot be stored": () => ({ at: new Date(), count: 1n }),
  "never settles": () => new Promise<never>(() => {}),
} as const;

export type Way = keyof typeof ways;
const allWays = Object.keys(ways) as Way[];

/** Whether what the function did is seen as a failure wherever its value counts for nothing. */
export function fails(how: Way): boolean {
  return how.startsWith("throws") || how === "rejects";
}

/** A function that is called this often within one case is called in a busy loop. */
const mostCalls = 40;

// biome-ignore lint/suspicious/noExplicitAny: it stands in for functions of any type.
export type Broken = (...given: any[]) => any;

/**
 * Breaks one function of the user in each of the ways. `run` calls Pawl with `broken` in its place and asserts that it is
 * reported and that everything else goes on. A rejection that nobody handles fails the run by itself.
 */
export function breaking(name: string, run: (how: Way, broken: Broken) => unknown): void {
  describe(name, () => {
    test.each(allWays)("that %s", async (how) => {
      let calls = 0;
      await run(how, () => {
        calls += 1;
        return ways[how]();
      });
      expect(calls, `${name} is never called`).toBeGreaterThan(0);
      expect(calls, `${name} is called in a busy loop`).toBeLessThan(mostCalls);
    });
  });
}

/**
 * Runs `work` while timers of ten seconds (or `longMs`) or more end soon: time limits for functions that never settle. The longer
 * one still ends later: the limit of a hook before that of its transaction.
 */
export async function impatiently<T>(work: () => Promise<T>, longMs = 10_000): Promise<T> {
  const real = globalThis.setTimeout;
  const soon = (act: () => void, ms = 0, ...given: unknown[]) =>
    real(act, ms >= longMs ? ms / 500 : ms, ...(given as []));
  globalThis.setTimeout = Object.assign(soon, real) as typeof setTimeout;
  try {
    return await work();
  } finally {
    globalThis.setTimeout = real;
  }
}
