import { type Duration, durationMs, formatDuration } from "../../../base/duration.ts";
import type { AnyCrowd } from "../../../definition/crowd.ts";

const secondMs = 1_000;
const dayMs = 24 * 3_600 * secondMs;
const yearMs = 365 * dayMs;
const maxPlaces = 1_000_000_000;

/** What keeps a crowd from being published on Mechanical Turk, each with its remedy. */
export function checkCrowd(crowd: AnyCrowd): readonly string[] {
  const keywords = crowd.keywords.join(",");
  return [
    tooLong("title", crowd.title, 128),
    crowd.description === "" && "`description` is missing: describe the task; workers read it before they start.",
    tooLong("description", crowd.description, 2_000),
    tooLong("keywords", keywords, 1_000, ", joined by commas"),
    crowd.keywords.some((word) => word.includes(",")) && "`keywords` has a keyword with a comma: split it.",
    rewardFault(crowd.reward),
    outside("lifetime", crowd.lifetime, 30 * secondMs, yearMs),
    outside("workTime", crowd.workTime, 30 * secondMs, yearMs),
    outside("approvedAfter", crowd.approvedAfter, 0, 30 * dayMs),
    crowd.maxPlaces > maxPlaces && `\`maxPlaces\` is ${crowd.maxPlaces}; the maximum is ${maxPlaces}.`,
  ].filter((fault) => fault !== false);
}

function tooLong(name: string, text: string, most: number, how = ""): string | false {
  return text.length > most && `\`${name}\` has ${text.length} characters${how}; the maximum is ${most}.`;
}

function rewardFault(reward: string | null): string | false {
  if (reward !== null) return false;
  return '`reward` is missing: set the price of an approved submission, in US dollars, such as "0.25".';
}

function outside(name: string, given: Duration, least: number, most: number): string | false {
  const ms = durationMs(given, name);
  if (ms >= least && ms <= most) return false;
  return `\`${name}\` is ${formatDuration(ms)}; it must be from ${formatDuration(least)} to ${formatDuration(most)}.`;
}
