import { isPawlError } from "../../base/errors.ts";

/** What the database says of its time: by its own clock, and by the one that Pawl goes by, which a test can move. */
export interface DatabaseTime {
  readonly nowMs: number;
  readonly clockMs: number;
  /** When the server was started, by its own clock; null where it lives and dies with this process. */
  readonly startedMs: number | null;
}

/** A time in which no worker could renew its leases. */
interface Gap {
  readonly fromMs: number;
  /** One lease duration after it was over: by then every worker that is alive has renewed. */
  readonly untilMs: number;
}

const defaultLeaseMs = 30_000;
/** Clocks differ a little, and so do the times that a statement takes. */
const toleranceMs = 2_000;

/**
 * Whether a lease that has run out says that its worker is dead. After the database was away, or its clock was set, it says
 * nothing: no worker could renew. Then no lease is expired for one lease duration, and what lapses because of the gap
 * spends no attempt.
 */
export class LeaseExpiry {
  readonly #warn: (text: string) => void;
  readonly #monotonicMs: () => number;
  #leaseMs: number | undefined;
  #hasFailed = false;
  #last: (DatabaseTime & { readonly atMs: number; readonly tookMs: number }) | undefined;
  #gap: Gap | undefined;

  constructor(warn: (text: string) => void, monotonicMs: () => number = () => performance.now()) {
    this.#warn = warn;
    this.#monotonicMs = monotonicMs;
  }

  /** Workers of this process lease for so long. */
  cover(leaseMs: number): void {
    this.#leaseMs = Math.max(this.#leaseMs ?? 0, leaseMs);
  }

  /** A statement of this process has failed. */
  failed(error: unknown): void {
    const isAway = ["database_unreachable", "database_refused", "outcome_unknown"] as const;
    this.#hasFailed ||= isAway.some((code) => isPawlError(error, code));
  }

  /** The database has answered, to a question that was asked at `askedMs`. Tells whether leases may be expired now. */
  observe(time: DatabaseTime, askedMs: number): boolean {
    const atMs = this.#monotonicMs();
    const tookMs = atMs - askedMs;
    const leaseMs = this.#leaseMs ?? defaultLeaseMs;
    const last = this.#last;
    if (last === undefined) {
      // This process has just begun: that it had to wait, or the server itself, says that there was a gap.
      const upMs = time.startedMs === null ? leaseMs : time.clockMs - time.startedMs;
      const isNew = upMs >= 0 && upMs < leaseMs;
      if (isNew || this.#hasFailed)
        this.#gap = { fromMs: Number.NEGATIVE_INFINITY, untilMs: time.nowMs + leaseMs - (this.#hasFailed ? 0 : upMs) };
    } else {
      const jumpMs = time.clockMs - last.clockMs - (atMs - last.atMs);
      const isJump = Math.abs(jumpMs) > toleranceMs + tookMs + last.tookMs;
      if (isJump) this.#warn(jumped(jumpMs));
      const wasAway = this.#hasFailed && atMs - last.atMs > leaseMs / 3;
      if (isJump || wasAway || time.startedMs !== last.startedMs) {
        // Two gaps with too little time between them to renew are one.
        const isLonger = this.#gap !== undefined && this.#gap.untilMs > last.nowMs;
        const fromMs = isLonger ? Math.min(this.#gap!.fromMs, last.nowMs) : last.nowMs;
        this.#gap = { fromMs, untilMs: time.nowMs + leaseMs };
      }
    }
    this.#hasFailed = false;
    this.#last = { ...time, atMs, tookMs };
    return this.#gap === undefined || time.nowMs >= this.#gap.untilMs;
  }

  /** Whether a lease that ended at this time did so because nobody could renew it. */
  wasGap(leasedUntilMs: number): boolean {
    return this.#gap !== undefined && leasedUntilMs >= this.#gap.fromMs && leasedUntilMs <= this.#gap.untilMs;
  }
}

function jumped(ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 1_000);
  return `The database's clock was set ${ms > 0 ? "ahead" : "back"} by ${seconds} s. Leases are not expired for one lease duration; timers and schedules go by the new time. Check the time synchronization of the database server.`;
}
