import { createHash } from "node:crypto";
import { messageOf } from "../../base/errors.ts";
import { ignoreRejection, isThenable } from "../../base/guard.ts";
import type { Context, KeyedModel, StateModel } from "../model.ts";

/** The key by which a task takes its turn and is counted, and how many tasks its key may take in a turn. */
export interface LaneKey {
  readonly key: string;
  readonly weight: number;
  /** What was wrong with what the state's functions returned; null for nothing. */
  readonly problem: string | null;
}

/** The key of tasks without one: they share it. */
export const noKey = "\u0001";

const longestKey = 200;
const mostWeight = 100;

/**
 * The key of a task that enters a state. Nothing that a state's functions do keeps an instance from moving: a task whose key
 * is unknown shares one with all others of its kind, so that its limits hold all the same.
 */
export function laneKeyOf({ name, keyed }: StateModel, context: Context): LaneKey | undefined {
  if (keyed === undefined) return undefined;
  const problems: string[] = [];
  const shared = keyed.share === undefined ? undefined : sharedBy(name, keyed.share, context, problems);
  const pers = persOf(keyed).map(([option, per]) => {
    const what = `The \`${option}.per\` of \`${name}\``;
    return keyIn(called(what, per, context, problems), what, problems);
  });
  const keys = shared === undefined ? pers : [...pers, shared.key];
  const [key = noKey] = keys;
  if (keys.some((one) => one !== key)) {
    const all = keys.map((one) => (one === noKey ? "none" : `"${one}"`)).join(" and ");
    problems.push(
      `The functions of \`${name}\` give different keys: ${all}. A state has one key; the first of them counts.`,
    );
  }
  return { key, weight: shared?.weight ?? 1, problem: problems.length === 0 ? null : problems.join(" ") };
}

function persOf({ limitPer, ratePer }: KeyedModel): [string, NonNullable<KeyedModel["limitPer"]>][] {
  const pers: [string, NonNullable<KeyedModel["limitPer"]>][] = [];
  if (limitPer !== undefined) pers.push(["limit", limitPer]);
  if (ratePer !== undefined && ratePer !== limitPer) pers.push(["rate", ratePer]);
  return pers;
}

function sharedBy(
  state: string,
  share: NonNullable<KeyedModel["share"]>,
  context: Context,
  problems: string[],
): { key: string; weight: number } {
  const what = `The \`share\` of \`${state}\``;
  const returned = called(what, share, context, problems);
  if (typeof returned !== "object" || returned === null) return { key: keyIn(returned, what, problems), weight: 1 };
  try {
    const { key, weight = 1 } = returned as { readonly key?: unknown; readonly weight?: unknown };
    return { key: keyIn(key, what, problems), weight: weightIn(weight, what, problems) };
  } catch (thrown) {
    problems.push(`${what} returned an object that threw: ${messageOf(thrown)}.`); // A getter.
    return { key: noKey, weight: 1 };
  }
}

/** What the function returned; null, which is no key, when it threw. */
function called(what: string, work: (context: Context) => unknown, context: Context, problems: string[]): unknown {
  try {
    const returned = work(context);
    if (!isThenable(returned)) return returned;
    ignoreRejection(returned);
    problems.push(`${what} returned a promise. It must decide synchronously.`);
  } catch (thrown) {
    problems.push(`${what} threw: ${messageOf(thrown)}.`);
  }
  return null;
}

function keyIn(value: unknown, what: string, problems: string[]): string {
  if (value === null) return noKey;
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  if (typeof value === "string" && value !== "") return storedKey(value);
  const shown =
    value === "" ? "an empty text" : typeof value === "number" ? String(value) : `a key of type ${typeof value}`;
  problems.push(`${what} returned ${shown}. Return a text or a number, or null for no key.`);
  return noKey;
}

/** Long keys are cut, with a digest that keeps them apart; what a database cannot store is replaced. */
function storedKey(key: string): string {
  const clean = key.toWellFormed().replaceAll("\u0000", "\uFFFD");
  if (clean.length <= longestKey) return clean;
  const digest = createHash("sha256").update(clean).digest("hex").slice(0, 32);
  return `${clean.slice(0, 150).toWellFormed()}…${digest}`;
}

function weightIn(weight: unknown, what: string, problems: string[]): number {
  if (typeof weight === "number" && weight >= 0.5 && weight < mostWeight + 0.5) return Math.round(weight);
  problems.push(`${what} returned the weight ${String(weight)}. Return a whole number from 1 to ${mostWeight}.`);
  return typeof weight === "number" && weight > mostWeight ? mostWeight : 1;
}
