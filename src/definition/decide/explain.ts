import type { Blocker } from "./decide.ts";
import type { RecoveryPlan } from "./recover.ts";

/** What failed, how often, what will happen by itself, and what a retry now would do. Nothing is done by asking. */
export interface RecoveryExplanation {
  readonly id: string;
  readonly key: string | null;
  readonly lifecycle: string;
  readonly state: string;
  readonly outcome: "success" | "failure" | "discarded" | null;
  /** The failure that it stands in; null when it has not failed, or has come back. */
  readonly failure: ExplainedFailure | null;
  /** Failures that count against its budget, the budget, and which failures count. */
  readonly failures: number;
  readonly maxFailures: number | null;
  readonly scope: "restart" | "state" | "lifetime";
  readonly next: NextRecoveryStep;
  /** What a retry now would do; for an instance that has not failed, what would follow if it failed here. */
  readonly retry: ExplainedRetry | null;
  /** All of it in words. */
  readonly sentences: readonly string[];
}

export interface ExplainedFailure {
  readonly state: string;
  readonly at: Date;
  readonly event: string;
  readonly reason: string | null;
  readonly error: string | null;
}

/** What happens without anybody doing anything. */
export type NextRecoveryStep =
  /** It recovers: at a moment, or (null) as soon as a worker is free. */
  | { readonly kind: "recovery"; readonly at: Date | null }
  /** It stays failed until a person acts. */
  | { readonly kind: "person"; readonly reason: string | null; readonly deadLetter: string | null }
  /** It has not failed. If it failed now: a recovery so much later, or a person. */
  | { readonly kind: "if_failed"; readonly recoversAfterMs: number | null; readonly reason: string | null }
  /** It has ended, or a failure here would be caught. */
  | { readonly kind: "none" };

export type ExplainedRetry =
  | {
      readonly kind: "planned";
      readonly target: string;
      readonly targetKind: string;
      readonly way: RecoveryPlan["way"];
      readonly resets: boolean;
      readonly moves: readonly { readonly event: string; readonly from: string; readonly to: string }[];
    }
  | { readonly kind: "refused"; readonly blockers: readonly Blocker[] }
  /** The state's own way out of a failure, which is no failure of the instance. */
  | { readonly kind: "caught"; readonly to: string };

/** The explanation in words, for a person. */
export function sentencesOf(one: Omit<RecoveryExplanation, "sentences">): string[] {
  const name = one.key === null ? `\`${one.lifecycle}\` ${one.id}` : `\`${one.lifecycle}\` "${one.key}"`;
  if (one.outcome !== null) return [`${name} has ended in \`${one.state}\`: there is nothing to recover.`];
  const first =
    one.failure === null ? `${name} stands in \`${one.state}\` and has not failed.` : failedAs(name, one.failure);
  return [first, ...budgetOf(one), ...nextOf(one), ...retryOf(one)];
}

function failedAs(name: string, failure: ExplainedFailure): string {
  const how = failure.event === "fail" ? "" : ` by \`${failure.event}\``;
  const why = [failure.reason?.replaceAll("_", " "), failure.error].filter((part) => part != null && part !== "");
  const sentence = `${name} failed in \`${failure.state}\`${how} at ${shownTime(failure.at)}`;
  return why.length === 0 ? `${sentence}.` : ended(`${sentence}: ${why.join("; ")}`);
}

/** What an error says may be a sentence already. */
export function ended(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

const since = {
  restart: "since it was started or restarted",
  state: "in this state since it was started or restarted",
  lifetime: "in all its life",
};

function budgetOf({ failures, maxFailures, scope, failure }: Omit<RecoveryExplanation, "sentences">): string[] {
  if (failures === 0 && failure === null) return [];
  const times = failures === 1 ? "once" : failures === 2 ? "twice" : `${failures} times`;
  const limit = maxFailures === null ? "" : `; at ${maxFailures} it is left to a person`;
  return [`It has failed ${times} ${since[scope]}${limit}.`];
}

function nextOf({ next, maxFailures }: Omit<RecoveryExplanation, "sentences">): string[] {
  switch (next.kind) {
    case "recovery":
      return [
        next.at === null
          ? "It recovers as soon as a worker is free."
          : `It recovers by itself at ${shownTime(next.at)}, unless something else moves it before.`,
      ];
    case "person": {
      const why = next.reason === null ? "" : `: ${next.reason.replaceAll("_", " ")}`;
      const letter = next.deadLetter === null ? "" : ` (dead letter ${next.deadLetter})`;
      return [`It stays failed until a person acts${why}${letter}.`];
    }
    case "if_failed":
      if (next.recoversAfterMs !== null)
        return [`If it failed now, it would recover by itself ${shownLength(next.recoversAfterMs)} later.`];
      if (maxFailures === null)
        return ["If it failed now, it would wait for a person: its lifecycle declares no `recovery`."];
      return [`If it failed now, it would wait for a person: ${(next.reason ?? "").replaceAll("_", " ")}.`];
    default:
      return [];
  }
}

function retryOf({ retry, failure }: Omit<RecoveryExplanation, "sentences">): string[] {
  const would = failure === null ? "Its recovery would" : "A retry now would";
  if (retry === null) return [];
  if (retry.kind === "caught")
    return [`A step that fails here is caught: it goes to \`${retry.to}\` and counts as no failure.`];
  if (retry.kind === "refused")
    return [ended(`${would} be refused: ${retry.blockers.map((one) => one.reason).join("; ")}`)];
  const [first, second] = retry.moves;
  const reset = retry.resets ? "run the reset, and then " : "";
  if (first!.event !== "recover")
    return [`${would} ${reset}send \`${first!.event}\`, which leads to \`${first!.to}\`.`];
  if (second === undefined)
    return [`${would} ${reset}resume in \`${retry.target}\`, ${again[retry.targetKind] ?? "which waits again"}.`];
  return [
    `${would} ${reset}go back to \`${retry.target}\` and send \`${second.event}\`, which leads to \`${second.to}\`.`,
  ];
}

const again: Readonly<Record<string, string>> = {
  work: "whose step runs again",
  ask: "which asks again",
  park: "where it waits for its release",
  join: "which looks at its children again",
};

export function shownTime(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
] as const;

/** A length of time in the largest unit that tells it whole. */
function shownLength(ms: number): string {
  const [unit, size] = units.find(([, each]) => ms >= each && ms % each === 0) ?? ["millisecond", 1];
  const count = ms / size;
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
