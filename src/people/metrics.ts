import type { Sums } from "../views/labeler-hours.ts";

/** How the assignments of a queue, of a labeler or of an hour stand. Rates are null where there is nothing to count. */
export interface Metrics {
  readonly total: number;
  readonly byStatus: {
    readonly pending: number;
    readonly in_progress: number;
    readonly completed: number;
    readonly expired: number;
    readonly skipped: number;
  };
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

export function metricsOf(sums: Sums): Metrics {
  const { given: total, completed, skipped, expired } = sums;
  const closed = completed + skipped + expired;
  return {
    total,
    byStatus: {
      pending: total - sums.started - sums.unstarted,
      in_progress: sums.started - (closed - sums.unstarted),
      completed,
      expired,
      skipped,
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

function share(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}
