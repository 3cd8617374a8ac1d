import type { Covered, SimulationCoverage } from "./coverage.ts";
import type { Run } from "./run.ts";
import { storyText } from "./story.ts";

/** What `simulate` did. */
export interface SimulationReport {
  /** How many runs there were; after a failure there are no further ones. */
  readonly runs: number;
  /** The seed of the first run. */
  readonly seed: number;
  /** How many acts were done. */
  readonly acts: number;
  readonly coverage: SimulationCoverage;
  /** Null in what `simulate` returns: a failure is thrown, with the report in the `details` of the error. */
  readonly failure: SimulationFailure | null;
  /** All of it, for a person. */
  readonly text: string;
}

/** A run in which something was wrong, made as small as it could be. */
export interface SimulationFailure {
  /** The seed that repeats it: `simulate({ …, seed, runs: 1 })`. */
  readonly seed: number;
  /** The name of the violated invariant; null when one of your functions threw, hung or returned nonsense. */
  readonly invariant: string | null;
  readonly message: string;
  /** What happened, a sentence each. */
  readonly story: readonly string[];
}

/** Of more names only the first are printed. */
const maxNames = 15;

export function reportOf(
  { runs, seed, acts, coverage }: Pick<SimulationReport, "runs" | "seed" | "acts" | "coverage">,
  failed?: { readonly first: Run; readonly smallest: Run },
): SimulationReport {
  const counted = { runs, seed, acts, coverage };
  if (failed === undefined) return { ...counted, failure: null, text: passedText(counted) };
  const { plan, story, failure: found } = failed.smallest;
  const { invariant, message } = found!;
  const failure = { seed: plan.seed, invariant, message, story };
  return { ...counted, failure, text: failedText(failure, runs, failed) };
}

function passedText({
  runs,
  seed,
  acts,
  coverage,
}: Pick<SimulationReport, "runs" | "seed" | "acts" | "coverage">): string {
  const { states, edges, events, unsent } = coverage;
  return [
    `${runs} runs from seed ${seed}, ${acts} acts: every invariant holds.`,
    `Reached: ${shareOf(states)} states, ${shareOf(edges)} edges, ${shareOf(events)} events.`,
    ...neverText("States", states.never),
    ...neverText("Edges", edges.never),
    ...(unsent.length === 0
      ? []
      : [`Events that were not sent, because \`events\` has no payload for them: ${unsent.join(", ")}.`]),
  ].join("\n");
}

function shareOf({ reached, total }: Covered): string {
  return `${reached} of ${total}`;
}

function neverText(what: string, never: readonly string[]): string[] {
  if (never.length === 0) return [];
  const more = never.length > maxNames ? [`  … and ${never.length - maxNames} more`] : [];
  return [`${what} that no run reached:`, ...never.slice(0, maxNames).map((name) => `  ${name}`), ...more];
}

function failedText(
  { seed, invariant, message, story }: SimulationFailure,
  runs: number,
  { first, smallest }: { readonly first: Run; readonly smallest: Run },
): string {
  const what =
    invariant === null
      ? message
      : `${invariant === "invariant" ? "The invariant" : `The invariant "${invariant}"`} is violated: ${message}`;
  const [most, least] = [first.acts, smallest.plan.acts.length];
  const shrunk = least < most ? `, shrunk from ${most} acts to ${least}` : "";
  return [what, "", ...storyText(story), "", `This is run ${runs}${shrunk}. To repeat it: seed: ${seed}, runs: 1`].join(
    "\n",
  );
}
