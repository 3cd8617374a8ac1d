import { PawlError } from "./errors.ts";

type Unit = "ms" | "s" | "m" | "h" | "d" | "w";

type Part<In extends Unit> = `${number}${In}`;

/** Two units, the larger one first. */
type TwoParts =
  | `${Part<"w">}${Part<"d" | "h">}`
  | `${Part<"d">}${Part<"h" | "m">}`
  | `${Part<"h">}${Part<"m" | "s">}`
  | `${Part<"m">}${Part<"s">}`
  | `${Part<"s">}${Part<"ms">}`;

/**
 * A length of time: milliseconds as a number, or a text such as `"90s"`, `"10m"`, `"1.5h"`, `"60d"`, `"9m59s"` or
 * `"1h30m15s"`, with the larger unit first.
 */
export type Duration =
  | number
  | Part<Unit>
  | TwoParts
  | `${Part<"d">}${Part<"h">}${Part<"m">}`
  | `${Part<"h">}${Part<"m">}${Part<"s">}`;

const unitMs: Record<Unit, number> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
const longestMs = 100 * 365.25 * unitMs.d;
const number = String.raw`(\d+(?:\.\d+)?)`;
const pattern = new RegExp(
  `^(?!$)(?:${number}w)?(?:${number}d)?(?:${number}h)?(?:${number}m(?!s))?(?:${number}s)?(?:${number}ms)?$`,
);
const unitsOfPattern = ["w", "d", "h", "m", "s", "ms"] as const;

/** A duration in whole milliseconds, or the sentence that says why it is invalid. */
export function parseDuration(duration: unknown): number | string {
  const ms = typeof duration === "number" ? duration : parseText(duration);
  if (ms === undefined || !Number.isFinite(ms) || ms < 0) {
    return `${shownGiven(duration)} is not a duration; write one such as "90s", "10m", "2h", "60d" or milliseconds.`;
  }
  return ms > longestMs ? `${shownGiven(duration)} is longer than a hundred years.` : Math.round(ms);
}

/** A duration in whole milliseconds; throws `option_invalid` naming `what` it was given for. */
export function durationMs(duration: unknown, what: string): number {
  const ms = parseDuration(duration);
  if (typeof ms === "string") throw new PawlError("option_invalid", `${what}: ${ms}`, { what });
  return ms;
}

/** Describes a value that is no duration. From plain JavaScript it may be anything. */
function shownGiven(given: unknown): string {
  if (typeof given === "string") return JSON.stringify(given.length > 50 ? `${given.slice(0, 50)}…` : given);
  const simple = given === null || given === undefined || typeof given === "number" || typeof given === "boolean";
  return simple ? String(given) : `A value of type ${typeof given}`;
}

function parseText(text: unknown): number | undefined {
  const parts = typeof text === "string" ? pattern.exec(text) : null;
  if (parts === null) return undefined;
  return unitsOfPattern.reduce((ms, unit, index) => ms + Number(parts[index + 1] ?? 0) * unitMs[unit], 0);
}

const shown: readonly (readonly [Unit, number])[] = [
  ["d", unitMs.d],
  ["h", unitMs.h],
  ["m", unitMs.m],
  ["s", unitMs.s],
  ["ms", 1],
];

/** A length of time as a person writes it: its largest unit that leaves no rest. */
export function formatDuration(ms: number): string {
  const [unit, size] = shown.find(([, each]) => ms >= each && ms % each === 0) ?? ["ms", 1];
  return `${ms / size}${unit}`;
}

/** A delay that a Node timer supports: a longer one would fire at once. The caller checks again when it ends. */
export function timerMs(ms: number): number {
  return Math.min(ms, 2 ** 31 - 1);
}
