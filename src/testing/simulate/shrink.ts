import type { Plan } from "./act.ts";

/**
 * Shrinks a failing plan as long as it still fails: without some of its acts, in halves and then one by one, and at
 * last with simpler acts. Each act draws from dice of its own, so the rest of a plan does the same as in the complete
 * one. `isBad` is called `maxTries` times at most, and not after `endAtMs` by `performance.now()`.
 */
export async function shrink(
  plan: Plan,
  isBad: (smaller: Plan) => Promise<boolean>,
  { maxTries, endAtMs }: { readonly maxTries: number; readonly endAtMs: number },
): Promise<Plan> {
  let best = plan;
  let tries = 0;
  const keepIfBad = async (acts: Plan["acts"]): Promise<boolean> => {
    if (tries >= maxTries || performance.now() >= endAtMs) return false;
    tries += 1;
    const smaller = { ...plan, acts };
    if (!(await isBad(smaller))) return false;
    best = smaller;
    return true;
  };
  for (let hasShrunk = true; hasShrunk; ) {
    const before = best.acts.length;
    for (let size = Math.ceil(before / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      for (let at = 0; at < best.acts.length; ) {
        const isGone = await keepIfBad([...best.acts.slice(0, at), ...best.acts.slice(at + size)]);
        if (!isGone) at += size;
      }
    }
    hasShrunk = best.acts.length < before;
  }
  for (const [at, act] of best.acts.entries()) {
    if (!act.isSimple)
      await keepIfBad(best.acts.map((one, place) => (place === at ? { ...one, isSimple: true } : one)));
  }
  return best;
}
