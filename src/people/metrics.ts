import type { Earlier, Sums } from "./views/labeler-hours.ts";

/** Metrics of the assignments of a queue, a labeler or a time span. Rates are null if there is nothing to count. */
export interface Metrics {
  /** Assignments; for a time span, including those that were open at its start. */
  readonly total: number;
  /** Counts by status, as of now or of the end of the time span. */
  readonly byStatus: {
    readonly pending: number;
    readonly in_progress: number;
    readonly completed: number;
    readonly expired: number;
    readonly skipped: number;
  };
  /** The expired ones by cause: not started in time, not finished in time, released by a lead. */
  readonly expired: { readonly neverStarted: number; readonly unfinished: number; readonly released: number };
  /** Shares of all assignments. */
  readonly completionRate: number | null;
  readonly skipRate: number | null;
  readonly expireRate: number | null;
  /** Shares of the ended assignments, without open ones. */
  readonly ofClosed: {
    readonly completionRate: number | null;
    readonly skipRate: number | null;
    readonly expireRate: number | null;
  };
  /** The mean time from start to label, in seconds. */
  readonly avgTimeToComplete: number | null;
  /** The average number of starts of a sample by a labeler. */
  readonly avgAttempts: number | null;
  /** Late labels, and labels that a lead rejected. */
  readonly late: number;
  readonly rejected: number;
  /** Labels of gold samples, the number of correct ones, and their share. */
  readonly gold: { readonly labels: number; readonly right: number; readonly accuracy: number | null };
}

const none: Earlier = { given: 0, started: 0, unstarted: 0, completed: 0, skipped: 0, expired: 0 };

/** Computes the metrics of a time span from its sums and those of all time before it. */
export function metricsOf(sums: Sums, before: Earlier = none): Metrics {
  const { completed, skipped, expired } = sums;
  const closed = closedOf(sums);
  const total = before.given - closedOf(before) + sums.given;
  const until = sumOf(before, sums);
  return {
    total,
    byStatus: {
      pending: until.given - until.started - until.unstarted,
      in_progress: until.started - (closedOf(until) - until.unstarted),
      completed,
      expired,
      skipped,
    },
    expired: {
      neverStarted: sums.expired_unstarted,
      unfinished: expired - sums.expired_unstarted - sums.released,
      released: sums.released,
    },
    completionRate: share(completed, total),
    skipRate: share(skipped, total),
    expireRate: share(expired, total),
    ofClosed: {
      completionRate: share(completed, closed),
      skipRate: share(skipped, closed),
      expireRate: share(expired, closed),
    },
    avgTimeToComplete: share(sums.worked_ms / 1_000, completed),
    avgAttempts: share(sums.attempts, total),
    late: sums.late,
    rejected: sums.rejected,
    gold: { labels: sums.gold, right: sums.gold_right, accuracy: share(sums.gold_right, sums.gold) },
  };
}

export function sumOf(one: Earlier, other: Earlier): Earlier {
  return {
    given: one.given + other.given,
    started: one.started + other.started,
    unstarted: one.unstarted + other.unstarted,
    completed: one.completed + other.completed,
    skipped: one.skipped + other.skipped,
    expired: one.expired + other.expired,
  };
}

function closedOf({ completed, skipped, expired }: Earlier): number {
  return completed + skipped + expired;
}

function share(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}
