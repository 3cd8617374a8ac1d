import { type CrashPlace, type CrashPoint, describePlace } from "./crash-point.ts";

/** A crash that changes the outcome. */
export interface CrashFailure extends CrashPoint {
  /** The name for `only`, such as `report.before:2`. */
  readonly point: string;
  /** The differences, a sentence each. */
  readonly problems: readonly string[];
}

/** What `crashEverywhere` did. */
export interface CrashReport {
  /** How often the scenario reaches a place at which the process can die. */
  readonly visits: number;
  /** How many crashes were run: visits between which nothing was stored and no effect happened are one. */
  readonly points: number;
  /** Crash points that a run did not reach: the scenario is not deterministic. */
  readonly missed: number;
  /** How often each effect happens. */
  readonly effects: Readonly<Record<string, number>>;
  readonly failures: readonly CrashFailure[];
  /** All of it, for a person. */
  readonly text: string;
}

/** Of more failures only the first are shown. */
const maxShown = 5;

export function crashText({ visits, points, missed, failures }: Omit<CrashReport, "text">): string {
  const tried = `${points} crash points (of ${visits} visits, the others are alike)`;
  const lost = missed === 0 ? "" : ` ${missed} were not reached again: the scenario is not the same each time.`;
  if (failures.length === 0) return `${tried}: the outcome is the same after each of them.${lost}`;
  const shown = failures.slice(0, maxShown).flatMap((failure, index) => ["", ...failureLines(failure, index + 1)]);
  const more = failures.length - maxShown;
  const rest = more > 0 ? ["", `… and ${more} more.`] : [];
  return [`${failures.length} of ${tried} change the outcome.${lost}`, ...shown, ...rest].join("\n");
}

function failureLines({ place, point, problems }: CrashFailure, number: number): string[] {
  return [
    `${number}. The process dies ${describePlace(place as CrashPlace)}.`,
    ...problems.map((problem) => `   ${problem}`),
    `   To run it alone: only: ${JSON.stringify(point)}`,
  ];
}
