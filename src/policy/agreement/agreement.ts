import { canonicalJson } from "../../base/canonical-json.ts";
import type { Json } from "../../base/json.ts";
import { alphaOf, krippendorffAlpha, type Scale } from "./alpha.ts";
import { columnsOf, type GivenLabel, rowsBySample } from "./label-columns.ts";
import {
  type Answer,
  answerIn,
  answersOf,
  isRemark,
  type LabelShape,
  meanOf,
  pairAgreement,
  ready,
  scaleOf,
  shapeOf,
  similarity,
} from "./label-shape.ts";

/** The agreement of labelers on one field, or on the whole label. */
export interface FieldAgreement {
  readonly kind: Answer["kind"];
  readonly scale: Scale | "sets";
  readonly labels: number;
  /** Samples with two labels or more: all that agreement can be seen in. */
  readonly samples: number;
  /** The mean agreement of two labels of one sample, from 0 to 1, chance included. */
  readonly agreement: number | null;
  /** Krippendorff's alpha: agreement beyond chance. */
  readonly alpha: number | null;
}

export interface Agreement {
  /** By field; "" if a label is one answer. */
  readonly fields: Readonly<Record<string, FieldAgreement>>;
  /** The means over the fields that have one, without remarks. */
  readonly agreement: number | null;
  readonly alpha: number | null;
  /** The field with the lowest alpha: where the question or its guide is unclear. */
  readonly weakest: string | null;
}

/** Computes the agreement of labelers, by field and in total. */
export function agreementOf(labels: Iterable<GivenLabel>, shape?: LabelShape): Agreement {
  const given = [...labels];
  const known = shape ?? shapeOf(given.map(({ label }) => label as Json));
  const fields = answersOf(known).map(([field, answer]): [string, FieldAgreement] => {
    return [field, fieldAgreement(answersIn(given, known, field), answer)];
  });
  const counted = fields.filter((_, index) => !isRemark(answersOf(known)[index]![1]));
  const byAlpha = counted.filter(([, { alpha }]) => alpha !== null).sort(([, one], [, two]) => one.alpha! - two.alpha!);
  return {
    fields: Object.fromEntries(fields),
    agreement: meanOf(counted.map(([, { agreement }]) => agreement)),
    alpha: meanOf(counted.map(([, { alpha }]) => alpha)),
    weakest: byAlpha[0]?.[0] ?? null,
  };
}

/** The values of one answer; labels without it are left out. */
function answersIn(labels: readonly GivenLabel[], shape: LabelShape, field: string): GivenLabel[] {
  return labels.flatMap(({ sample, labeler, label }) => {
    const value = answerIn(label as Json, shape, field);
    return value === undefined ? [] : [{ sample, labeler, label: value }];
  });
}

function fieldAgreement(labels: readonly GivenLabel[], answer: Answer): FieldAgreement {
  const columns = columnsOf(labels);
  const values = columns.values.map((value) => ready(answer, value));
  const ofSamples: number[] = [];
  for (const rows of rowsBySample(columns)) {
    const agreement = pairAgreement(
      answer,
      Array.from(rows, (row) => values[columns.valueAt[row]!]!),
    );
    if (agreement !== null) ofSamples.push(agreement);
  }
  return {
    kind: answer.kind,
    scale: scaleOf(answer),
    labels: labels.length,
    samples: ofSamples.length,
    agreement: meanOf(ofSamples),
    alpha: alphaFor(labels, answer),
  };
}

/** Labels that are not on the answer's scale, from a time when the schema was another, are as if they were missing. */
function alphaFor(labels: readonly GivenLabel[], answer: Answer): number | null {
  const scale = scaleOf(answer);
  if (answer.kind === "multiple" || scale === "sets") return alphaOfSets(labels);
  if (answer.kind === "text") {
    return krippendorffAlpha(
      labels.map((given) => ({ ...given, label: ready(answer, given.label as Json) as string })),
    );
  }
  if (answer.kind === "numeric")
    return krippendorffAlpha(
      labels.filter(({ label }) => typeof label === "number"),
      scale,
    );
  const { order } = answer;
  const known = order?.map(canonicalJson);
  const held =
    known === undefined ? labels : labels.filter(({ label }) => known.includes(canonicalJson(label as Json)));
  return krippendorffAlpha(held, scale, order);
}

/**
 * Krippendorff's alpha where labels are sets and their distance is the number of choices that one has and the other has
 * not: each choice is a yes or a no of its own, and all their disagreements are added up.
 */
function alphaOfSets(labels: Iterable<GivenLabel>): number | null {
  const columns = columnsOf(labels);
  const sets = columns.values.map((value) => [...new Set((Array.isArray(value) ? value : [value]).map(canonicalJson))]);
  const inAll = new Map<string, number>();
  let [pairable, observed] = [0, 0];
  for (const rows of rowsBySample(columns)) {
    if (rows.length < 2) continue;
    const inSample = new Map<string, number>();
    for (const row of rows) {
      for (const choice of sets[columns.valueAt[row]!]!) inSample.set(choice, (inSample.get(choice) ?? 0) + 1);
    }
    for (const [choice, count] of inSample) {
      inAll.set(choice, (inAll.get(choice) ?? 0) + count);
      observed += (2 * count * (rows.length - count)) / (rows.length - 1);
    }
    pairable += rows.length;
  }
  let expected = 0;
  for (const count of inAll.values()) expected += 2 * count * (pairable - count);
  return alphaOf(observed, expected, pairable);
}

/** How a labeler's labels go with those of the others on the same samples, from 0 to 1; null where there are no others. */
export interface LabelerAgreement {
  readonly labeler: string;
  readonly labels: number;
  readonly agreement: number | null;
}

/**
 * Each labeler compared with the others, the lowest agreement first: finds labelers who answer at random without any
 * gold label.
 */
export function agreementByLabeler(labels: Iterable<GivenLabel>, shape?: LabelShape): LabelerAgreement[] {
  const given = [...labels];
  const known = shape ?? shapeOf(given.map(({ label }) => label as Json));
  const sums = new Map<string, { sum: number; count: number }>();
  for (const [field, answer] of answersOf(known)) {
    addAgreements(answersIn(given, known, field), answer, sums);
  }
  const counts = new Map<string, number>();
  for (const { labeler } of given) counts.set(labeler, (counts.get(labeler) ?? 0) + 1);
  return [...counts]
    .map(([labeler, count]) => {
      const sum = sums.get(labeler);
      return { labeler, labels: count, agreement: sum === undefined ? null : sum.sum / sum.count };
    })
    .sort((one, other) => (one.agreement ?? 2) - (other.agreement ?? 2) || (one.labeler < other.labeler ? -1 : 1));
}

/** Adds, for each labeler, the similarity of each label with every other one of its sample. */
function addAgreements(
  labels: readonly GivenLabel[],
  answer: Answer,
  sums: Map<string, { sum: number; count: number }>,
): void {
  const columns = columnsOf(labels);
  const values = columns.values.map((value: Json) => ready(answer, value));
  for (const rows of rowsBySample(columns)) {
    for (const row of rows) {
      const labeler = columns.labelers[columns.labelerAt[row]!]!;
      for (const other of rows) {
        if (columns.labelerAt[other] === columns.labelerAt[row]) continue;
        const sum = sums.get(labeler) ?? { sum: 0, count: 0 };
        sum.sum += similarity(answer, values[columns.valueAt[row]!]!, values[columns.valueAt[other]!]!);
        sum.count++;
        sums.set(labeler, sum);
      }
    }
  }
}
