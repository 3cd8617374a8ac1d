import { PawlError } from "../../base/errors.ts";
import type { Json } from "../../base/json.ts";
import { columnsOf, type GivenLabel, type LabelColumns, rowsBySample } from "./label-columns.ts";

/** The distance of two labels: equal or different, the ranks between them, or their difference. */
export type Scale = "nominal" | "ordinal" | "interval";

/**
 * Krippendorff's alpha: 1 is perfect agreement, 0 is what chance would give, less than 0 is worse than chance. For any
 * number of labelers, who need not have labeled the same samples. Null if it is not defined: no sample has two labels,
 * or all labels are the same, so that no disagreement was possible.
 *
 * ```ts
 * krippendorffAlpha([{ sample: "s1", labeler: "ada", label: 4 }, { sample: "s1", labeler: "bob", label: 5 }], "interval");
 * ```
 *
 * `ordinal` and `interval` take numbers; `ordinal` also the values in `order`, from the least to the most.
 */
export function krippendorffAlpha(
  labels: Iterable<GivenLabel>,
  scale: Scale = "nominal",
  order?: readonly Json[],
): number | null {
  const columns = columnsOf(labels, order);
  return scale === "nominal" ? nominalAlpha(columns) : distanceAlpha(columns, positionsOf(columns, scale, order));
}

/** By counts: of a sample with m labels, those of each value disagree with all that are not of it. */
function nominalAlpha(columns: LabelColumns): number | null {
  const inSample = new Int32Array(columns.values.length);
  const inAll = new Float64Array(columns.values.length);
  let pairable = 0;
  let observed = 0;
  for (const rows of rowsBySample(columns)) {
    if (rows.length < 2) continue;
    for (const row of rows) inSample[columns.valueAt[row]!]!++;
    let same = 0;
    for (const row of rows) {
      const value = columns.valueAt[row]!;
      same += inSample[value]! ** 2;
      inAll[value]! += inSample[value]!;
      inSample[value] = 0; // Counted once; its other rows add nothing.
    }
    pairable += rows.length;
    observed += (rows.length ** 2 - same) / (rows.length - 1);
  }
  const expected = pairable ** 2 - inAll.reduce((sum, count) => sum + count ** 2, 0);
  return alphaOf(observed, expected, pairable);
}

/** By sums: all squared differences among m numbers are 2 (m Σx² − (Σx)²), without looking at one pair. */
function distanceAlpha(columns: LabelColumns, positions: Float64Array): number | null {
  let pairable = 0;
  let observed = 0;
  let sum = 0;
  let squares = 0;
  let [least, most] = [Infinity, -Infinity];
  for (const rows of rowsBySample(columns)) {
    if (rows.length < 2) continue;
    let ownSum = 0;
    let ownSquares = 0;
    for (const row of rows) {
      const position = positions[columns.valueAt[row]!]!;
      ownSum += position;
      ownSquares += position ** 2;
      least = Math.min(least, position);
      most = Math.max(most, position);
    }
    observed += (2 * (rows.length * ownSquares - ownSum ** 2)) / (rows.length - 1);
    pairable += rows.length;
    sum += ownSum;
    squares += ownSquares;
  }
  return least < most ? alphaOf(observed, 2 * (pairable * squares - sum ** 2), pairable) : null;
}

/** Sums of disagreement over pairs within samples (each weighed by 1 / (m − 1)) and over all pairs there are. */
export function alphaOf(observed: number, expected: number, pairable: number): number | null {
  if (pairable < 2 || expected <= 0) return null;
  return 1 - ((pairable - 1) * observed) / expected;
}

/**
 * The position of each value. Ranks are half-way through the labels of their value, counted over all labels that can be
 * paired: their squared differences are exactly Krippendorff's ordinal metric.
 */
function positionsOf(columns: LabelColumns, scale: "ordinal" | "interval", order?: readonly Json[]): Float64Array {
  const { values } = columns;
  if (order !== undefined && scale === "ordinal") {
    if (values.length > order.length) throw notOn(scale, values[order.length]!, "is not in the given order");
    return midRanks(columns, Float64Array.from(values.keys()));
  }
  const strange = values.find((value) => typeof value !== "number");
  if (strange !== undefined) throw notOn(scale, strange, "is not a number");
  const numbers = Float64Array.from(values as readonly number[]);
  return scale === "ordinal" ? midRanks(columns, numbers) : centered(numbers);
}

function notOn(scale: Scale, value: Json, reason: string): PawlError {
  const remedy = scale === "ordinal" ? "Give `order`, or use the nominal scale." : "Use the ordinal or nominal scale.";
  return new PawlError("option_invalid", `On the ${scale} scale, ${JSON.stringify(value)} ${reason}. ${remedy}`);
}

function midRanks(columns: LabelColumns, places: Float64Array): Float64Array {
  const counts = new Float64Array(places.length);
  for (const rows of rowsBySample(columns)) {
    if (rows.length > 1) for (const row of rows) counts[columns.valueAt[row]!]!++;
  }
  const ranks = new Float64Array(places.length);
  let below = 0;
  for (const value of [...places.keys()].sort((one, other) => places[one]! - places[other]!)) {
    ranks[value] = below + counts[value]! / 2;
    below += counts[value]!;
  }
  return centered(ranks);
}

/** Around zero, so that large numbers with small differences keep their digits. */
function centered(numbers: Float64Array): Float64Array {
  const middle = numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, numbers.length);
  return numbers.map((number) => number - middle);
}
