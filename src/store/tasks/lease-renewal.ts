import type { Lease, Renewal } from "./tasks.ts";

export interface LeaseRenewalOptions {
  /** How often all leases are renewed. */
  readonly everyMs: number;
  /** The leases that are held now. */
  readonly read: () => readonly Lease[];
  readonly renew: (leases: readonly Lease[]) => Promise<Renewal>;
  readonly onLost: (leases: readonly Lease[]) => void;
  readonly onFailure: (error: unknown) => void;
}

/** A skipped or failed renewal is tried again this many times before the next round. */
const retriesEachRound = 20;

/**
 * Renews all leases in every round, and between rounds those whose rows were locked or whose renewal failed. A lease is
 * lost only when the database says so: a renewal that was skipped, timed out or could not be sent proves nothing.
 */
export class LeaseRenewal {
  readonly #options: LeaseRenewalOptions;
  readonly #ended: Promise<void>;
  #isStopping = false;
  #wake: () => void = () => {};

  constructor(options: LeaseRenewalOptions) {
    this.#options = options;
    this.#ended = this.#loop();
  }

  /** Starts nothing more, and waits for the statement under way. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#wake();
    await this.#ended;
  }

  async #loop(): Promise<void> {
    const { everyMs } = this.#options;
    let roundAt = performance.now() + everyMs;
    let again: readonly Lease[] = [];
    for (;;) {
      const leftMs = roundAt - performance.now();
      await this.#sleep(again.length > 0 ? Math.min(leftMs, everyMs / retriesEachRound) : leftMs);
      if (this.#isStopping) return;
      const isRound = performance.now() >= roundAt;
      if (isRound) roundAt = performance.now() + everyMs;
      const leases = isRound ? this.#options.read() : this.#stillHeld(again);
      // A listener that throws must not end the renewal of all leases.
      again = await this.#renew(leases, isRound).catch(() => leases);
    }
  }

  /** Returns the leases to try again soon. */
  async #renew(leases: readonly Lease[], isRound: boolean): Promise<readonly Lease[]> {
    if (leases.length === 0) return [];
    try {
      const { lost, skipped } = await this.#options.renew(leases);
      if (lost.length > 0) this.#options.onLost(lost);
      return skipped;
    } catch (error) {
      // Once per round, so that an outage shows in the log without filling it.
      if (isRound) this.#options.onFailure(error);
      return leases;
    }
  }

  #stillHeld(leases: readonly Lease[]): Lease[] {
    const tokens = new Map(this.#options.read().map(({ taskId, token }) => [taskId, token]));
    return leases.filter(({ taskId, token }) => tokens.get(taskId) === token);
  }

  async #sleep(ms: number): Promise<void> {
    if (ms <= 0 || this.#isStopping) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      timer.unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
