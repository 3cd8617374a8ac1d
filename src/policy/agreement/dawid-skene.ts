import { canonicalJson } from "../../base/canonical-json.ts";
import { PawlError } from "../../base/errors.ts";
import type { Json } from "../../base/json.ts";
import { checkedOptions } from "../../base/options.ts";
import { columnsOf, type GivenLabel, type LabelColumns } from "./label-columns.ts";

export interface DawidSkeneOptions {
  /** All classes, when some may not occur among the labels; also their order in the result. */
  readonly classes?: readonly Json[];
  /**
   * The prior: how many labels of each class every labeler is assumed to have given, three of four of them right. 0 is
   * maximum likelihood, as in the paper, and needs many labels of each labeler.
   * @default 4
   */
  readonly trust?: number;
  /**
   * The maximum number of rounds.
   * @default 100
   */
  readonly maxRounds?: number;
  /**
   * Converged when no probability changes by more.
   * @default 0.000001
   */
  readonly tolerance?: number;
}

/** The most probable class of a sample. */
export interface ClassEstimate {
  /** Undefined where two classes are equally probable. */
  readonly label: Json | undefined;
  readonly tie: boolean;
  /** Of the most probable class. */
  readonly probability: number;
  /** Of each class, in the order of `classes`. */
  readonly probabilities: Float64Array;
}

/** The error rates of a labeler, by class. */
export interface LabelerEstimate {
  /** `confusion[j][k]` is the probability that a sample of class j is given the label of class k. */
  readonly confusion: readonly Float64Array[];
  /** The probability that a label of theirs is right. */
  readonly accuracy: number;
  /** How many labels this is drawn from. */
  readonly labels: number;
}

export interface DawidSkene {
  readonly classes: readonly Json[];
  /** How frequent each class is. */
  readonly priors: Float64Array;
  readonly samples: ReadonlyMap<string, ClassEstimate>;
  readonly labelers: ReadonlyMap<string, LabelerEstimate>;
  readonly logLikelihood: number;
  readonly rounds: number;
  /** False when the rounds were used up before it settled. */
  readonly settled: boolean;
}

const most = 50_000_000;
const sameProbability = 1e-9;
const trustedRight = 0.75;

/**
 * Estimates the class of each sample and the accuracy of each labeler, from the labels alone (Dawid and Skene 1979). It
 * starts with the shares of votes; careless labelers, and those who always give the same label, lose weight round by
 * round. Deterministic.
 *
 * ```ts
 * const { samples, labelers } = dawidSkene(labels);
 * samples.get("s1")?.label;       // "cat"
 * labelers.get("ada")?.accuracy;  // 0.93
 * ```
 */
export function dawidSkene(labels: Iterable<GivenLabel>, options: DawidSkeneOptions = {}): DawidSkene {
  checkedOptions(options, ["classes", "trust", "maxRounds", "tolerance"], "dawidSkene");
  const given = [...labels];
  const columns = columnsOf(inOneOrder(given), options.classes);
  const model = new Model(columns, options.trust ?? 4);
  const maxRounds = options.maxRounds ?? 100;
  const tolerance = options.tolerance ?? 1e-6;
  model.maximize();
  let [rounds, settled] = [0, columns.valueAt.length === 0];
  while (!settled && rounds < maxRounds) {
    settled = model.expect() <= tolerance;
    model.maximize();
    rounds++;
  }
  const { priors, logLikelihood } = model;
  return {
    classes: columns.values,
    priors,
    samples: estimates(given, "sample", columns.samples, (index) => model.sample(index)),
    labelers: estimates(given, "labeler", columns.labelers, (index) => model.labeler(index)),
    logLikelihood,
    rounds,
    settled,
  };
}

/**
 * The labels in a fixed order. Floating-point sums depend on the order of their terms, if only in the last digit; where
 * two answers are equally probable, that digit grows round by round until it decides.
 */
function inOneOrder(labels: readonly GivenLabel[]): GivenLabel[] {
  const compare = (one: string, other: string) => (one < other ? -1 : Number(one > other));
  const text = ({ label }: GivenLabel) => canonicalJson(label as Json);
  return [...labels].sort(
    (one, other) =>
      compare(one.sample, other.sample) || compare(one.labeler, other.labeler) || compare(text(one), text(other)),
  );
}

/** The data of each, in the order of their first label. */
function estimates<Estimate>(
  labels: readonly GivenLabel[],
  of: "sample" | "labeler",
  names: readonly string[],
  estimate: (index: number) => Estimate,
): Map<string, Estimate> {
  const numbers = new Map(names.map((name, index) => [name, index]));
  return new Map([...new Set(labels.map((label) => label[of]))].map((name) => [name, estimate(numbers.get(name)!)]));
}

class Model {
  readonly priors: Float64Array;
  logLikelihood = 0;
  readonly #columns: LabelColumns;
  readonly #classes: number;
  readonly #trust: number;
  /** How many labels each labeler gave. */
  readonly #given: Int32Array;
  /** For each sample the probability of each class. */
  readonly #beliefs: Float64Array;
  /** For each labeler, true class and given label the probability; and its logarithm. */
  readonly #confusion: Float64Array;
  readonly #logarithms: Float64Array;

  constructor(columns: LabelColumns, trust: number) {
    const { samples, labelers, values } = columns;
    if (samples.length * values.length + labelers.length * values.length ** 2 > most) {
      const sizes = `${samples.length} samples, ${labelers.length} labelers and ${values.length} different labels`;
      const remedy = "It is for classes: pick one field of the labels, and none that holds free text or a number.";
      throw new PawlError("option_invalid", `Dawid-Skene over ${sizes} is too large. ${remedy}`);
    }
    this.#columns = columns;
    this.#classes = values.length;
    this.#trust = trust;
    this.#given = new Int32Array(labelers.length);
    for (const labeler of columns.labelerAt) this.#given[labeler]!++;
    this.priors = new Float64Array(values.length);
    this.#beliefs = sharesOfVotes(columns);
    this.#confusion = new Float64Array(labelers.length * values.length ** 2);
    this.#logarithms = new Float64Array(this.#confusion.length);
  }

  /** The priors and error rates with the best fit to the estimated classes. */
  maximize(): void {
    const classes = this.#classes;
    const beliefs = this.#beliefs;
    const confusion = this.#confusion;
    const { samples, labelers, sampleAt, labelerAt, valueAt } = this.#columns;
    this.priors.fill(0);
    for (let place = 0; place < beliefs.length; place++)
      this.priors[place % classes]! += beliefs[place]! / samples.length;
    confusion.fill((this.#trust * (1 - trustedRight)) / Math.max(1, classes - 1));
    for (let row = 0; row < labelers.length * classes; row++) {
      confusion[row * classes + (row % classes)] = this.#trust * trustedRight;
    }
    for (let row = 0; row < sampleAt.length; row++) {
      const cell = labelerAt[row]! * classes * classes + valueAt[row]!;
      const belief = sampleAt[row]! * classes;
      for (let truth = 0; truth < classes; truth++) confusion[cell + truth * classes]! += beliefs[belief + truth]!;
    }
    for (let row = 0; row < labelers.length * classes; row++) normalize(confusion, row * classes, classes);
    for (let cell = 0; cell < confusion.length; cell++) this.#logarithms[cell] = Math.log(confusion[cell]!);
  }

  /** The estimated classes, given priors and error rates; returns the largest change. */
  expect(): number {
    const classes = this.#classes;
    const beliefs = this.#beliefs;
    const logarithms = this.#logarithms;
    const { samples, sampleAt, labelerAt, valueAt } = this.#columns;
    const logs = new Float64Array(beliefs.length);
    for (let row = 0; row < sampleAt.length; row++) {
      const cell = labelerAt[row]! * classes * classes + valueAt[row]!;
      const log = sampleAt[row]! * classes;
      for (let truth = 0; truth < classes; truth++) logs[log + truth]! += logarithms[cell + truth * classes]!;
    }
    const priors = this.priors.map(Math.log);
    let moved = 0;
    this.logLikelihood = 0;
    for (let start = 0; start < samples.length * classes; start += classes) {
      let highest = -Infinity;
      for (let truth = 0; truth < classes; truth++) {
        logs[start + truth]! += priors[truth]!;
        highest = Math.max(highest, logs[start + truth]!);
      }
      let sum = 0;
      for (let truth = 0; truth < classes; truth++) sum += Math.exp(logs[start + truth]! - highest);
      this.logLikelihood += highest + Math.log(sum);
      for (let truth = 0; truth < classes; truth++) {
        const belief = Math.exp(logs[start + truth]! - highest) / sum;
        moved = Math.max(moved, Math.abs(belief - beliefs[start + truth]!));
        beliefs[start + truth] = belief;
      }
    }
    return moved;
  }

  sample(index: number): ClassEstimate {
    const probabilities = this.#beliefs.slice(index * this.#classes, (index + 1) * this.#classes);
    const probability = Math.max(...probabilities);
    const tie = probabilities.filter((each) => probability - each < sameProbability).length > 1;
    const label = tie ? undefined : this.#columns.values[probabilities.indexOf(probability)];
    return { label, tie, probability, probabilities };
  }

  labeler(index: number): LabelerEstimate {
    const classes = this.#classes;
    const confusion = [...this.priors.keys()].map((truth) => {
      const start = (index * classes + truth) * classes;
      return this.#confusion.slice(start, start + classes);
    });
    const accuracy = confusion.reduce((sum, given, truth) => sum + this.priors[truth]! * given[truth]!, 0);
    return { confusion, accuracy, labels: this.#given[index]! };
  }
}

/** Where the paper begins, too (3.1). */
function sharesOfVotes({ samples, values, sampleAt, valueAt }: LabelColumns): Float64Array {
  const shares = new Float64Array(samples.length * values.length);
  for (let row = 0; row < sampleAt.length; row++) shares[sampleAt[row]! * values.length + valueAt[row]!]!++;
  for (let sample = 0; sample < samples.length; sample++) normalize(shares, sample * values.length, values.length);
  return shares;
}

/** Some neighbours to a sum of 1; where nothing is known, all are alike. */
function normalize(numbers: Float64Array, start: number, count: number): void {
  let sum = 0;
  for (let place = start; place < start + count; place++) sum += numbers[place]!;
  for (let place = start; place < start + count; place++) numbers[place] = sum > 0 ? numbers[place]! / sum : 1 / count;
}
