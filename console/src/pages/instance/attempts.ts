import type { AttemptResponse, JournalResponse } from "../../../../src/http/contract.ts";
import { errorIn, failures } from "./history.ts";

/** An attempt of a step or an after-effect, from its claim to its outcome. */
export interface Attempt {
  readonly number: number | null;
  readonly lane: string | null;
  readonly worker: string | null;
  readonly at: string;
  /** Null while it runs. */
  readonly endedAt: string | null;
  readonly outcome: string | null;
  readonly isFailure: boolean;
  readonly error: { readonly name: string; readonly message: string } | undefined;
}

/** The attempts of an instance, the newest first. The error is that of the entry with which the attempt ended. */
export function attemptsOf(journal: readonly JournalResponse[]): Attempt[] {
  return journal
    .flatMap((said, at) => {
      if (said.kind !== "attempt" || said.what !== "claimed") return [];
      const { attempt: number, lane, worker, endedAt, outcome } = said;
      const isEnd = (one: JournalResponse) =>
        one.kind === "move"
          ? one.at === endedAt
          : one.what !== "claimed" && one.attempt === number && one.lane === lane;
      const end = journal.slice(at + 1).find(isEnd);
      const carried = end === undefined ? undefined : end.kind === "move" ? end.payload : end.detail;
      const isFailure = outcome === "fail" || failures.has(outcome as AttemptResponse["what"]);
      return [
        {
          number,
          lane,
          worker,
          at: said.at,
          endedAt,
          outcome,
          isFailure,
          error: isFailure ? errorIn(carried) : undefined,
        },
      ];
    })
    .reverse();
}

/** A part of the time of an instance: where it begins and how long it is, in percent. */
export interface Span {
  readonly name: string;
  readonly kind: "visit" | "attempt" | "failure";
  readonly left: number;
  readonly width: number;
  readonly lengthMs: number;
}

/** The visits and the attempts of an instance in order of time, as bars on one line of time; at most 60, the newest. */
export function waterfallOf(
  visits: readonly { readonly state: string; readonly from: string; readonly to: string | null }[],
  attempts: readonly Attempt[],
  nowMs: number,
): Span[] {
  const all = [
    ...visits.map(({ state, from, to }) => ({ name: state, kind: "visit" as const, from, to })),
    ...attempts.map(({ number, at, endedAt, isFailure }) => ({
      name: number === null ? "attempt" : `attempt ${number}`,
      kind: isFailure ? ("failure" as const) : ("attempt" as const),
      from: at,
      to: endedAt,
    })),
  ]
    .map((one) => ({ ...one, fromMs: Date.parse(one.from), toMs: one.to === null ? nowMs : Date.parse(one.to) }))
    .toSorted(
      (one, other) => one.fromMs - other.fromMs || Number(one.kind !== "visit") - Number(other.kind !== "visit"),
    )
    .slice(-60);
  const beginMs = Math.min(...all.map(({ fromMs }) => fromMs));
  const lengthMs = Math.max(1, Math.max(...all.map(({ toMs }) => toMs)) - beginMs);
  return all.map(({ name, kind, fromMs, toMs }) => ({
    name,
    kind,
    left: (100 * (fromMs - beginMs)) / lengthMs,
    width: (100 * Math.max(0, toMs - fromMs)) / lengthMs,
    lengthMs: Math.max(0, toMs - fromMs),
  }));
}
