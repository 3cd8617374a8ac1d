import { canonicalJson } from "../../base/canonical-json.ts";
import type { Json } from "../../base/json.ts";
import type { Scale } from "./alpha.ts";
import { fieldOf, isFields } from "./label-columns.ts";

/** How to compare one answer: when two values agree, and what their distance is. */
export type Answer =
  /** One of several values. `order`, from the least to the most, makes their agreement ordinal. */
  | { readonly kind: "categorical"; readonly order?: readonly Json[]; readonly optional?: boolean }
  /** Any number of choices, in no order. */
  | { readonly kind: "multiple"; readonly optional?: boolean }
  /** A number. With a `range`, near is nearly agreed; within `tolerance` of gold it is right. */
  | {
      readonly kind: "numeric";
      readonly integer?: boolean;
      readonly range?: readonly [number, number];
      readonly tolerance?: number;
      readonly by?: "median" | "mean";
      readonly scale?: "ordinal" | "interval";
      readonly optional?: boolean;
    }
  /** Free text; what differs in blanks alone is the same. */
  | { readonly kind: "text"; readonly optional?: boolean };

/** Labels are read as one answer, or field by field. */
export type LabelShape = Answer | { readonly kind: "fields"; readonly fields: Readonly<Record<string, Answer>> };

/** The answers of a shape by the name of their field; a label that is one answer has the name "". */
export function answersOf(shape: LabelShape): readonly (readonly [field: string, answer: Answer])[] {
  return shape.kind === "fields" ? Object.entries(shape.fields) : [["", shape]];
}

/** What people add of their own free will holds nothing up: on remarks they need not agree. */
export function isRemark(answer: Answer): boolean {
  return answer.kind === "text" && answer.optional === true;
}

/**
 * A label's value for one answer; undefined if it has none. Null is a choice like others, but neither a number nor a
 * text.
 */
export function answerIn(label: Json, shape: LabelShape, field: string): Json | undefined {
  const value = shape.kind === "fields" ? fieldOf(label, field) : label;
  if (value !== null) return value;
  const answer = shape.kind === "fields" ? shape.fields[field] : shape;
  return answer?.kind === "categorical" ? value : undefined;
}

/** Infers the shape of labels from their values. A schema is more precise: it distinguishes a choice from a text. */
export function shapeOf(labels: readonly Json[]): LabelShape {
  if (labels.length === 0 || !labels.every(isFields)) return answerOf(labels);
  const names = [...new Set(labels.flatMap((label) => Object.keys(label)))].sort();
  const fields = names.map((name): [string, Answer] => {
    const values = labels.map((label) => fieldOf(label, name)).filter((value) => value !== undefined);
    return [name, { ...answerOf(values), optional: values.length < labels.length }];
  });
  return { kind: "fields", fields: Object.fromEntries(fields) };
}

function answerOf(values: readonly Json[]): Answer {
  if (values.length === 0) return { kind: "categorical" };
  if (values.every((value) => typeof value === "number")) return { kind: "numeric" };
  return { kind: values.every(Array.isArray) ? "multiple" : "categorical" };
}

/** The Krippendorff scale of an answer. Sets have a measure of their own. */
export function scaleOf(answer: Answer): Scale | "sets" {
  if (answer.kind === "multiple") return "sets";
  if (answer.kind === "numeric") return answer.scale ?? "interval";
  return answer.kind === "categorical" && answer.order !== undefined ? "ordinal" : "nominal";
}

/** A value made ready to be compared with many others. */
export type Ready = number | string | ReadonlySet<string>;

export function ready(answer: Answer, value: Json): Ready {
  if (answer.kind === "numeric" && typeof value === "number") return value;
  if (answer.kind === "multiple" && Array.isArray(value)) return new Set(value.map(canonicalJson));
  if (answer.kind === "text" && typeof value === "string") return JSON.stringify(plainText(value));
  return canonicalJson(value);
}

/** A text without what people add by chance: blanks around it, more than one between words, another way to compose a sign. */
function plainText(text: string): string {
  return text.normalize("NFC").trim().replace(/\s+/g, " ");
}

/** The agreement of two values, from 0 to 1. */
export function similarity(answer: Answer, one: Ready, other: Ready): number {
  if (typeof one === "object" && typeof other === "object") return jaccard(one, other);
  if (one === other) return 1;
  if (answer.kind !== "numeric" || typeof one !== "number" || typeof other !== "number") return 0;
  const [least, most] = answer.range ?? [0, 0];
  return most > least ? Math.max(0, 1 - Math.abs(one - other) / (most - least)) : 0;
}

/** Whether a value is right when another is known to be. */
export function isRight(answer: Answer, given: Json, gold: Json): boolean {
  if (answer.kind === "numeric" && typeof given === "number" && typeof gold === "number") {
    return Math.abs(given - gold) <= (answer.tolerance ?? 0);
  }
  return similarity(answer, ready(answer, given), ready(answer, gold)) === 1;
}

/** What both chose, of all that either did. */
function jaccard(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let both = 0;
  for (const choice of one) if (other.has(choice)) both++;
  const either = one.size + other.size - both;
  return either === 0 ? 1 : both / either;
}

/** The mean over all pairs of values; null where there is no pair. */
export function pairAgreement(answer: Answer, values: readonly Ready[]): number | null {
  if (values.length < 2) return null;
  let sum = 0;
  values.forEach((one, index) => {
    for (let next = index + 1; next < values.length; next++) sum += similarity(answer, one, values[next]!);
  });
  return sum / ((values.length * (values.length - 1)) / 2);
}

export function meanOf(numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter((number) => number !== null);
  return known.length === 0 ? null : known.reduce((sum, number) => sum + number, 0) / known.length;
}
