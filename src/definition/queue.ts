import type { StandardSchemaV1 } from "@standard-schema/spec";
import { messageOf } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import type { StorableValue } from "./language/storable.ts";
import { type QueueOptions, type QueueSettings, type RankOf, readSettings, settingKeys } from "./queue-settings.ts";
import { Faults, quotedValue } from "./read/fault.ts";
import { isSchema, outerNamePattern, readFields, readFunction, readName, readObject, whole } from "./read/read.ts";
import { checkJsonSchema, type JsonSchema } from "./schema/json-schema.ts";
import { isConvertible, toJsonSchema } from "./schema/to-json-schema.ts";

/** What people may answer: a schema of zod, valibot, arktype and the like, or JSON Schema. */
export type LabelSchema = StandardSchemaV1 | JsonSchema;

/** The type of the labels that match a schema. */
export type LabelOf<Schema> = Schema extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Schema> : Json;

/** The argument of a rule or a check. */
export interface LabelContext<Label = unknown> {
  readonly label: Label;
  /** The content that the labeler saw. */
  readonly sample: unknown;
  readonly labeler: string;
}

/** True, or the fault of a label: a sentence, or one per path (a JSON Pointer such as `/score`). */
export type LabelVerdict = true | string | readonly { readonly path: string; readonly message: string }[];

/** The definition of a queue. */
export interface QueueDefinition<Schema> extends QueueOptions {
  /** The schema of labels; shown as a form. */
  readonly label: Schema & StorableValue<LabelOf<Schema>>;
  /**
   * Additional rules for labels, by name: pure functions that return true or the fault.
   *
   * ```ts
   * rules: { says_why: ({ label }) => label.sure || label.comment !== "" || "say what makes you unsure" }
   * ```
   */
  readonly rules?: Readonly<Record<string, (given: LabelContext<LabelOf<Schema>>) => LabelVerdict>>;
  /** A check of your own, which may ask a database or a service. It has ten seconds. */
  readonly validate?: (given: LabelContext<LabelOf<Schema>>) => LabelVerdict | Promise<LabelVerdict>;
}

/** A queue of samples for people to label; a state asks it with `ask: { queue }`. */
export interface Queue<Label = unknown> extends QueueSettings {
  readonly kind: "queue";
  readonly name: string;
  readonly label: LabelSchema;
  /** The JSON Schema of labels: the form, and the types of their fields. */
  readonly form: JsonSchema;
  readonly rules: Readonly<Record<string, (given: LabelContext) => LabelVerdict>>;
  readonly validate: ((given: LabelContext) => LabelVerdict | Promise<LabelVerdict>) | undefined;
  /** The `order` where that is a function. */
  readonly rank: RankOf | undefined;
  /** Exists for the compiler only. */
  readonly "~label"?: Label;
}

export type AnyQueue = Queue;

const keys = ["label", "rules", "validate", ...settingKeys];

/**
 * A queue of people, with the labels that they give.
 *
 * ```ts
 * const essays = queue("essays", { label: z.object({ score: z.number().min(0).max(10) }), overlap: 2 });
 * ```
 */
export function queue<const Schema extends LabelSchema>(
  name: string,
  definition: QueueDefinition<Schema>,
): Queue<LabelOf<Schema>> {
  const faults = new Faults();
  readName(name, "name", faults, outerNamePattern);
  const fields = readFields(definition, keys, whole, faults) ?? {};
  const made: Queue<LabelOf<Schema>> = {
    kind: "queue",
    name,
    ...readLabel(fields.label, faults),
    rules: readRules(fields.rules, faults),
    validate: readFunction(fields.validate, "validate", faults),
    rank: typeof fields.order === "function" ? (fields.order as RankOf) : undefined,
    ...readSettings(fields, faults),
  };
  faults.throwIfAny(`queue ${quotedValue(name)}`);
  return made;
}

/** The schema of the labels and the form that it gives; also a crowd's. */
export function readLabel(value: unknown, faults: Faults): { label: LabelSchema; form: JsonSchema } {
  if (isSchema(value)) return { label: value, form: formOf(value, faults) };
  if (typeof value === "object" && value !== null && !Array.isArray(value) && !("~standard" in value)) {
    const schema = value as JsonSchema;
    checkJsonSchema(schema, "label", faults);
    return { label: schema, form: schema };
  }
  const remedy = "Give a schema of zod, valibot, arktype and the like, or a JSON Schema.";
  faults.add("schema_invalid", "label", `It is ${quotedValue(value)}.`, remedy);
  return { label: {}, form: {} };
}

/** The JSON Schema of a library's schema: of its input. */
function formOf(schema: StandardSchemaV1, faults: Faults): JsonSchema {
  if (!isConvertible(schema)) {
    const { vendor } = schema["~standard"];
    const converter = "Wrap it: toStandardJsonSchema(schema), of @valibot/to-json-schema.";
    const remedy = vendor === "valibot" ? converter : "Give the JSON Schema of the labels instead.";
    const problem = `This schema of ${quotedValue(vendor)} has no JSON Schema, which the form is made of.`;
    faults.add("schema_invalid", "label", problem, remedy);
    return {};
  }
  try {
    return toJsonSchema(schema, "input");
  } catch (error) {
    const problem = `It has no JSON Schema, which the form is made of: ${messageOf(error)}.`;
    faults.add(
      "schema_invalid",
      "label",
      problem,
      "Use what JSON can carry: texts, numbers, booleans, lists, objects.",
    );
    return {};
  }
}

function readRules(value: unknown, faults: Faults): Queue["rules"] {
  const rules = value === undefined ? {} : (readObject(value, "rules", faults) ?? {});
  for (const [name, rule] of Object.entries(rules)) {
    readName(name, `rules.${name}`, faults);
    readFunction(rule ?? null, `rules.${name}`, faults);
  }
  return rules as Queue["rules"];
}
