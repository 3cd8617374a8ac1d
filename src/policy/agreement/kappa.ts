import { PawlError } from "../../base/errors.ts";
import type { Json } from "../../base/json.ts";
import { columnsOf, type GivenLabel, rowsBySample } from "./label-columns.ts";

/** How much a disagreement weighs: all alike, by the distance of the two labels, or by its square. */
export type KappaWeights = "none" | "linear" | "quadratic";

/**
 * Cohen's kappa of two labelers over the samples that both have labeled: 1 is perfect agreement, 0 is what chance would
 * give. Null if it is not defined: they share no sample, or both gave one and the same label everywhere.
 *
 * ```ts
 * cohensKappa(labels, "ada", "bob", { weights: "linear", order: ["poor", "fair", "good"] });
 * ```
 *
 * Weights need the position of a label: numbers have their value, anything else its place in `order`.
 */
export function cohensKappa(
  labels: Iterable<GivenLabel>,
  one: string,
  other: string,
  options: { readonly weights?: KappaWeights; readonly order?: readonly Json[] } = {},
): number | null {
  const columns = columnsOf(pairsOf(labels, one, other).flat(), options.order);
  const pairs = columns.valueAt.length / 2;
  const { values, valueAt } = columns;
  const weights = options.weights ?? "none";
  const places = weights === "none" ? [...values.keys()] : placesOf(values, options.order);
  const distance = distances[weights];
  const [ones, others] = [new Float64Array(values.length), new Float64Array(values.length)];
  let observed = 0;
  for (let pair = 0; pair < pairs; pair++) {
    const [left, right] = [valueAt[2 * pair]!, valueAt[2 * pair + 1]!];
    ones[left]! += 1 / pairs;
    others[right]! += 1 / pairs;
    observed += distance(places[left]!, places[right]!) / pairs;
  }
  const used = [...values.keys()].filter((value) => ones[value]! > 0 || others[value]! > 0);
  if (used.length < 2) return null;
  const byPlace = used.sort((left, right) => places[left]! - places[right]!);
  return kappaOf(
    observed,
    expectedBy[weights](byPlace.map((value) => ({ place: places[value]!, one: ones[value]!, other: others[value]! }))),
  );
}

/** The two labels of each sample that both labelers gave one to; of several of one labeler the last. */
function pairsOf(labels: Iterable<GivenLabel>, one: string, other: string): [GivenLabel, GivenLabel][] {
  const firsts = new Map<string, GivenLabel>();
  const seconds = new Map<string, GivenLabel>();
  for (const given of labels) {
    if (given.labeler === one) firsts.set(given.sample, given);
    else if (given.labeler === other) seconds.set(given.sample, given);
  }
  const pairs: [GivenLabel, GivenLabel][] = [];
  for (const [sample, first] of firsts) {
    const second = seconds.get(sample);
    if (second !== undefined) pairs.push([first, second]);
  }
  return pairs;
}

const distances: Readonly<Record<KappaWeights, (one: number, other: number) => number>> = {
  none: (one, other) => (one === other ? 0 : 1),
  linear: (one, other) => Math.abs(one - other),
  quadratic: (one, other) => (one - other) ** 2,
};

/** A label by its place, and with which share of their labels either labeler gave it. */
interface Share {
  readonly place: number;
  readonly one: number;
  readonly other: number;
}

/** The mean distance of two labelers who choose independently, computed without comparing each pair of labels. */
const expectedBy: Readonly<Record<KappaWeights, (shares: readonly Share[]) => number>> = {
  none: (shares) => 1 - shares.reduce((sum, { one, other }) => sum + one * other, 0),
  // The distance between two neighbouring positions counts as often as one labeler chooses below it and the other
  // above.
  linear: (shares) => {
    let [below, under, expected] = [0, 0, 0];
    shares.slice(0, -1).forEach(({ place, one, other }, index) => {
      below += one;
      under += other;
      expected += (shares[index + 1]!.place - place) * (below * (1 - under) + under * (1 - below));
    });
    return expected;
  },
  // Only their means and variances matter.
  quadratic: (shares) => {
    const mean = shares.reduce((sum, { place, one }) => sum + place * one, 0);
    const meanOfOther = shares.reduce((sum, { place, other }) => sum + place * other, 0);
    const variances = shares.reduce(
      (sum, { place, one, other }) => sum + one * (place - mean) ** 2 + other * (place - meanOfOther) ** 2,
      0,
    );
    return variances + (mean - meanOfOther) ** 2;
  },
};

function kappaOf(observed: number, expected: number): number | null {
  return expected > 0 ? 1 - observed / expected : null;
}

function placesOf(values: readonly Json[], order: readonly Json[] | undefined): readonly number[] {
  const strange = values.find((value, index) =>
    order === undefined ? typeof value !== "number" : index >= order.length,
  );
  if (strange === undefined) return order === undefined ? (values as readonly number[]) : [...values.keys()];
  const reason = order === undefined ? "is not a number" : "is not in the given order";
  const remedy = "Give `order` with all labels from the least to the most, or use kappa without weights.";
  throw new PawlError("option_invalid", `For a weighted kappa, ${JSON.stringify(strange)} ${reason}. ${remedy}`);
}

/**
 * Fleiss' kappa: like Cohen's for any number of labelers, who need not be the same for each sample. Samples may differ
 * in their number of labels, and each counts alike; with equal numbers, it is Fleiss' own. A sample with one label is
 * left out. Null if it is not defined: no sample has two labels, or all are the same.
 */
export function fleissKappa(labels: Iterable<GivenLabel>): number | null {
  const { values, valueAt, ...columns } = columnsOf(labels);
  const inSample = new Int32Array(values.length);
  const shares = new Float64Array(values.length);
  let [pairable, agreement] = [0, 0];
  for (const rows of rowsBySample({ values, valueAt, ...columns })) {
    if (rows.length < 2) continue;
    pairable++;
    for (const row of rows) inSample[valueAt[row]!]!++;
    for (const row of rows) {
      const count = inSample[valueAt[row]!]!;
      shares[valueAt[row]!]! += count / rows.length;
      agreement += (count * (count - 1)) / (rows.length * (rows.length - 1));
      inSample[valueAt[row]!] = 0; // Counted once; its other rows add nothing.
    }
  }
  const byChance = shares.reduce((sum, share) => sum + (share / pairable) ** 2, 0);
  return pairable === 0 ? null : kappaOf(1 - agreement / pairable, 1 - byChance);
}
