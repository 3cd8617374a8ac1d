import { compute } from "../../base/guard.ts";
import type { Json } from "../../base/json.ts";
import { checkedOptions } from "../../base/options.ts";
import type { JsonSchema } from "../../definition/schema/json-schema.ts";
import { consensusOf } from "../../policy/agreement/consensus.ts";
import { type Answer, answerIn, answersOf, type LabelShape, shapeOf } from "../../policy/agreement/label-shape.ts";
import { labelShape } from "../../policy/agreement/schema-shape.ts";
import type { LabelRow, LabelRows } from "./export-labels.ts";

export interface LabelStudioOptions {
  /** The JSON Schema of the labels, `queue.form`: it names the fields that are choices, numbers and free text. */
  readonly form?: JsonSchema;
  /** How to read labels without a schema. Without both, labels are read by their values, and strings are choices. */
  readonly shape?: LabelShape;
  /**
   * The field of the sample's data that the labels describe: the name of the object tag. Defaults to the first field.
   */
  readonly shows?: string;
  /** Number fields that are a `<Rating>` and not a `<Number>`. */
  readonly ratings?: readonly string[];
  /** Add the consensus of each sample as a prediction, with its agreement as score. */
  readonly consensus?: boolean;
  /**
   * Maps a labeler to Label Studio's user. Defaults to the labeler's name if it is an e-mail address; otherwise, the
   * importing user.
   */
  readonly completedBy?: (labeler: string) => number | { readonly email: string } | null;
}

/**
 * Writes labels as Label Studio's JSON, one task per sample: the format of its import and export. The labels of one
 * sample must be adjacent. A field of the label is a control tag of the same name: one or several choices are
 * `choices`, a number is `number` or `rating`, a string is `textarea`, a box `{ x, y, width, height }` in per cent of
 * the image is `rectangle`, or `rectanglelabels` if it has a `label`. Label Studio's ids are numbers, so Pawl's ids are
 * in `meta.pawl`.
 */
export async function* labelsToLabelStudio(rows: LabelRows, given: LabelStudioOptions = {}): AsyncGenerator<string> {
  checkedOptions(given, ["form", "shape", "shows", "ratings", "consensus", "completedBy"], "labelsToLabelStudio");
  const options = given.form === undefined ? given : { ...given, shape: labelShape(given.form) };
  let [tasks, annotations] = [0, 0];
  for await (const labels of samplesOf(rows)) {
    const task = taskOf(labels, ++tasks, annotations + 1, options);
    annotations += labels.length;
    yield `${tasks === 1 ? "[\n" : ",\n"}${JSON.stringify(task)}`;
  }
  yield tasks === 0 ? "[]\n" : "\n]\n";
}

/** Adjacent labels of one sample. */
async function* samplesOf(rows: LabelRows): AsyncGenerator<readonly LabelRow[]> {
  let labels: LabelRow[] = [];
  for await (const row of rows) {
    if (labels.length > 0 && labels[0]!.sample.id !== row.sample.id) {
      yield labels;
      labels = [];
    }
    labels.push(row);
  }
  if (labels.length > 0) yield labels;
}

function taskOf(labels: readonly LabelRow[], id: number, firstAnnotation: number, options: LabelStudioOptions): object {
  const { sample } = labels[0]!;
  const answered = labels.filter(({ skipped }) => skipped !== true).map(({ label }) => label as Json);
  const reading = {
    ...options,
    shape: options.shape ?? shapeOf(answered),
    shows: options.shows ?? firstField(sample.data),
  };
  return {
    id,
    data: sample.data,
    meta: {
      pawl: {
        sample: sample.id,
        key: sample.key,
        labels: labels.map((row) => ({ id: row.id, labeler: row.labeler, late: row.late === true })),
      },
    },
    annotations: labels.map((row, index) => annotationOf(row, firstAnnotation + index, reading)),
    predictions: options.consensus === true ? predictionsOf(answered, id, reading) : [],
  };
}

type Reading = LabelStudioOptions & { readonly shape: LabelShape; readonly shows: string };

function annotationOf(row: LabelRow, id: number, reading: Reading): object {
  const isSkipped = row.skipped === true;
  return {
    id,
    completed_by: compute("hook_failed", "`completedBy`", () => (reading.completedBy ?? byEmail)(row.labeler)),
    result: isSkipped ? [] : resultsOf(row.label as Json, `a${id}`, reading),
    was_cancelled: isSkipped,
    ground_truth: false, // Without it, an import treats every annotation as ground truth.
    lead_time: row.leadMs === null ? null : row.leadMs / 1_000,
    created_at: row.createdAt.toISOString(),
  };
}

function byEmail(labeler: string): { readonly email: string } | null {
  return /^[^\s@]+@[^\s@]+$/.test(labeler) ? { email: labeler } : null;
}

function predictionsOf(labels: readonly Json[], id: number, reading: Reading): object[] {
  const { label, agreement } = consensusOf(labels, reading.shape);
  if (label === undefined) return [];
  return [{ model_version: "consensus", score: agreement, result: resultsOf(label, `p${id}`, reading) }];
}

function firstField(data: unknown): string {
  return Object.keys(typeof data === "object" && data !== null ? data : {})[0] ?? "data";
}

/** The regions of one annotation: one for each field, and one for each box. */
function resultsOf(label: Json, id: string, reading: Reading): object[] {
  return answersOf(reading.shape)
    .flatMap(([field, answer]) => {
      const value = answerIn(label, reading.shape, field);
      const name = field === "" ? "label" : field;
      return value === undefined || value === null ? [] : regionsOf(value, name, answer, reading);
    })
    .map((region, index) => ({ id: `${id}_${index}`, to_name: reading.shows, origin: "manual", ...region }));
}

function regionsOf(value: Json, name: string, answer: Answer, { ratings = [] }: Reading): object[] {
  const boxes = (Array.isArray(value) ? value : [value]).map(boxOf);
  if (boxes.length > 0 && boxes.every((box) => box !== undefined))
    return boxes.map((box) => ({ from_name: name, ...box }));
  if (answer.kind === "numeric" && typeof value === "number") {
    const type = ratings.includes(name) ? "rating" : "number";
    return [{ from_name: name, type, value: { [type]: value } }];
  }
  if (answer.kind === "text") return [{ from_name: name, type: "textarea", value: { text: [wordOf(value)] } }];
  const choices = (answer.kind === "multiple" && Array.isArray(value) ? value : [value]).map(wordOf);
  return [{ from_name: name, type: "choices", value: { choices } }];
}

function wordOf(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Converts a box of the label to a region; undefined if the value is not a box. */
function boxOf(value: Json): object | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { x, y, width, height, rotation = 0, label, image_width, image_height } = value as Record<string, Json>;
  if (![x, y, width, height].every((side) => typeof side === "number")) return undefined;
  const original =
    typeof image_width === "number" && typeof image_height === "number"
      ? { original_width: image_width, original_height: image_height }
      : {};
  const place = { x, y, width, height, rotation };
  if (label === undefined) return { type: "rectangle", ...original, value: place };
  return { type: "rectanglelabels", ...original, value: { ...place, rectanglelabels: [label].flat().map(wordOf) } };
}
