import { canonicalJson } from "../../base/canonical-json.ts";
import type { Json } from "../../base/json.ts";
import {
  type Answer,
  answerIn,
  answersOf,
  isRemark,
  type LabelShape,
  meanOf,
  pairAgreement,
  ready,
  shapeOf,
} from "./label-shape.ts";

/** The consensus of labels about one field, or about the whole label. */
export interface FieldConsensus {
  /** Undefined where it is a tie, and where more than half left an optional field out. */
  readonly value: Json | undefined;
  readonly tie: boolean;
  /** The tied values; otherwise the one value. */
  readonly candidates: readonly Json[];
  /** The number of labels with a value for it. */
  readonly votes: number;
  /** The mean agreement of two labels, from 0 to 1; null below two. */
  readonly agreement: number | null;
}

export interface Consensus<Label = unknown> {
  /** Undefined in a tie and without labels; then the caller decides: another labeler, a lead, or one of the candidates. */
  readonly label: Label | undefined;
  readonly tie: boolean;
  /** The mean over the fields, remarks left out. */
  readonly agreement: number | null;
  /** By field; "" if a label is one answer. */
  readonly fields: Readonly<Record<string, FieldConsensus>>;
}

/**
 * Computes the consensus of the labels of one sample: the most frequent choice, of several choices those in more than
 * half of the labels, of numbers the median (or mean). A tie is reported and never broken by chance or by order.
 *
 * ```ts
 * consensusOf([{ animal: "cat", sure: 4 }, { animal: "cat", sure: 2 }, { animal: "dog", sure: 3 }]).label;
 * // { animal: "cat", sure: 3 }
 * ```
 *
 * Without a shape it is inferred from the labels; `labelShape(schema)` reads it from the queue's schema.
 */
export function consensusOf<Label>(
  labels: readonly Label[],
  shape: LabelShape = shapeOf(labels as readonly Json[]),
): Consensus<Label> {
  const fields = Object.fromEntries(
    answersOf(shape).map(([field, answer]) => {
      const values = labels
        .map((label) => answerIn(label as Json, shape, field))
        .filter((value) => value !== undefined);
      return [field, fieldConsensus(answer, values, labels.length - values.length)];
    }),
  );
  const tie = Object.values(fields).some((field) => field.tie);
  const agreement = meanOf(
    answersOf(shape).map(([name, answer]) => (isRemark(answer) ? null : fields[name]!.agreement)),
  );
  if (tie || labels.length === 0) return { label: undefined, tie, agreement, fields };
  if (shape.kind !== "fields") return { label: fields[""]!.value as Label, tie, agreement, fields };
  const known = Object.entries(fields).filter(([, { value }]) => value !== undefined);
  return {
    label: Object.fromEntries(known.map(([name, { value }]) => [name, value])) as Label,
    tie,
    agreement,
    fields,
  };
}

function fieldConsensus(answer: Answer, values: readonly Json[], silent: number): FieldConsensus {
  const agreement = pairAgreement(
    answer,
    values.map((value) => ready(answer, value)),
  );
  const found = { votes: values.length, agreement };
  const silence = answer.optional === true ? silent : 0;
  if (values.length === 0 || silence > values.length) return { value: undefined, tie: false, candidates: [], ...found };
  const candidates = candidatesOf(answer, values);
  const tie = candidates.length > 1 || silence === values.length;
  if (!tie) return { value: candidates[0], tie, candidates, ...found };
  return { value: undefined, tie: !isRemark(answer), candidates, ...found };
}

function candidatesOf(answer: Answer, values: readonly Json[]): readonly Json[] {
  if (answer.kind === "numeric" && values.every((value) => typeof value === "number")) return middle(answer, values);
  if (answer.kind === "multiple" && values.every((value) => Array.isArray(value))) return chosen(values);
  return mostFrequent(answer, values);
}

/** All values with the highest count, in the order of their first label. */
function mostFrequent(answer: Answer, values: readonly Json[]): readonly Json[] {
  const votes = new Map<string, { value: Json; count: number }>();
  for (const value of values) {
    const key = String(ready(answer, value));
    const vote = votes.get(key);
    if (vote === undefined) votes.set(key, { value, count: 1 });
    else vote.count++;
  }
  const most = Math.max(...[...votes.values()].map(({ count }) => count));
  return [...votes.values()].filter(({ count }) => count === most).map(({ value }) => value);
}

/** The mean of the two middle values, unless only whole numbers are answers: then it is a tie. */
function middle(answer: Answer & { kind: "numeric" }, values: readonly number[]): readonly number[] {
  if (answer.by === "mean") return whole(answer, values.reduce((sum, value) => sum + value, 0) / values.length);
  const sorted = values.toSorted((one, other) => one - other);
  const low = sorted[Math.floor((sorted.length - 1) / 2)]!;
  const high = sorted[Math.ceil((sorted.length - 1) / 2)]!;
  return low === high ? [low] : whole(answer, low / 2 + high / 2, [low, high]);
}

function whole(
  answer: Answer & { kind: "numeric" },
  number: number,
  otherwise: readonly number[] = [Math.floor(number), Math.ceil(number)],
): readonly number[] {
  return answer.integer === true && !Number.isInteger(number) ? otherwise : [number];
}

/** The choices of more than half. Where just half made one, there are two answers: without such choices and with them. */
function chosen(values: readonly (readonly Json[])[]): readonly Json[] {
  const votes = new Map<string, { choice: Json; count: number }>();
  for (const value of values) {
    for (const [key, choice] of new Map(value.map((choice) => [canonicalJson(choice), choice]))) {
      votes.set(key, { choice, count: (votes.get(key)?.count ?? 0) + 1 });
    }
  }
  const made = (enough: (count: number) => boolean) =>
    [...votes]
      .filter(([, { count }]) => enough(count))
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([, { choice }]) => choice);
  const without = made((count) => count * 2 > values.length);
  const including = made((count) => count * 2 >= values.length);
  return without.length === including.length ? [without] : [without, including];
}
