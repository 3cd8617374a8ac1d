import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type Duration, durationMs } from "../base/duration.ts";
import type { Json } from "../base/json.ts";
import { Faults, shown } from "./fault.ts";
import {
  isSchema,
  outerNamePattern,
  readBoolean,
  readDuration,
  readFields,
  readInteger,
  readName,
  whole,
} from "./read.ts";
import type { StorableValue } from "./storable.ts";

/** A JSON Schema itself, for labels that come from no schema library. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
  readonly "~standard"?: never;
}

/** What people may answer: a schema of zod, valibot, arktype and the like, or JSON Schema. */
export type LabelSchema = StandardSchemaV1 | JsonSchema;

/** The type of the labels that a schema lets through. */
export type LabelOf<Schema> = Schema extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Schema> : Json;

/** How a queue hands out its samples. */
export interface QueueDefinition<Schema> {
  /** What a labeler answers; shown as a form. */
  readonly label: Schema & StorableValue<LabelOf<Schema>>;
  /** How many labelers label each sample. 1 unless given. */
  readonly overlap?: number;
  /** How long a labeler has from start to label. An hour unless given. */
  readonly finishWithin?: Duration;
  /** How long an assignment waits to be started; null for as long as it takes. Five minutes unless given. */
  readonly startWithin?: Duration | null;
  /** How often one labeler may get the same sample. 3 unless given. */
  readonly maxAttemptsPerLabeler?: number;
  /** How often a sample may be assigned in all. 5 unless given. */
  readonly maxAttemptsTotal?: number;
  /** Whether an expired assignment frees its slot for another. */
  readonly reassignExpired?: boolean;
  /** Whether a skipped assignment frees its slot for another. */
  readonly reassignSkipped?: boolean;
  /** Whether a labeler who skips must say why. */
  readonly skipRequiresReason?: boolean;
}

/** People who label samples; a state asks them with `ask: { queue }`. */
export interface Queue<Label = unknown> {
  readonly kind: "queue";
  readonly name: string;
  readonly label: LabelSchema;
  readonly overlap: number;
  readonly finishWithinMs: number;
  readonly startWithinMs: number | null;
  readonly maxAttemptsPerLabeler: number;
  readonly maxAttemptsTotal: number;
  readonly reassignExpired: boolean;
  readonly reassignSkipped: boolean;
  readonly skipRequiresReason: boolean;
  /** Exists for the compiler only. */
  readonly "~label"?: Label;
}

export type AnyQueue = Queue;

const keys = [
  "label",
  "overlap",
  "finishWithin",
  "startWithin",
  "maxAttemptsPerLabeler",
  "maxAttemptsTotal",
  "reassignExpired",
  "reassignSkipped",
  "skipRequiresReason",
];

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
  const label = readLabel(fields.label, faults);
  const integer = (key: string, otherwise: number, most = 1_000) =>
    readInteger(fields[key], [1, most], otherwise, key, faults);
  const boolean = (key: string, otherwise: boolean) => readBoolean(fields[key], otherwise, key, faults);
  const milliseconds = (key: string, otherwise: Duration) =>
    durationMs(readDuration(fields[key], otherwise, key, faults), key);
  const made: Queue<LabelOf<Schema>> = {
    kind: "queue",
    name,
    label,
    overlap: integer("overlap", 1, 100),
    finishWithinMs: milliseconds("finishWithin", "1h"),
    startWithinMs: fields.startWithin === null ? null : milliseconds("startWithin", "5m"),
    maxAttemptsPerLabeler: integer("maxAttemptsPerLabeler", 3),
    maxAttemptsTotal: integer("maxAttemptsTotal", 5),
    reassignExpired: boolean("reassignExpired", true),
    reassignSkipped: boolean("reassignSkipped", true),
    skipRequiresReason: boolean("skipRequiresReason", false),
  };
  if (made.overlap > made.maxAttemptsTotal) {
    const problem = `A sample needs ${made.overlap} labels and may be assigned ${made.maxAttemptsTotal} times in all.`;
    faults.add("number_invalid", "maxAttemptsTotal", problem, `Make it ${made.overlap} or more.`);
  }
  faults.throwIfAny(`queue ${shown(name)}`);
  return made;
}

/** The schema of the labels; also a crowd's. */
export function readLabel(value: unknown, faults: Faults): LabelSchema {
  if (isSchema(value)) return value;
  if (typeof value === "object" && value !== null && !Array.isArray(value) && !("~standard" in value)) {
    return value as JsonSchema;
  }
  const remedy = "Give a schema of zod, valibot, arktype and the like, or a JSON Schema.";
  faults.add("schema_invalid", "label", `It is ${shown(value)}.`, remedy);
  return {};
}
