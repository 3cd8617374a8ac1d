/** How a crowd job stands: what came in, what was decided about it, and what may still come. */
export interface Standing {
  /** Approved submissions that are wanted. */
  readonly wanted: number;
  readonly approved: number;
  /** Rejected, or discarded here. */
  readonly rejected: number;
  /** Approved by the marketplace although they were to be rejected: they are paid, and do not count. */
  readonly refused: number;
  /** Came in, and not decided. */
  readonly undecided: number;
  /** How many may submit in all, by the marketplace. */
  readonly places: number;
  /** How many have. */
  readonly submitted: number;
  /** Nobody can begin any more, and nobody is at it. */
  readonly settled: boolean;
  /** A posting was deleted at the marketplace: somebody there wants no more. */
  readonly gone: boolean;
  readonly rejectionReopens: boolean;
  readonly maxPlaces: number;
  /** Its time can be prolonged once more. */
  readonly mayProlong: boolean;
  /** Nobody waits for the answer. */
  readonly closing: boolean;
}

/** What is to be done about it. */
export type Progress =
  | { readonly kind: "wait" }
  | { readonly kind: "widen"; readonly places: number }
  | { readonly kind: "prolong" }
  | { readonly kind: "finish" }
  | { readonly kind: "fall_short"; readonly reason: string }
  | { readonly kind: "close" };

/**
 * What becomes of a crowd job: too many rejections want more places, time that is up with places left wants more time, and
 * when all is there and decided it is finished. The same standing has the same progress, for ever.
 */
export function progressOf(standing: Standing): Progress {
  const { wanted, approved, rejected, refused, undecided, places, submitted, settled } = standing;
  const atRest = settled && undecided === 0;
  if (standing.closing) return atRest ? { kind: "close" } : { kind: "wait" };
  // A rejected place may open again by itself; that of a submission that was paid does not.
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
