import type { ErrorObject } from "ajv";
import { cleanText } from "../../base/json.ts";

/** One fault of a label. */
export interface LabelFault {
  /** The place as a JSON Pointer: `/boxes/2/width`; "" for the whole label. */
  readonly path: string;
  /**
   * The kind: a keyword of JSON Schema (`required`), a code of a library (`too_small`), or the name of a rule. Stable.
   */
  readonly code: string;
  /** The message for the labeler, to follow the name of the field, such as "must be at least 3". */
  readonly message: string;
}

/** More faults than a person reads. */
export const maxFaults = 50;

/** Returns the faults of a JSON Schema validation without duplicates. */
export function schemaFaults(errors: readonly ErrorObject[]): LabelFault[] {
  const faults = new Map<string, LabelFault>();
  for (const error of errors) {
    if (faults.size === maxFaults) break;
    const fault = { path: pathOf(error), code: error.keyword, message: messageOf(error) };
    faults.set(`${fault.path} ${fault.code}`, fault);
  }
  return [...faults.values()];
}

/** A missing or an unknown property is the place of its fault, not the object around it. */
function pathOf({ instancePath, params }: ErrorObject): string {
  const name = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty;
  return cleanText(typeof name === "string" ? `${instancePath}/${escaped(name)}` : instancePath, 500);
}

function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

const comparisons: Readonly<Record<string, string>> = { ">=": "at least", "<=": "at most", ">": "above", "<": "below" };
const kinds: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "a whole number",
  boolean: "yes or no",
  array: "a list",
  object: "an object",
  null: "empty",
};

/** Translates faults for labelers; unknown ones keep the message of the library. */
const messages: Readonly<Record<string, (params: ErrorObject["params"]) => string>> = {
  required: () => "is missing",
  dependentRequired: () => "is missing",
  additionalProperties: () => "is not a known field",
  unevaluatedProperties: () => "is not a known field",
  type: ({ type }) =>
    `must be ${[type]
      .flat()
      .map((each) => kinds[each] ?? each)
      .join(" or ")}`,
  enum: ({ allowedValues }) =>
    `must be one of ${allowedValues.map((value: unknown) => JSON.stringify(value)).join(", ")}`,
  const: ({ allowedValue }) => `must be ${JSON.stringify(allowedValue)}`,
  minimum: inWords,
  maximum: inWords,
  exclusiveMinimum: inWords,
  exclusiveMaximum: inWords,
  minLength: ({ limit }) => (limit === 1 ? "must not be empty" : `must have at least ${limit} characters`),
  maxLength: ({ limit }) => `must have at most ${limit} characters`,
  minItems: ({ limit }) => `must have at least ${limit} items`,
  maxItems: ({ limit }) => `must have at most ${limit} items`,
  uniqueItems: () => "must not have duplicates",
  pattern: ({ pattern }) => `must match ${pattern}`,
};

function inWords({ comparison, limit }: ErrorObject["params"]): string {
  return `must be ${comparisons[comparison] ?? comparison} ${limit}`;
}

function messageOf({ keyword, params, message }: ErrorObject): string {
  return cleanText(messages[keyword]?.(params) ?? message ?? `fails ${keyword}`, 500);
}

/** Converts a place of `storableText`, `.boxes[2].width`, to a JSON Pointer. */
export function pointerOf(place: string): string {
  return place
    .replaceAll("~", "~0")
    .replaceAll("/", "~1")
    .replace(/\.([^.[]*)|\[(\d+)\]/g, "/$1$2");
}
