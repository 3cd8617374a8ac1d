import { PawlError } from "../../base/errors.ts";
import type { AnyLifecycle } from "../../definition/language/public-types.ts";
import { TestBench } from "../test-bench.ts";
import { planOf } from "./act.ts";
import { Coverage } from "./coverage.ts";
import { type Run, runPlan } from "./run.ts";
import { simulatedSteps } from "./run-step.ts";
import { checkedSettings, type Settings } from "./settings.ts";
import { shrink } from "./shrink.ts";
import type { SimulateOptions } from "./simulate-options.ts";
import { reportOf, type SimulationReport } from "./simulation-report.ts";
import type { World } from "./world.ts";

/** The limits of shrinking a failing run, in real time and in tries. */
const shrinkLimitMs = 20_000;
const maxTries = 150;

/**
 * Runs lifecycles through random histories, on a database of their own and with a clock that jumps: callers send events
 * in any order and at the same time, steps fail, workers stall, processes die and others take over, operators recover
 * failures. After every act, and once everything has come to rest, the invariant must hold.
 *
 * @example
 * ```ts
 * const effects = new EffectLedger();
 * const report = await simulate({
 *   lifecycles: [parcel],
 *   start: { parcel: ({ random }) => ({ address: random.pick(["Elm 3", "Oak 7"]) }) },
 *   effects,
 *   invariant: {
 *     "a label is bought once": ({ instances }) =>
 *       instances.parcel.every(({ id }) => effects.times("label", id) <= 1),
 *   },
 * });
 * console.log(report.text);
 * ```
 *
 * @throws `simulation_failed` with the story of a run in which the invariant is violated, or one of your functions
 * threw, hung or returned an invalid value: shrunk by up to 150 tries within 20 seconds, with the seed that repeats it.
 * Its `details` are the report. `option_invalid` for invalid options.
 */
export async function simulate<const Lifecycles extends readonly AnyLifecycle[]>(
  options: SimulateOptions<Lifecycles>,
): Promise<SimulationReport> {
  const settings = checkedSettings(options);
  let world: World | undefined;
  const { lifecycles, steps = {} } = settings.pawl;
  const bench = await TestBench.open({ ...settings.pawl, steps: simulatedSteps(lifecycles, steps, () => world!) });
  const run = (plan: Run["plan"]) =>
    runPlan(bench, settings, plan, (entered) => {
      world = entered;
    });
  try {
    return await allRuns(settings, run);
  } finally {
    await bench.close();
  }
}

async function allRuns(settings: Settings, run: (plan: Run["plan"]) => Promise<Run>): Promise<SimulationReport> {
  const { seed, runs, acts: most, weights, lifecycles, unsendable } = settings;
  const coverage = new Coverage(lifecycles.values(), unsendable);
  let acts = 0;
  for (let count = 1; count <= runs; count++) {
    const done = await run(planOf(seed + count - 1, most, weights));
    acts += done.acts;
    coverage.add(done.moves);
    if (done.failure === undefined) continue;
    const failed = { first: done, smallest: await smallestOf(done, run) };
    const report = reportOf({ runs: count, seed, acts, coverage: coverage.result }, failed);
    const { cause } = failed.smallest.failure!;
    throw new PawlError("simulation_failed", report.text, { ...report }, { cause });
  }
  return reportOf({ runs, seed, acts, coverage: coverage.result });
}

/** The smallest run that was found to fail in the same way. */
async function smallestOf(first: Run, run: (plan: Run["plan"]) => Promise<Run>): Promise<Run> {
  const { about, isSlow } = first.failure!;
  if (isSlow) return first;
  let smallest = first;
  const isBad = async (plan: Run["plan"]) => {
    const smaller = await run(plan);
    const isSame = smaller.failure?.about === about;
    if (isSame) smallest = smaller;
    return isSame;
  };
  // Acts after the failing one were not performed.
  const done = { ...first.plan, acts: first.plan.acts.slice(0, first.acts) };
  await shrink(done, isBad, { maxTries, endAtMs: performance.now() + shrinkLimitMs });
  return smallest;
}
