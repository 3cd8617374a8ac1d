/** The counts of a crowd job: submissions, decisions, and what can still come in. */
export interface JobCounts {
  /** The number of approved submissions requested. */
  readonly wanted: number;
  readonly approved: number;
  /** Rejected, or discarded here. */
  readonly rejected: number;
  /** Approved by the marketplace although they were to be rejected: they are paid, and do not count. */
  readonly refused: number;
  /** Submitted, and not decided. */
  readonly undecided: number;
  /** How many may submit in all, by the marketplace. */
  readonly places: number;
  /** How many have. */
  readonly submitted: number;
  /** No new worker can begin, and none is working. */
  readonly settled: boolean;
  /** A posting was deleted at the marketplace, by a person there. */
  readonly gone: boolean;
  readonly rejectionReopens: boolean;
  readonly maxPlaces: number;
  /** Its time can be extended once more. */
  readonly mayProlong: boolean;
  /** The asking instance has ended. */
  readonly closing: boolean;
}

/** What to do next. */
export type NextAction =
  | { readonly kind: "wait" }
  | { readonly kind: "widen"; readonly places: number }
  | { readonly kind: "prolong" }
  | { readonly kind: "finish" }
  | { readonly kind: "fall_short"; readonly reason: string }
  | { readonly kind: "close" };

/**
 * Decides how a crowd job continues: many rejections require more places, an expired posting with open places is
 * extended, and when everything is submitted and decided the job is finished. Pure: equal counts give equal progress.
 */
export function nextActionOf(standing: JobCounts): NextAction {
  const { wanted, approved, rejected, refused, undecided, places, submitted, settled } = standing;
  const atRest = settled && undecided === 0;
  if (standing.closing) return atRest ? { kind: "close" } : { kind: "wait" };
  // A rejected place may reopen by itself; the place of a paid submission does not.
  const useless = refused + (standing.rejectionReopens ? 0 : rejected);
  const missing = standing.gone ? 0 : Math.max(0, useless - (places - wanted));
  if (missing > 0 && places + missing <= standing.maxPlaces) return { kind: "widen", places: places + missing };
  if (!atRest) return { kind: "wait" };
  if (approved >= wanted) return { kind: "finish" };
  const short = `It has ${approved} of ${wanted} approved submissions`;
  if (standing.gone) return { kind: "fall_short", reason: `${short}, and its posting is gone from the marketplace.` };
  const taken = standing.rejectionReopens ? submitted - rejected : submitted;
  if (taken < places && missing === 0) {
    if (standing.mayProlong) return { kind: "prolong" };
    return { kind: "fall_short", reason: `${short}, and its time has expired.` };
  }
  return {
    kind: "fall_short",
    reason: `${short}: ${rejected + refused} were rejected, and the maximum is ${standing.maxPlaces} places.`,
  };
}
