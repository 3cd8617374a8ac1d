import type { Duration } from "../base/duration.ts";
import { type Faults, shown } from "./read/fault.ts";
import { type Fields, readBoolean, readDuration, readInteger, readOneOf, readText } from "./read/read.ts";

const ways = ["extend", "finish"] as const;

/** How a crowd is asked, and what it is paid. */
export interface CrowdOptions {
  /** How many approved submissions each question needs. 1 unless given. */
  readonly submissions?: number;
  /** How many places a question may have in all, since each rejection needs another: three times `submissions` unless given. */
  readonly maxPlaces?: number;
  /** What workers read before they begin. The name unless given. */
  readonly title?: string;
  readonly description?: string;
  readonly keywords?: readonly string[];
  /** What an approved submission is paid, such as "0.25". Marketplaces that pay want it. */
  readonly reward?: string;
  /** How long somebody may begin on it. Seven days unless given. */
  readonly lifetime?: Duration;
  /** How long a worker has, from beginning to submitting. An hour unless given. */
  readonly workTime?: Duration;
  /** When the marketplace approves by itself what nobody has decided. Thirty days unless given. */
  readonly approvedAfter?: Duration;
  /** Approve whatever `onSubmitted` does not reject; true unless given. Otherwise it waits for a person. */
  readonly autoApprove?: boolean;
  /** What to do when time is up and places are left: give it another `lifetime`, or finish with what there is. */
  readonly whenExpired?: "extend" | "finish";
  /** How often it is given another `lifetime`. 3 unless given. */
  readonly maxExtensions?: number;
  /** How often the marketplace is asked for submissions that nothing has told of. Ten minutes unless given. */
  readonly sweepEvery?: Duration;
  /**
   * How long after its end it stays at the marketplace. A day unless given, and thirty where something was rejected, so
   * that the rejection can still be taken back there.
   */
  readonly disposeAfter?: Duration;
}

/** How a crowd is asked, with everything said. */
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
  readonly sweepEvery: Duration;
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
  "sweepEvery",
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
    sweepEvery: readDuration(fields.sweepEvery, "10m", "sweepEvery", faults),
    disposeAfter: readDuration(fields.disposeAfter, null, "disposeAfter", faults),
  };
}

function readKeywords(value: unknown, faults: Faults): readonly string[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((one) => typeof one === "string" && one !== "")) return value;
  faults.add("shape_invalid", "keywords", `It is ${shown(value)}.`, "Write a list of words.");
  return [];
}

function readReward(value: unknown, faults: Faults): string | null {
  if (value === undefined) return null;
  if (typeof value === "string" && /^\d{1,7}(\.\d{1,2})?$/.test(value)) return value;
  faults.add("shape_invalid", "reward", `It is ${shown(value)}.`, 'Write an amount as a text, such as "0.25".');
  return null;
}
