import type { Duration } from "../base/duration.ts";
import { type Faults, quotedValue } from "./read/fault.ts";
import { type Fields, readBoolean, readDuration, readInteger, readOneOf, readText } from "./read/read.ts";

const ways = ["extend", "finish"] as const;

/** How a crowd is asked, and the reward. */
export interface CrowdOptions {
  /**
   * The number of approved submissions per question.
   * @default 1
   */
  readonly submissions?: number;
  /**
   * The maximum number of places per question, since each rejection needs another one.
   * @default three times `submissions`
   */
  readonly maxPlaces?: number;
  /**
   * The instructions for workers.
   * @default the name
   */
  readonly title?: string;
  readonly description?: string;
  readonly keywords?: readonly string[];
  /** The reward of an approved submission, such as "0.25". Required by marketplaces that pay. */
  readonly reward?: string;
  /**
   * How long new workers can begin.
   * @default "7d"
   */
  readonly lifetime?: Duration;
  /**
   * How long a worker has, from beginning to submitting.
   * @default "1h"
   */
  readonly workTime?: Duration;
  /**
   * When the marketplace approves undecided submissions by itself.
   * @default "30d"
   */
  readonly approvedAfter?: Duration;
  /**
   * Approves every submission that `onSubmitted` does not reject. Otherwise a person decides.
   * @default true
   */
  readonly autoApprove?: boolean;
  /** What to do when time is up and places are left: give it another `lifetime`, or finish with what there is. */
  readonly whenExpired?: "extend" | "finish";
  /**
   * How often it is extended by another `lifetime`.
   * @default 3
   */
  readonly maxExtensions?: number;
  /**
   * How often the marketplace is polled for submissions without a notification.
   * @default "10m"
   */
  readonly syncInterval?: Duration;
  /**
   * How long postings are kept at the marketplace after the end.
   * @default "1d", or "30d" after a rejection, which can be overridden there until then
   */
  readonly disposeAfter?: Duration;
}

/** The settings of a crowd, with defaults. */
export interface CrowdSettings {
  readonly submissions: number;
  readonly maxPlaces: number;
  readonly title: string;
  readonly description: string;
  readonly keywords: readonly string[];
  readonly reward: string | null;
  readonly lifetime: Duration;
  readonly workTime: Duration;
  readonly approvedAfter: Duration;
  readonly autoApprove: boolean;
  readonly whenExpired: "extend" | "finish";
  readonly maxExtensions: number;
  readonly syncInterval: Duration;
  readonly disposeAfter: Duration | null;
}

export const crowdSettingKeys = [
  "submissions",
  "maxPlaces",
  "title",
  "description",
  "keywords",
  "reward",
  "lifetime",
  "workTime",
  "approvedAfter",
  "autoApprove",
  "whenExpired",
  "maxExtensions",
  "syncInterval",
  "disposeAfter",
] as const satisfies readonly (keyof CrowdOptions)[];

export function readCrowdSettings(fields: Fields, name: string, faults: Faults): CrowdSettings {
  const submissions = readInteger(fields.submissions, [1, 1_000], 1, "submissions", faults);
  return {
    submissions,
    maxPlaces: readInteger(fields.maxPlaces, [submissions, 100_000], 3 * submissions, "maxPlaces", faults),
    title: readText(fields.title, "title", faults) ?? name,
    description: readText(fields.description, "description", faults) ?? "",
    keywords: readKeywords(fields.keywords, faults),
    reward: readReward(fields.reward, faults),
    lifetime: readDuration(fields.lifetime, "7d", "lifetime", faults),
    workTime: readDuration(fields.workTime, "1h", "workTime", faults),
    approvedAfter: readDuration(fields.approvedAfter, "30d", "approvedAfter", faults),
    autoApprove: readBoolean(fields.autoApprove, true, "autoApprove", faults),
    whenExpired: readOneOf(fields.whenExpired, ways, "extend", "whenExpired", faults),
    maxExtensions: readInteger(fields.maxExtensions, [0, 1_000], 3, "maxExtensions", faults),
    syncInterval: readDuration(fields.syncInterval, "10m", "syncInterval", faults),
    disposeAfter: readDuration(fields.disposeAfter, null, "disposeAfter", faults),
  };
}

function readKeywords(value: unknown, faults: Faults): readonly string[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((one) => typeof one === "string" && one !== "")) return value;
  faults.add("shape_invalid", "keywords", `It is ${quotedValue(value)}.`, "Write a list of words.");
  return [];
}

function readReward(value: unknown, faults: Faults): string | null {
  if (value === undefined) return null;
  if (typeof value === "string" && /^\d{1,7}(\.\d{1,2})?$/.test(value)) return value;
  faults.add("shape_invalid", "reward", `It is ${quotedValue(value)}.`, 'Write an amount as a text, such as "0.25".');
  return null;
}
