import type { LifecyclePlan, Plan, StagePlan } from "./plan/plan.ts";

/**
 * Makes a failing plan smaller for as long as it still fails: fewer acts first, in halves and then one by one, then fewer
 * processes, lifecycles, stages and parts, at last user code that behaves. Every choice hangs on a label and not on those
 * before it, so what is left of a plan does what it did in the whole of it.
 */
export async function shrink(plan: Plan, isBad: (smaller: Plan) => Promise<boolean>, mostTries = 200): Promise<Plan> {
  let best = plan;
  let tries = 0;
  const keepIfBad = async (smaller: Plan): Promise<boolean> => {
    if (tries >= mostTries) return false;
    tries += 1;
    if (!(await isBad(smaller))) return false;
    best = smaller;
    return true;
  };
  for (let size = Math.ceil(best.acts.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < best.acts.length; ) {
      const acts = [...best.acts.slice(0, at), ...best.acts.slice(at + size)];
      if (!(await keepIfBad({ ...best, acts }))) at += size;
    }
  }
  for (const simpler of simplifications) while (await tryEach(simpler, () => best, keepIfBad));
  return best;
}

/** Smaller plans than this one, each by one thing. */
type Simplification = (plan: Plan) => Plan[];

async function tryEach(
  simpler: Simplification,
  plan: () => Plan,
  keepIfBad: (smaller: Plan) => Promise<boolean>,
): Promise<boolean> {
  for (const one of simpler(plan())) if (await keepIfBad(one)) return true;
  return false;
}

const calm = {
  throws: 0,
  permanent: 0,
  giveUp: 0,
  later: 0,
  nonsense: 0,
  slow: 0,
  hangs: 0,
  deaf: 0,
  hooks: 0,
  poison: 0,
} as const;

const simplifications: readonly Simplification[] = [
  (plan) => (plan.processes > 1 ? [{ ...plan, processes: plan.processes - 1 }] : []),
  (plan) =>
    Object.entries(plan.temper).flatMap(([mishap, probability]) =>
      probability === 0 ? [] : [{ ...plan, temper: { ...plan.temper, [mishap]: calm[mishap as keyof typeof calm] } }],
    ),
  (plan) => eachLifecycle(plan, withoutLastStage),
  (plan) => eachLifecycle(plan, (one) => (one.recovery === undefined ? undefined : { ...one, recovery: undefined })),
  (plan) =>
    eachLifecycle(plan, (one) => (one.deadlineHours === undefined ? undefined : { ...one, deadlineHours: undefined })),
  (plan) =>
    plan.lifecycles.flatMap((one, at) =>
      one.stages.flatMap((stage, place) =>
        simplerStages(stage).map((simpler) =>
          replaced(plan, at, { ...one, stages: one.stages.map((each, index) => (index === place ? simpler : each)) }),
        ),
      ),
    ),
];

function eachLifecycle(plan: Plan, simpler: (one: LifecyclePlan) => LifecyclePlan | undefined): Plan[] {
  return plan.lifecycles.flatMap((one, at) => {
    const smaller = simpler(one);
    return smaller === undefined ? [] : [replaced(plan, at, smaller)];
  });
}

function withoutLastStage(one: LifecyclePlan): LifecyclePlan | undefined {
  return one.stages.length > 1 ? { ...one, stages: one.stages.slice(0, -1) } : undefined;
}

function simplerStages(stage: StagePlan): StagePlan[] {
  return [
    ...stage.parts.map((part) => ({ ...stage, parts: stage.parts.filter((one) => one !== part) })),
    ...stage.hooks.map((hook) => ({ ...stage, hooks: stage.hooks.filter((one) => one !== hook) })),
    ...(stage.limit === undefined ? [] : [{ ...stage, limit: undefined }]),
    ...(stage.rate ? [{ ...stage, rate: false }] : []),
    ...(stage.breaker ? [{ ...stage, breaker: false }] : []),
  ];
}

function replaced(plan: Plan, at: number, by: LifecyclePlan): Plan {
  return { ...plan, lifecycles: plan.lifecycles.map((one, index) => (index === at ? by : one)) };
}
