import type { Json } from "../base/json.ts";
import { type CrowdOptions, type CrowdSettings, crowdSettingKeys, readCrowdSettings } from "./crowd-settings.ts";
import type { Effect } from "./language/step.ts";
import type { StorableValue } from "./language/storable.ts";
import type { LabelOf, LabelSchema } from "./queue.ts";
import { readLabel } from "./queue.ts";
import { Faults, quotedValue } from "./read/fault.ts";
import { outerNamePattern, readFields, readFunction, readName, whole } from "./read/read.ts";
import type { JsonSchema } from "./schema/json-schema.ts";

/** The context of a crowd's hook: each hook is a task of its own, and is retried when it throws. */
export type HookWork = Pick<
  Effect,
  "id" | "attempt" | "idempotencyKey" | "keyFor" | "signal" | "publish" | "once" | "progress" | "log" | "call"
>;

/** A submission, as the hooks of a crowd get it. */
export interface SubmissionWork<Label = unknown> extends HookWork {
  readonly label: Label;
  /** The content that the worker saw. */
  readonly content: Json;
  /** The worker, the submission and the job, by their ids at the marketplace. */
  readonly worker: string;
  readonly submission: string;
  readonly job: string;
  /** The crowd job, by its id in Pawl. */
  readonly jobId: string;
  readonly submittedAt: string;
}

/** The decision about it. */
export interface DecidedWork<Label = unknown> extends SubmissionWork<Label> {
  /** The marketplace decided before Pawl did: by a timeout, or by hand. */
  readonly auto: boolean;
  /** The feedback for the worker; null without any. */
  readonly feedback: string | null;
}

/** A crowd job that has ended. */
export interface FinishedWork<Label = unknown> extends HookWork {
  readonly key: string | null;
  readonly content: Json;
  readonly labels: readonly Label[];
  /** Null where there are too few labels, or they tie. */
  readonly consensus: Label | null;
  readonly agreement: number | null;
  readonly approved: number;
  readonly rejected: number;
  /** Why it has fewer labels than requested; null if it has all. */
  readonly reason: string | null;
}

/** The definition of a crowd. */
export interface CrowdDefinition<Schema> extends CrowdOptions {
  /** The schema of a worker's answer; shown as a form. */
  readonly label: Schema & StorableValue<LabelOf<Schema>>;
  /** The marketplace that it is published on, by its name in `createPawl({ marketplaces })`. */
  readonly marketplace: string;
  /**
   * Checks a submission. Throw `RejectSubmission` to reject it with feedback for the worker; a `TransientError` is
   * retried; after any other error a person decides.
   */
  readonly onSubmitted?: (work: SubmissionWork<LabelOf<Schema>>) => unknown;
  readonly onApproved?: (work: DecidedWork<LabelOf<Schema>>) => unknown;
  readonly onRejected?: (work: DecidedWork<LabelOf<Schema>>) => unknown;
  /** Called when the job has ended. Its postings are deleted only after this has succeeded. */
  readonly onJobFinished?: (work: FinishedWork<LabelOf<Schema>>) => unknown;
}

/** A job for a crowd; a state asks it with `ask: { crowd }`. */
export interface Crowd<Label = unknown> extends CrowdSettings {
  readonly kind: "crowd";
  readonly name: string;
  readonly label: LabelSchema;
  /** The JSON Schema of a worker's input. */
  readonly form: JsonSchema;
  readonly marketplace: string;
  readonly onSubmitted: ((work: SubmissionWork) => unknown) | undefined;
  readonly onApproved: ((work: DecidedWork) => unknown) | undefined;
  readonly onRejected: ((work: DecidedWork) => unknown) | undefined;
  readonly onJobFinished: ((work: FinishedWork) => unknown) | undefined;
  /** Exists for the compiler only. */
  readonly "~label"?: Label;
}

export type AnyCrowd = Crowd;

const longestName = 80;
const hooks = ["onSubmitted", "onApproved", "onRejected", "onJobFinished"] as const;
const keys = ["label", "marketplace", ...hooks, ...crowdSettingKeys];

/**
 * Declares a crowd: a question that is published on a marketplace, with the schema of its answers.
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
  if (readName(name, "name", faults, outerNamePattern) !== undefined && name.length > longestName) {
    const remedy = `Write one of at most ${longestName}: those of its lifecycles are made of it.`;
    faults.add("name_invalid", "name", `It has ${name.length} characters.`, remedy);
  }
  const fields = readFields(definition, keys, whole, faults) ?? {};
  const made: Crowd<LabelOf<Schema>> = {
    kind: "crowd",
    name,
    ...readLabel(fields.label, faults),
    marketplace: readName(fields.marketplace, "marketplace", faults, outerNamePattern) ?? "",
    ...readCrowdSettings(fields, name, faults),
    onSubmitted: readFunction(fields.onSubmitted, "onSubmitted", faults),
    onApproved: readFunction(fields.onApproved, "onApproved", faults),
    onRejected: readFunction(fields.onRejected, "onRejected", faults),
    onJobFinished: readFunction(fields.onJobFinished, "onJobFinished", faults),
  };
  faults.throwIfAny(`crowd ${quotedValue(name)}`);
  return made;
}
