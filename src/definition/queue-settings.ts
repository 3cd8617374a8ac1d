import { type Duration, durationMs } from "../base/duration.ts";
import { type Faults, quotedValue } from "./read/fault.ts";
import {
  type Fields,
  readBoolean,
  readDuration,
  readFields,
  readInteger,
  readOneOf,
  requireKeys,
} from "./read/read.ts";

const orders = ["oldest", "priority", "least_labeled"] as const;

/** The order of samples: the oldest first, the lowest number first, or the one with the fewest labels first. */
export type QueueOrder = (typeof orders)[number];

/** A sample that is put into its place when it is added. */
export interface RankedSample {
  readonly data: unknown;
  /** Its key within the queue. */
  readonly key: string | null;
}

/** Gives a sample its place in the queue when it is added: the lower, the sooner. */
export type RankOf = (sample: RankedSample) => number;

/** How a queue assigns its samples. */
export interface QueueOptions {
  /** The instructions for labelers. Plain text, with line breaks. */
  readonly instructions?: string;
  /**
   * How many labelers label each sample.
   * @default 1
   */
  readonly overlap?: number;
  /**
   * How long a labeler has from start to label.
   * @default "1h"
   */
  readonly finishWithin?: Duration;
  /**
   * How long an assignment waits to be started; null for no limit.
   * @default "5m"
   */
  readonly startWithin?: Duration | null;
  /**
   * How long after the deadline a label still counts.
   * @default not at all
   */
  readonly grace?: Duration;
  /**
   * How often one labeler may get the same sample.
   * @default 3
   */
  readonly maxAttemptsPerLabeler?: number;
  /**
   * How often a sample may be assigned in total.
   * @default 5
   */
  readonly maxAttemptsTotal?: number;
  /** Whether an expired assignment frees its slot for another. */
  readonly reassignExpired?: boolean;
  /** Whether a skipped assignment frees its slot for another. */
  readonly reassignSkipped?: boolean;
  /** Whether a skip requires a reason. */
  readonly skipRequiresReason?: boolean;
  /** Whether an assignment can be skipped before it was started, too. */
  readonly skipUnstarted?: boolean;
  /**
   * The ids of eligible labelers.
   * @default anyone
   */
  readonly labelers?: readonly string[];
  /** The skills that a labeler needs: all of these. */
  readonly skills?: readonly string[];
  /**
   * The order of samples. A function gives each sample a number when it is added; lower ones come first: `order: ({
   * data }) => (data as Essay).text.length`.
   * @default the oldest first
   */
  readonly order?: QueueOrder | RankOf;
  /**
   * How often a labeler may extend an assignment, each time by `finishWithin`; 0 for never.
   * @default 10
   */
  readonly maxExtensions?: number;
  /**
   * How many open assignments a labeler may have.
   * @default 1
   */
  readonly concurrency?: number;
  /** Whether a sample is settled only when a lead has accepted its labels. */
  readonly review?: boolean;
  /** The required agreement of labels, from 0 to 1; below it, another labeler gets the sample, up to `maxOverlap`. */
  readonly agreement?: { readonly atLeast: number; readonly maxOverlap: number };
}

/** The settings of a queue, with defaults. */
export interface QueueSettings {
  readonly instructions: string | null;
  readonly overlap: number;
  readonly finishWithinMs: number;
  readonly startWithinMs: number | null;
  readonly graceMs: number;
  readonly maxAttemptsPerLabeler: number;
  readonly maxAttemptsTotal: number;
  readonly reassignExpired: boolean;
  readonly reassignSkipped: boolean;
  readonly skipRequiresReason: boolean;
  readonly skipUnstarted: boolean;
  readonly labelers: readonly string[] | null;
  readonly skills: readonly string[];
  readonly order: QueueOrder | "number";
  readonly maxExtensions: number;
  readonly concurrency: number;
  readonly review: boolean;
  readonly agreement: { readonly atLeast: number; readonly maxOverlap: number } | null;
}

/** The keys of a queue's definition that are its settings. */
export const settingKeys = [
  "instructions",
  "overlap",
  "finishWithin",
  "startWithin",
  "grace",
  "maxAttemptsPerLabeler",
  "maxAttemptsTotal",
  "reassignExpired",
  "reassignSkipped",
  "skipRequiresReason",
  "skipUnstarted",
  "labelers",
  "skills",
  "order",
  "maxExtensions",
  "concurrency",
  "review",
  "agreement",
];

export function readSettings(fields: Fields, faults: Faults): QueueSettings {
  const integer = (key: string, otherwise: number, most = 1_000) =>
    readInteger(fields[key], [1, most], otherwise, key, faults);
  const boolean = (key: string, otherwise: boolean) => readBoolean(fields[key], otherwise, key, faults);
  const milliseconds = (key: string, otherwise: Duration) =>
    durationMs(readDuration(fields[key], otherwise, key, faults), key);
  const settings: QueueSettings = {
    instructions: fields.instructions === undefined ? null : readInstructions(fields.instructions, faults),
    overlap: integer("overlap", 1, 100),
    finishWithinMs: milliseconds("finishWithin", "1h"),
    startWithinMs: fields.startWithin === null ? null : milliseconds("startWithin", "5m"),
    graceMs: milliseconds("grace", 0),
    maxAttemptsPerLabeler: integer("maxAttemptsPerLabeler", 3),
    maxAttemptsTotal: integer("maxAttemptsTotal", 5),
    reassignExpired: boolean("reassignExpired", true),
    reassignSkipped: boolean("reassignSkipped", true),
    skipRequiresReason: boolean("skipRequiresReason", false),
    skipUnstarted: boolean("skipUnstarted", false),
    labelers: fields.labelers === undefined ? null : readTexts(fields.labelers, "labelers", faults),
    skills: readTexts(fields.skills ?? [], "skills", faults),
    order: typeof fields.order === "function" ? "number" : readOneOf(fields.order, orders, "oldest", "order", faults),
    maxExtensions: readInteger(fields.maxExtensions, [0, 1_000], 10, "maxExtensions", faults),
    concurrency: integer("concurrency", 1),
    review: boolean("review", false),
    agreement: readAgreement(fields.agreement, faults),
  };
  checkReach(settings, faults);
  return settings;
}

/** Settings that no number of labelers can satisfy are a fault of the definition. */
function checkReach(made: QueueSettings, faults: Faults): void {
  const { overlap, maxAttemptsTotal, labelers, agreement } = made;
  if (overlap > maxAttemptsTotal) {
    const problem = `A sample needs ${overlap} labels and may be worked on ${maxAttemptsTotal} times in all.`;
    faults.add("number_invalid", "maxAttemptsTotal", problem, `Make it ${overlap} or more.`);
  }
  if (labelers !== null && labelers.length < overlap) {
    const problem = `A sample needs labels by ${overlap} people, and ${labelers.length} may give any.`;
    faults.add("number_invalid", "labelers", problem, "Name more of them, or lower `overlap`.");
  }
  if (agreement !== null && agreement.maxOverlap <= overlap) {
    const problem = `Where labels disagree there may be ${agreement.maxOverlap} in all, and \`overlap\` is ${overlap} already.`;
    faults.add("number_invalid", "agreement.maxOverlap", problem, `Make it ${overlap + 1} or more.`);
  }
  if (agreement !== null && labelers !== null && agreement.maxOverlap > labelers.length) {
    const problem = `Where labels disagree, up to ${agreement.maxOverlap} labelers are needed, and ${labelers.length} are named in \`labelers\`.`;
    faults.add("number_invalid", "agreement.maxOverlap", problem, "Lower it, or name more labelers.");
  }
}

function readAgreement(value: unknown, faults: Faults): QueueSettings["agreement"] {
  if (value === undefined) return null;
  const fields = readFields(value, ["atLeast", "maxOverlap"], "agreement", faults);
  if (fields === undefined) return null;
  requireKeys(fields, ["atLeast", "maxOverlap"], "Write both.", "agreement", faults);
  const { atLeast } = fields;
  if (atLeast !== undefined && !(typeof atLeast === "number" && atLeast > 0 && atLeast <= 1)) {
    faults.add(
      "number_invalid",
      "agreement.atLeast",
      `${quotedValue(atLeast)} is out of range.`,
      "Write more than 0, up to 1.",
    );
  }
  const maxOverlap = readInteger(fields.maxOverlap, [2, 100], 100, "agreement.maxOverlap", faults);
  return { atLeast: atLeast as number, maxOverlap };
}

const longestInstructions = 20_000;

function readInstructions(value: unknown, faults: Faults): string | null {
  if (typeof value === "string" && value.trim() !== "" && value.length <= longestInstructions && isStorable(value))
    return value;
  const remedy = `Write a text of 1 to ${longestInstructions.toLocaleString("en")} characters.`;
  faults.add("shape_invalid", "instructions", `It is ${quotedValue(value)}.`, remedy);
  return null;
}

/** Short texts, each once. */
function readTexts(value: unknown, place: string, faults: Faults): readonly string[] {
  if (Array.isArray(value) && value.every(isShort)) return [...new Set(value)];
  faults.add("shape_invalid", place, `It is ${quotedValue(value)}.`, "Write a list of texts of 1 to 500 characters.");
  return [];
}

function isShort(one: unknown): one is string {
  return typeof one === "string" && one !== "" && one.length <= 500 && isStorable(one);
}

function isStorable(text: string): boolean {
  return !text.includes("\u0000") && text.isWellFormed();
}
