import type { Earlier, Sums } from "./views/labeler-hours.ts";

/** How the assignments of a queue, of a labeler or of a time stand. Rates are null where there is nothing to count. */
export interface Metrics {
  /** Assignments given; in the metrics of a time also those that were open when it began. */
  readonly total: number;
  /** How they stand, or stood when the time ended. */
  readonly byStatus: {
    readonly pending: number;
    readonly in_progress: number;
    readonly completed: number;
    readonly expired: number;
    readonly skipped: number;
  };
  /** Those expired, by how: never started in time, started and not finished in time, released by a lead. */
  readonly expired: { readonly neverStarted: number; readonly unfinished: number; readonly released: number };
  /** Shares of all assignments. */
  readonly completionRate: number | null;
  readonly skipRate: number | null;
  readonly expireRate: number | null;
  /** The same as shares of those that have ended: what is in hand does not count against anybody. */
  readonly ofClosed: {
    readonly completionRate: number | null;
    readonly skipRate: number | null;
    readonly expireRate: number | null;
  };
  /** The mean time from start to label, in seconds. */
  readonly avgTimeToComplete: number | null;
  /** How often, on average, a labeler had begun the sample. */
  readonly avgAttempts: number | null;
  /** Labels that came too late, and labels that a lead rejected. */
  readonly late: number;
  readonly rejected: number;
  /** Labels of gold samples, how many of them were right, and which share that is. */
  readonly gold: { readonly labels: number; readonly right: number; readonly accuracy: number | null };
}

const none: Earlier = { given: 0, started: 0, unstarted: 0, completed: 0, skipped: 0, expired: 0 };

/** Metrics of a time, from its sums and from those of all time before it. */
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
