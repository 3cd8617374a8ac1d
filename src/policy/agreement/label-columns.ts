import { canonicalJson } from "../../base/canonical-json.ts";
import type { Json } from "../../base/json.ts";

/** One label as input of the measures: labeler, sample and label. Missing labels are not in the list. */
export interface GivenLabel {
  readonly sample: string;
  readonly labeler: string;
  /** JSON, as it was stored. */
  readonly label: unknown;
}

/** Labels as columns of small numbers, so that a million of them can be scanned without comparing objects. */
export interface LabelColumns {
  readonly samples: readonly string[];
  readonly labelers: readonly string[];
  /** The different labels; labels that are equal as JSON are one. */
  readonly values: readonly Json[];
  /** Of each label: which of the samples, of the labelers and of the values. */
  readonly sampleAt: Int32Array;
  readonly labelerAt: Int32Array;
  readonly valueAt: Int32Array;
}

/** The columns of a list of labels; `values` may list the values that come first, in their order. */
export function columnsOf(labels: Iterable<GivenLabel>, values: readonly Json[] = []): LabelColumns {
  const samples = new Numbers<string>();
  const labelers = new Numbers<string>();
  const kinds = new Numbers<Json>();
  const known: Json[] = [];
  const numberOf = (label: Json) => {
    const number = kinds.of(keyOf(label));
    if (number === known.length) known.push(label);
    return number;
  };
  values.forEach(numberOf);
  const rows = [...labels];
  const sampleAt = new Int32Array(rows.length);
  const labelerAt = new Int32Array(rows.length);
  const valueAt = new Int32Array(rows.length);
  rows.forEach(({ sample, labeler, label }, row) => {
    sampleAt[row] = samples.of(sample);
    labelerAt[row] = labelers.of(labeler);
    valueAt[row] = numberOf(label as Json);
  });
  return { samples: samples.names(), labelers: labelers.names(), values: known, sampleAt, labelerAt, valueAt };
}

/**
 * A map distinguishes "1" from 1 by itself; only objects need a text, with a first character that separates it from
 * labels that are texts.
 */
function keyOf(label: Json): Json {
  if (typeof label === "object" && label !== null) return `{${canonicalJson(label)}`;
  return typeof label === "string" ? `"${label}` : label;
}

/** Numbers from 0, in the order in which names turn up. */
class Numbers<Name> {
  readonly #numbers = new Map<Name, number>();

  of(name: Name): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    this.#numbers.set(name, this.#numbers.size);
    return this.#numbers.size - 1;
  }

  names(): Name[] {
    return [...this.#numbers.keys()];
  }
}

/** The rows of each sample in turn: a counting sort, so linear. */
export function* rowsBySample({ samples, sampleAt }: LabelColumns): Generator<Int32Array> {
  const ends = new Int32Array(samples.length + 1);
  for (const sample of sampleAt) ends[sample + 1]!++;
  for (let sample = 0; sample < samples.length; sample++) ends[sample + 1]! += ends[sample]!;
  const next = ends.slice();
  const rows = new Int32Array(sampleAt.length);
  sampleAt.forEach((sample, row) => {
    rows[next[sample]!++] = row;
  });
  for (let sample = 0; sample < samples.length; sample++) yield rows.subarray(ends[sample]!, ends[sample + 1]!);
}

/** One field of labels that are objects; a label without it has no value for it. */
export function pickField(labels: Iterable<GivenLabel>, field: string): GivenLabel[] {
  const picked: GivenLabel[] = [];
  for (const { sample, labeler, label } of labels) {
    const value = fieldOf(label as Json, field);
    if (value !== undefined) picked.push({ sample, labeler, label: value });
  }
  return picked;
}

export function isFields(label: Json): label is { readonly [key: string]: Json } {
  return typeof label === "object" && label !== null && !Array.isArray(label);
}

export function fieldOf(label: Json, field: string): Json | undefined {
  return isFields(label) && Object.hasOwn(label, field) ? label[field] : undefined;
}
