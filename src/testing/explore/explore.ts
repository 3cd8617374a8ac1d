import { PawlError } from "../../base/errors.ts";
import { checkedOptions } from "../../base/options.ts";
import { validate } from "../../definition/decide/validate.ts";
import type { AnyLifecycle, DataOf } from "../../definition/language/public-types.ts";
import type { LifecycleModel } from "../../definition/model.ts";
import { checkExits } from "./check-exits.ts";
import { checkLoops } from "./check-loops.ts";
import { checkRecoveries } from "./check-recoveries.ts";
import { checkTimes } from "./check-times.ts";
import { eventMatrix } from "./event-matrix.ts";
import { declaredStates, exitsOf } from "./exits.ts";
import type { Exploration, ExploredState } from "./exploration.ts";
import { explorationText } from "./exploration-text.ts";
import { type Finding, Findings } from "./finding.ts";
import { deadlineTiming, type Samples, timeoutTimings } from "./timings.ts";

/** The options of an exploration. */
export interface ExploreOptions<L extends AnyLifecycle = AnyLifecycle> {
  /**
   * Examples of an instance's data. Guards, and timeouts and deadlines that are functions, are called with each of them;
   * without examples a guard may hold or refuse, and such a timeout may be missing.
   *
   * @default []
   */
  readonly data?: readonly DataOf<L>[];
}

/**
 * Walks a definition state by state and reports what the engine would do with it: states that may never be left,
 * recoveries that are refused, endless loops, events that some state lacks, deadlines that cannot be met, retries
 * without an end. It needs no database and runs no step.
 *
 * ```ts
 * const { findings, text } = explore(parcel);
 * if (findings.length > 0) console.log(text);
 * ```
 *
 * @throws `option_invalid` for anything but a lifecycle, and for invalid options or examples.
 */
export function explore<L extends AnyLifecycle>(lifecycle: L, options: ExploreOptions<L> = {}): Exploration {
  const model = checkedLifecycle(lifecycle);
  checkedOptions(options, ["data"], "explore");
  const samples = checkedSamples(model, options.data ?? []);
  const gathered = new Findings();
  const deadline = deadlineTiming(model, samples, gathered);
  const declared = declaredStates(model);
  const timeouts = new Map(declared.map((state) => [state.name, timeoutTimings(state, samples, gathered)]));
  checkExits(model, { deadline, timeouts }, gathered);
  checkLoops(model, gathered);
  const routes = checkRecoveries(model, { deadline, samples }, gathered);
  const budgets = checkTimes(model, { deadline, timeouts }, gathered);
  const matrix = eventMatrix(model, gathered);
  const states = declared
    .filter(({ final }) => final === undefined)
    .map((state): ExploredState => {
      const movedBy = [...new Set(exitsOf(model, state).map(({ by }) => by))];
      const { name, kind } = state;
      return { name, kind, movedBy, failure: routes.get(name)!, budget: budgets.get(name) ?? null };
    });
  const findings = gathered.list.toSorted((one, other) => rank(one) - rank(other));
  const explored = { lifecycle: model.name, version: model.version, findings, states, matrix };
  return { ...explored, text: explorationText(explored) };
}

function rank({ severity }: Finding): number {
  return severity === "error" ? 0 : 1;
}

function checkedLifecycle(given: unknown): LifecycleModel {
  const { kind, states } = (given ?? {}) as Partial<LifecycleModel>;
  if (kind === "lifecycle" && states instanceof Map) return given as LifecycleModel;
  throw new PawlError("option_invalid", "`explore` needs the return value of lifecycle() or job(): explore(parcel).");
}

function checkedSamples(model: LifecycleModel, given: unknown): Samples {
  if (!Array.isArray(given)) throw new PawlError("option_invalid", "`data` of `explore` must be a list of examples.");
  return given.map((data: unknown, index) => {
    const { value, faults } = validate(model.data, data, `Example ${index + 1}`);
    if (faults === undefined) return (value ?? {}) as Samples[number];
    throw new PawlError("option_invalid", `Example ${index + 1} in \`data\` of \`explore\`: ${faults.join("; ")}.`);
  });
}
