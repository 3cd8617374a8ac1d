import type { AnyLifecycle } from "../../definition/language/public-types.ts";
import type { EffectLedger } from "../effect-ledger.ts";
import { instancesOf } from "../instances.ts";
import { stableText } from "../stable-text.ts";
import type { TestPawl } from "../test-pawl.ts";

/** How everything is at the end of a run, in a form that can be compared. */
export interface Outcome {
  /** Plain JSON values, by subject: the name of an instance, or empty for the scenario itself. */
  readonly parts: ReadonlyMap<string, unknown>;
  /** How often each effect happened, by its name. */
  readonly effects: ReadonlyMap<string, number>;
}

/**
 * Every instance with its state, outcome and data, by its name. Ids differ from run to run, so an instance's id is written as
 * its name wherever it occurs.
 */
export async function readOutcome(
  t: TestPawl,
  lifecycles: readonly AnyLifecycle[],
  effects: EffectLedger | undefined,
): Promise<Outcome> {
  const all = await instancesOf(t.pawl, lifecycles);
  const parts = new Map<string, unknown>();
  for (const { name, instance } of all) {
    const { state, outcome, data } = instance;
    const text = JSON.stringify({ state, outcome, data });
    parts.set(name, JSON.parse(all.reduce((one, other) => one.replaceAll(other.id, idOf(other.name)), text)));
  }
  return { parts, effects: countsOf(effects) };
}

/** Replaces an id; a name may contain quotes, which a JSON text may not. */
function idOf(name: string): string {
  return `<${name.replaceAll('"', "")}>`;
}

/** The same for the scenario's own outcome. */
export function statedOutcome(stated: unknown, effects: EffectLedger | undefined): Outcome {
  return { parts: new Map([["", JSON.parse(stableText({ stated }))]]), effects: countsOf(effects) };
}

function countsOf(effects: EffectLedger | undefined): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { name } of effects?.happened ?? []) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** How one outcome differs from another, a sentence each. Effects in `repeatable` may have happened more often. */
export function differences(expected: Outcome, actual: Outcome, repeatable: ReadonlySet<string>): string[] {
  const names = [...new Set([...expected.parts.keys(), ...actual.parts.keys()])];
  return [
    ...names.flatMap((name) => partDifferences(name, expected.parts, actual.parts)),
    ...effectDifferences(expected.effects, actual.effects, repeatable),
  ];
}

function partDifferences(name: string, expected: Outcome["parts"], actual: Outcome["parts"]): string[] {
  if (!actual.has(name)) return [`${name} is missing`];
  if (!expected.has(name)) return [`${name} is there, and is not without a crash: ${stableText(actual.get(name))}`];
  const [before, after] = [expected.get(name), actual.get(name)];
  const prefix = name === "" ? "" : `${name}: `;
  return valueDifferences(before, after, []).map((text) => prefix + text);
}

/** The places at which two JSON values differ. */
function valueDifferences(expected: unknown, actual: unknown, path: readonly string[]): string[] {
  if (stableText(expected) === stableText(actual)) return [];
  if (isObject(expected) && isObject(actual)) {
    const keys = [...new Set([...Object.keys(expected), ...Object.keys(actual)])];
    return keys.flatMap((key) => valueDifferences(expected[key], actual[key], [...path, key]));
  }
  // A stated outcome is wrapped, so that it may be any value.
  const place = (path[0] === "stated" ? ["outcome", ...path.slice(1)] : path).join(".");
  return [`${place} is ${shown(actual)}, and ${shown(expected)} without a crash`];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  const text = value === undefined ? "missing" : stableText(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function effectDifferences(
  expected: Outcome["effects"],
  actual: Outcome["effects"],
  repeatable: ReadonlySet<string>,
): string[] {
  const names = [...new Set([...expected.keys(), ...actual.keys()])].sort();
  return names.flatMap((name) => {
    const [wanted, found] = [expected.get(name) ?? 0, actual.get(name) ?? 0];
    if (found === wanted || (repeatable.has(name) && found > wanted && wanted > 0)) return [];
    return [`the effect \`${name}\` happened ${timesText(found)}, and ${timesText(wanted)} without a crash`];
  });
}

function timesText(count: number): string {
  if (count === 0) return "never";
  if (count === 1) return "once";
  return count === 2 ? "twice" : `${count} times`;
}
