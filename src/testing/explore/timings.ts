import { parseDuration } from "../../base/duration.ts";
import { messageOf } from "../../base/errors.ts";
import { compute } from "../../base/guard.ts";
import type { Context, LifecycleModel, StateModel, Timing } from "../../definition/model.ts";
import type { Findings } from "./finding.ts";

/** Example data of instances, as passed to `explore`: the arguments for functions of the definition. */
export type Samples = readonly Readonly<Record<string, unknown>>[];

/** How long something takes. A function of the data has as many answers as there are samples. */
export interface KnownTiming {
  /** The shortest and the longest of the answers; undefined where none is known. */
  readonly leastMs: number | undefined;
  readonly maxMs: number | undefined;
  /** Whether there may be no such moment at all: the function returned null, or was never called. */
  readonly isOptional: boolean;
}

/** Reads a moment of a definition. A function that fails is a finding, and then its moment is not known. */
function knownTiming(
  timing: Timing,
  about: { readonly state: string; readonly what: string },
  samples: Samples,
  findings: Findings,
): KnownTiming {
  if (typeof timing !== "function") {
    const ms = parseDuration(timing);
    const known = typeof ms === "number" ? ms : undefined;
    return { leastMs: known, maxMs: known, isOptional: false };
  }
  const answers = samples.map((data) => answerOf(timing, about, data, findings));
  const known = answers.filter((ms): ms is number => typeof ms === "number");
  const isOptional = samples.length === 0 || answers.includes(null);
  if (known.length === 0) return { leastMs: undefined, maxMs: undefined, isOptional };
  return { leastMs: Math.min(...known), maxMs: Math.max(...known), isOptional };
}

function answerOf(
  timing: (context: Context) => unknown,
  { state, what }: { readonly state: string; readonly what: string },
  data: Readonly<Record<string, unknown>>,
  findings: Findings,
): number | null | undefined {
  try {
    const given = compute("set_failed", what, () => timing(contextOf(state, data)));
    if (given === null) return null;
    const ms = parseDuration(given);
    if (typeof ms === "number") return ms;
    findings.add("function_failed", "error", { state }, `${what}: ${ms}`, "Return a duration, or null for none.");
  } catch (error) {
    const remedy = "If it throws, the instance cannot enter the state. Return a duration, or null for none.";
    findings.add("function_failed", "error", { state }, messageOf(error), remedy);
  }
  return undefined;
}

const exampleId = "00000000-0000-7000-8000-000000000000";

/** The argument of a function of the definition, for an example. */
function contextOf(state: string, data: Readonly<Record<string, unknown>>): Context {
  return { data, payload: undefined, actor: null, id: exampleId, key: null, state, now: "2030-01-01T12:00:00.000Z" };
}

/** The deadline of a lifecycle; undefined where it declares none. */
export function deadlineTiming(
  lifecycle: LifecycleModel,
  samples: Samples,
  findings: Findings,
): KnownTiming | undefined {
  if (lifecycle.deadline === undefined) return undefined;
  const about = { state: lifecycle.initial, what: `The deadline of \`${lifecycle.name}\`` };
  return knownTiming(lifecycle.deadline.within, about, samples, findings);
}

/** The timeouts of a state, in order of declaration. */
export function timeoutTimings(state: StateModel, samples: Samples, findings: Findings): KnownTiming[] {
  const what = `The timeout of \`${state.name}\``;
  return state.timeouts.map(({ after }) => knownTiming(after, { state: state.name, what }, samples, findings));
}
