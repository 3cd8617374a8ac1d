import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { Kernel } from "../kernel/kernel.ts";
import { outboxTopic } from "../kernel/signals/signals.ts";
import { Delivery } from "./delivery.ts";
import { type Round, relayRound } from "./round.ts";
import { type RelayOptions, type RelaySettings, relaySettings } from "./settings.ts";
import { promoteMessages, pruneMessages } from "./store/outbox.ts";

const promoteAtOnce = 500;
const pruneAtOnce = 1_000;
const pruneEveryMs = 60_000;

/** The counts of a relay since its start. */
export interface RelayCounts {
  published: number;
  failed: number;
  /** Dead messages. */
  dead: number;
  /** Not tried, since their broker was away. */
  deferred: number;
  /** Rounds that lost their lease: their messages are sent again. */
  leasesLost: number;
}

/** Sends messages of the outbox until it is stopped. Any number of relays may run at the same time. */
export class Relay {
  /** New at each start, so that relays are never confused. */
  readonly id = `relay-${hostname()}-${process.pid}-${randomBytes(4).toString("hex")}`;
  readonly counts: Readonly<RelayCounts>;
  readonly #counts: RelayCounts = { published: 0, failed: 0, dead: 0, deferred: 0, leasesLost: 0 };
  readonly #kernel: Kernel;
  readonly #settings: RelaySettings;
  readonly #delivery: Delivery;
  readonly #hands = new Set<Promise<void>>();
  readonly #forget: () => void;
  readonly #poll: NodeJS.Timeout;
  readonly #onStopped: () => void;
  #stopping = false;
  /** A hint came while all slots were busy: there may be more messages than they have read. */
  #hinted = false;
  #promotedAt = Number.NEGATIVE_INFINITY;
  #prunedAt = Number.NEGATIVE_INFINITY;

  /** Calls `onStopped` when it has stopped. */
  constructor(kernel: Kernel, options: RelayOptions, onStopped: () => void = () => {}) {
    this.#kernel = kernel;
    this.#onStopped = onStopped;
    this.#settings = relaySettings(options, kernel.telemetry.log);
    this.#delivery = new Delivery(kernel, this.#settings);
    this.counts = this.#counts;
    this.#forget = kernel.signals.wait(outboxTopic, () => this.#look());
    this.#poll = setInterval(() => this.#look(), this.#settings.pollMs);
    this.#look();
  }

  /** Stops leasing, waits for messages in progress, and releases its shards. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#delivery.stop();
    clearInterval(this.#poll);
    this.#forget();
    while (this.#hands.size > 0) await Promise.all(this.#hands);
    this.#onStopped();
  }

  /** Puts one more hand to work, if one is free. */
  #look(): void {
    if (this.#stopping) return;
    if (this.#hands.size >= this.#settings.concurrency) {
      this.#hinted = true;
      return;
    }
    const hand = this.#work().finally(() => this.#hands.delete(hand));
    this.#hands.add(hand);
  }

  /**
   * Runs rounds until one finds nothing. Each round that finds messages starts one more slot, so concurrency grows with
   * the work.
   */
  async #work(): Promise<void> {
    try {
      while (!this.#stopping && !this.#delivery.isAway() && !this.#delivery.isUnsettled) {
        await this.#tend();
        this.#hinted = false;
        const round = await relayRound(this.#kernel, this.#settings, this.#delivery, this.id);
        if (round !== undefined) {
          this.#look();
          this.#note(round);
        } else if (!this.#hinted) return;
      }
    } catch (error) {
      // The next poll tries again; leases that are still held lapse.
      this.#settings.onFailure(error);
    }
  }

  #note({ outcomes, held }: Round): void {
    if (!held) this.#counts.leasesLost += 1;
    for (const { what } of held ? outcomes : []) {
      if (what === "behind" || what === "unrouted") continue;
      this.#counts[what] += 1;
      this.#kernel.telemetry.meters.relayed(what);
    }
    const failure = outcomes.find((one) => one.error !== null);
    if (failure !== undefined) this.#settings.onFailure(new Error(failure.error!));
  }

  /** Housekeeping between rounds: ends pauses, and prunes sent messages. */
  async #tend(): Promise<void> {
    const now = performance.now();
    if (now - this.#promotedAt >= this.#settings.pollMs) {
      this.#promotedAt = now;
      while ((await promoteMessages(this.#kernel.db, promoteAtOnce)) === promoteAtOnce);
    }
    const { retentionMs } = this.#settings;
    if (retentionMs === null || now - this.#prunedAt < pruneEveryMs) return;
    this.#prunedAt = now;
    while (!this.#stopping && (await pruneMessages(this.#kernel.db, retentionMs, pruneAtOnce)) === pruneAtOnce);
  }
}
