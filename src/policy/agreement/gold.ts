import type { Json } from "../../base/json.ts";
import type { GivenLabel } from "./label-columns.ts";
import { answerIn, answersOf, isRight, type LabelShape, shapeOf } from "./label-shape.ts";

/** How a labeler did on samples whose label is known. */
export interface GoldAccuracy {
  readonly labeler: string;
  /** Labels that they gave to gold samples. */
  readonly labels: number;
  readonly right: number;
  readonly accuracy: number;
  /** The 95 % confidence interval of the accuracy: wide for few labels. */
  readonly interval: readonly [low: number, high: number];
}

/**
 * How each labeler did on the gold samples, the least accurate first. A label is right when it agrees with every field that
 * the gold label has; a number may be off by its tolerance.
 *
 * ```ts
 * const careless = accuracyOnGold(labels, gold).filter(({ interval: [, high] }) => high < 0.8);
 * ```
 */
export function accuracyOnGold(
  labels: Iterable<GivenLabel>,
  gold: ReadonlyMap<string, Json>,
  shape: LabelShape = shapeOf([...gold.values()]),
): GoldAccuracy[] {
  const counts = new Map<string, { labels: number; right: number }>();
  for (const { sample, labeler, label } of labels) {
    const known = gold.get(sample);
    if (known === undefined) continue;
    const count = counts.get(labeler) ?? { labels: 0, right: 0 };
    counts.set(labeler, {
      labels: count.labels + 1,
      right: count.right + (isGold(label as Json, known, shape) ? 1 : 0),
    });
  }
  return [...counts]
    .map(([labeler, { labels, right }]) => {
      return { labeler, labels, right, accuracy: right / labels, interval: wilsonInterval(right, labels) };
    })
    .sort((one, other) => one.accuracy - other.accuracy || (one.labeler < other.labeler ? -1 : 1));
}

/** Whether a label equals the gold label. A field that the gold label omits may have any value. */
export function isGold(label: Json, gold: Json, shape: LabelShape): boolean {
  return answersOf(shape).every(([field, answer]) => {
    const right = answerIn(gold, shape, field);
    const given = answerIn(label, shape, field);
    return right === undefined || (given !== undefined && isRight(answer, given, right));
  });
}

/** Of the standard normal distribution: 95 % are within. */
const standardScore = 1.959963984540054;

/** Wilson's score interval of a share: good for few tries and for shares near 0 and 1, too. */
export function wilsonInterval(right: number, tries: number, score = standardScore): readonly [number, number] {
  if (tries === 0) return [0, 1];
  const share = right / tries;
  const weight = score ** 2 / tries;
  const middle = share + weight / 2;
  const half = Math.sqrt(share * (1 - share) * weight + weight ** 2 / 4);
  const low = right === 0 ? 0 : (middle - half) / (1 + weight);
  const high = right === tries ? 1 : (middle + half) / (1 + weight);
  return [low, high];
}
