import { Faults, shown } from "./fault.ts";
import type { JsonSchema } from "./json-schema.ts";
import type { LabelOf, LabelSchema } from "./queue.ts";
import { readLabel } from "./queue.ts";
import { outerNamePattern, readFields, readInteger, readName, whole } from "./read.ts";
import type { StorableValue } from "./storable.ts";

/** What is asked of a crowd. */
export interface CrowdDefinition<Schema> {
  /** What a worker of the marketplace answers; shown as a form. */
  readonly label: Schema & StorableValue<LabelOf<Schema>>;
  /** The marketplace that it is published on, by the name under which it is configured. */
  readonly marketplace: string;
  /** How many approved submissions each question needs. 1 unless given. */
  readonly submissions?: number;
}

/** A job for a crowd; a state asks it with `ask: { crowd }`. */
export interface Crowd<Label = unknown> {
  readonly kind: "crowd";
  readonly name: string;
  readonly label: LabelSchema;
  /** The JSON Schema of what a worker fills in. */
  readonly form: JsonSchema;
  readonly marketplace: string;
  readonly submissions: number;
  /** Exists for the compiler only. */
  readonly "~label"?: Label;
}

export type AnyCrowd = Crowd;

/**
 * A job that is published on a marketplace, with the answers that it wants.
 *
 * ```ts
 * const receipts = crowd("receipts", { label: z.object({ total: z.number() }), marketplace: "mturk", submissions: 3 });
 * ```
 */
export function crowd<const Schema extends LabelSchema>(
  name: string,
  definition: CrowdDefinition<Schema>,
): Crowd<LabelOf<Schema>> {
  const faults = new Faults();
  readName(name, "name", faults, outerNamePattern);
  const fields = readFields(definition, ["label", "marketplace", "submissions"], whole, faults) ?? {};
  const made: Crowd<LabelOf<Schema>> = {
    kind: "crowd",
    name,
    ...readLabel(fields.label, faults),
    marketplace: readName(fields.marketplace, "marketplace", faults, outerNamePattern) ?? "",
    submissions: readInteger(fields.submissions, [1, 1_000], 1, "submissions", faults),
  };
  faults.throwIfAny(`crowd ${shown(name)}`);
  return made;
}
