import { asSentence } from "../../base/text.ts";
import type { Blocker } from "./decide.ts";
import type { RecoveryPlan } from "./recover.ts";

/** The failure of an instance, its budget of failures, and what a recovery would do. */
export interface RecoveryExplanation {
  /** Its failure; null when it has not failed, or has recovered. */
  readonly failure: ExplainedFailure | null;
  /** Failures that count against its budget, the budget, and which failures count. */
  readonly failures: number;
  readonly maxFailures: number | null;
  readonly scope: "restart" | "state" | "lifetime";
  readonly next: NextRecoveryStep;
  /** What a recovery would do now; for an instance that has not failed, what would follow if it failed here. */
  readonly retry: ExplainedRetry | null;
  /** All of it in plain English. Empty for an instance that has ended. */
  readonly sentences: readonly string[];
}

export interface ExplainedFailure {
  readonly state: string;
  readonly at: Date;
  readonly event: string;
  readonly reason: string | null;
  readonly error: string | null;
}

/** How a failure is dealt with. */
export type NextRecoveryStep =
  /** It recovers: at a moment, or (null) as soon as a worker is free. */
  | { readonly kind: "recovery"; readonly at: Date | null }
  /** It stays failed until a person acts. */
  | { readonly kind: "person"; readonly reason: string | null; readonly deadLetter: string | null }
  /** It has not failed. If it failed now: a recovery after a delay, or a person. */
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
  /** The `fail` edge of the state itself, which is no failure of the instance. */
  | { readonly kind: "caught"; readonly to: string };

type Unworded = Omit<RecoveryExplanation, "sentences">;

/** The explanation in plain English; the wait of a failed instance is part of the explanation of its waits. */
export function sentencesOf(one: Unworded): string[] {
  return [...failureOf(one), ...budgetOf(one), ...ifFailed(one), ...retryOf(one)];
}

function failureOf({ failure }: Unworded): string[] {
  if (failure === null) return [];
  const how = failure.event === "fail" ? "" : ` by \`${failure.event}\``;
  // `failed` is the reason if none was given.
  const reason = failure.reason === "failed" ? null : failure.reason?.replaceAll("_", " ");
  const why = [reason, failure.error].filter((part) => part != null && part !== "");
  const sentence = `It failed in \`${failure.state}\`${how} at ${shownTime(failure.at)}`;
  return [why.length === 0 ? `${sentence}.` : asSentence(`${sentence}: ${why.join("; ")}`)];
}

const since = {
  restart: "since it was started or restarted",
  state: "in this state since it was started or restarted",
  lifetime: "in its lifetime",
};

function budgetOf({ failures, maxFailures, scope, failure }: Unworded): string[] {
  if (failures === 0 && failure === null) return [];
  const limit = maxFailures === null ? "" : `; the limit is ${maxFailures}`;
  return [`It has failed ${timesOf(failures)} ${since[scope]}${limit}.`];
}

/** A number of times: once, twice, 3 times. */
export function timesOf(count: number): string {
  if (count === 1) return "once";
  return count === 2 ? "twice" : `${count} times`;
}

function ifFailed({ next, maxFailures }: Unworded): string[] {
  if (next.kind !== "if_failed") return [];
  if (next.recoversAfterMs !== null)
    return [`If it failed now, it would recover automatically after ${shownLength(next.recoversAfterMs)}.`];
  const why = maxFailures === null ? "its lifecycle declares no `recovery`" : (next.reason ?? "").replaceAll("_", " ");
  return [`If it failed now, it would become a dead letter: ${why}.`];
}

function retryOf({ retry, failure }: Unworded): string[] {
  if (retry === null) return [];
  const would = failure === null ? "The recovery would" : "A recovery now would";
  if (retry.kind === "caught")
    return [`A failure of its step leads to \`${retry.to}\` and does not count as a failure of the instance.`];
  if (retry.kind === "refused")
    return [asSentence(`${would} be refused: ${retry.blockers.map((one) => one.reason).join("; ")}`)];
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
  join: "which checks its children again",
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

/** A length of time in the largest unit that divides it. */
function shownLength(ms: number): string {
  const [unit, size] = units.find(([, each]) => ms >= each && ms % each === 0) ?? ["millisecond", 1];
  const count = ms / size;
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
