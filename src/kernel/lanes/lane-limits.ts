import { PawlError } from "../../base/errors.ts";
import type { LifecycleModel, StateModel } from "../../definition/model.ts";
import { type LaneLimits, lockLaneLimits, putLaneLimits, readLaneLimits } from "../../store/tasks/lane-limits.ts";
import type { Kernel } from "../kernel.ts";
import { closedLanesTopic } from "./closed-lanes.ts";
import { currentLaneName, workingStates } from "./lanes.ts";

/** Reads the changed limits. Every worker calls this before it claims, if half a second has passed. */
export async function readChangedLimits(kernel: Kernel): Promise<void> {
  kernel.changedLimits.put(await readLaneLimits(kernel.db));
}

/** Whether a state of these lanes declares a limit or a rate, which operators can change. */
export function hasLimits(kernel: Kernel, lanes: readonly string[]): boolean {
  return lanes.some((lane) => {
    const { lifecycle, part } = currentLaneName(kernel, lane);
    const state = kernel.lifecycles.get(lifecycle)?.states.get(part.slice(1));
    return state !== undefined && (state.limit ?? state.rate ?? state.keyed?.limit ?? state.keyed?.rate) !== undefined;
  });
}

/** The limits of a state as they hold now: as changed, else as defined. */
export function limitsOf(kernel: Kernel, lifecycle: string, state: StateModel): LaneLimits {
  const changed = kernel.changedLimits.of(`${lifecycle}/${state.name}`);
  const { limit, rate, keyed } = state;
  return {
    limit: limit === undefined ? null : (changed?.limit ?? limit),
    limitEach: keyed?.limit === undefined ? null : (changed?.limitEach ?? keyed.limit),
    rate: rate === undefined ? null : (changed?.rate ?? rate),
    rateEach: keyed?.rate === undefined ? null : (changed?.rateEach ?? keyed.rate),
  };
}

/** New limits of a state: undefined leaves one as it is, null takes it back to the definition. */
export type LimitChange = { readonly [Limit in keyof LaneLimits]: LaneLimits[Limit] | undefined };

const declared: Readonly<Record<keyof LaneLimits, (state: StateModel) => unknown>> = {
  limit: ({ limit }) => limit,
  limitEach: ({ keyed }) => keyed?.limit,
  rate: ({ rate }) => rate,
  rateEach: ({ keyed }) => keyed?.rate,
};

const written: Readonly<Record<keyof LaneLimits, string>> = {
  limit: "limit",
  limitEach: "limit: { per, each }",
  rate: "rate",
  rateEach: "rate: { per, each }",
};

/**
 * Changes limits of a state, for all versions and processes. A limit that is not declared cannot be put: running steps of a
 * state without one are not counted, so it could not be exact.
 */
export async function putLimits(
  kernel: Kernel,
  lifecycle: LifecycleModel,
  stateName: string | undefined,
  change: LimitChange,
  by: { readonly actor: string | null; readonly reason: string | null },
): Promise<LaneLimits> {
  const state = limitedState(lifecycle, stateName);
  const options = Object.keys(declared) as (keyof LaneLimits)[];
  for (const option of options) {
    if (change[option] === undefined || declared[option](state) !== undefined) continue;
    throw new PawlError(
      "option_invalid",
      `\`${lifecycle.name}/${state.name}\` declares no \`${written[option]}\`, so none can be put. Declare one in its definition first, as high as you like.`,
      { lifecycle: lifecycle.name, state: state.name },
    );
  }
  const gate = `${lifecycle.name}/${state.name}`;
  await kernel.db.transaction(async (tx) => {
    await lockLaneLimits(tx);
    const now = (await readLaneLimits(tx)).find((one) => one.gate === gate);
    const { limit = now?.limit ?? null, limitEach = now?.limitEach ?? null } = change;
    const { rate = now?.rate ?? null, rateEach = now?.rateEach ?? null } = change;
    await putLaneLimits(tx, { gate, limit, limitEach, rate, rateEach, ...by });
  });
  await readChangedLimits(kernel);
  kernel.signals.hint(closedLanesTopic);
  return limitsOf(kernel, lifecycle.name, state);
}

function limitedState(lifecycle: LifecycleModel, name: string | undefined): StateModel {
  const working = workingStates(lifecycle).filter((one) => lifecycle.states.get(one)?.kind === "work");
  const state = name ?? (working.length === 1 ? working[0] : undefined);
  if (state !== undefined && working.includes(state)) return lifecycle.states.get(state)!;
  const problem = name === undefined ? "has several states that work" : `has no state \`${String(name)}\` that works`;
  throw new PawlError(
    "option_invalid",
    `\`${lifecycle.name}\` ${problem}. Give \`state\`: ${working.length === 0 ? "none works" : working.join(", ")}.`,
    { lifecycle: lifecycle.name, state: name },
  );
}
