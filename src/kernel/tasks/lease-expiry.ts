import { isPawlError } from "../../base/errors.ts";

/** The database's time: by its own clock, and by Pawl's, which a test can move. */
export interface DatabaseTime {
  readonly nowMs: number;
  readonly clockMs: number;
  /** When the server was started, by its own clock; null if it runs in this process. */
  readonly startedMs: number | null;
}

/** A time in which no worker could renew its leases. */
interface Gap {
  readonly fromMs: number;
  /** One lease duration after the gap ended: by then every living worker has renewed. */
  readonly untilMs: number;
}

const defaultLeaseMs = 30_000;
/** Clocks differ a little, and so do the times that a statement takes. */
const toleranceMs = 2_000;

/**
 * Decides whether a lapsed lease means that its worker is dead. After the database was away, or its clock was set, it
 * does not: no worker could renew. Then no lease expires for one lease duration, and a lapse because of the gap spends
 * no attempt. The lapsed leases themselves are found by the statements of `store/tasks/tasks.ts`.
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

  /** The database has answered a query that was sent at `askedMs`. Returns whether leases may expire now. */
  observe(time: DatabaseTime, askedMs: number): boolean {
    const atMs = this.#monotonicMs();
    const tookMs = atMs - askedMs;
    const leaseMs = this.#leaseMs ?? defaultLeaseMs;
    const last = this.#last;
    if (last === undefined) {
      // This process has just begun: only its own waiting time, or the server's start, shows a gap.
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

  /**
   * A commit that was sent at `nowMs` took so long. While a synchronous standby hangs, leases can be read and not renewed.
   * Returns whether leases may be expired all the same.
   */
  committed(nowMs: number, tookMs: number): boolean {
    const leaseMs = this.#leaseMs ?? defaultLeaseMs;
    if (tookMs <= leaseMs / 3) return true;
    this.#gap = { fromMs: nowMs - leaseMs, untilMs: nowMs + tookMs + leaseMs };
    return false;
  }

  /** Whether a lease that ended at this time lapsed because no worker could renew it. */
  wasGap(leasedUntilMs: number): boolean {
    return this.#gap !== undefined && leasedUntilMs >= this.#gap.fromMs && leasedUntilMs <= this.#gap.untilMs;
  }
}

function jumped(ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 1_000);
  return `The database's clock was set ${ms > 0 ? "ahead" : "back"} by ${seconds} s. Leases are not expired for one lease duration; timers and schedules go by the new time. Check the time synchronization of the database server.`;
}
