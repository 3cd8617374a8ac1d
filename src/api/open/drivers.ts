import { startAlertLoop } from "../../alerts/alert-loop.ts";
import type { AlertSink } from "../../alerts/sink.ts";
import { type Duration, durationMs } from "../../base/duration.ts";
import { PawlError } from "../../base/errors.ts";
import { checkedOptions } from "../../base/options.ts";
import type { CrowdLifecycles } from "../../crowd/crowd-lifecycles.ts";
import { startDeadLetterLoops } from "../../dead-letters/loops.ts";
import type { LetterSettings } from "../../dead-letters/settings.ts";
import type { AnyQueue } from "../../definition/queue.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { settleWithin } from "../../kernel/time-limit.ts";
import type { Verbs } from "../../kernel/verbs.ts";
import { maintain } from "../../maintenance/round.ts";
import { driveMaintenance, drivePruning } from "../../maintenance/run-maintenance.ts";
import { startOperationLoop } from "../../operations/run-operations.ts";
import { Relay } from "../../outbox/relay.ts";
import type { RelayOptions } from "../../outbox/settings.ts";
import { logFailure } from "../../telemetry/log.ts";
import type { WorkOptions } from "../../worker/settings.ts";
import { Worker } from "../../worker/worker.ts";
import { markDraining } from "../draining.ts";
import { operationDeciders } from "./operation-deciders.ts";

/** The dependencies of a Pawl. */
export interface DriverOptions {
  readonly close: () => Promise<void>;
  readonly queues: readonly AnyQueue[];
  readonly families: readonly CrowdLifecycles[];
  readonly outbox: RelayOptions | undefined;
  readonly alerts: readonly AlertSink[];
  readonly letters: LetterSettings;
}

/** Time limit for closing a broker, a sink or a marketplace. */
const closeLimitMs = 30_000;

export interface MaintainOptions {
  /**
   * The pause between two rounds.
   * @default "1s"
   */
  readonly interval?: Duration | undefined;
  /** Called with each failure of a round; maintenance continues. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
}

/** The maintenance loop of this process. */
export interface Maintenance {
  stop(): Promise<void>;
}

/** Starts and stops the loops of a process, for the methods of `Pawl` of the same names. */
export class Drivers {
  readonly #kernel: Kernel;
  readonly #verbs: Verbs;
  readonly #surroundings: DriverOptions;
  readonly #running = new Set<{ stop(): Promise<void> }>();
  #closed = false;
  #drained: Promise<void> | undefined;
  #keepsHouse = false;
  #closing: Promise<void> | undefined;

  constructor(kernel: Kernel, verbs: Verbs, surroundings: DriverOptions) {
    this.#kernel = kernel;
    this.#verbs = verbs;
    this.#surroundings = surroundings;
  }

  /**
   * Runs maintenance in this process: fires due timers, runs schedules, readies delayed tasks, recovers expired leases,
   * and deletes ended instances after their `retention`. Any number of processes can run it at once. Continues until
   * `stop`, or until this Pawl is closed.
   */
  maintain(options: MaintainOptions = {}): Maintenance {
    this.#refuseClosed();
    const { interval = "1s", onFailure } = checkedOptions(options, ["interval", "onFailure"], "maintain");
    const everyMs = durationMs(interval, "interval");
    const driver = this.#drive((onStopped) => driveMaintenance(this.#kernel, { everyMs, onFailure, onStopped }));
    this.#startMaintenance();
    return driver;
  }

  /**
   * Runs a worker in this process: claims tasks, runs their steps and reports the results. Any number of processes can
   * run workers at once.
   *
   * ```ts
   * const worker = await pawl.work({ concurrency: 64 });
   * process.once("SIGTERM", () => worker.stop());
   * ```
   */
  work(options: WorkOptions = {}): Worker {
    this.#refuseClosed();
    const { outbox } = this.#surroundings;
    const startWith = () =>
      outbox === undefined ? [] : [this.relay({ onFailure: outbox.onFailure ?? options.onFailure })];
    const worker = this.#drive((onStopped) => new Worker(this.#kernel, maintain, options, { startWith, onStopped }));
    this.#startMaintenance();
    return worker;
  }

  /**
   * Runs only the outbox relay in this process; `work` runs it, too. Any number of processes can run it: the messages
   * of one aggregate are sent by one process at a time, in order.
   */
  relay(options: Partial<RelayOptions> = {}): Relay {
    this.#refuseClosed();
    const all = { ...this.#surroundings.outbox, ...options } as RelayOptions;
    return this.#drive((onStopped) => new Relay(this.#kernel, all, onStopped));
  }

  /**
   * The process that runs maintenance also prunes expired instances, delivers alerts, runs bulk operations
   * and handles dead letters; one loop
   * of each per process is enough.
   */
  #startMaintenance(): void {
    if (this.#keepsHouse) return;
    this.#keepsHouse = true;
    const { alerts, letters } = this.#surroundings;
    this.#running.add(drivePruning(this.#kernel, { keepsLetters: letters.archive !== undefined }));
    this.#running.add(startOperationLoop(this.#kernel, operationDeciders(this.#kernel, this.#verbs)));
    for (const driver of startDeadLetterLoops(this.#kernel, letters)) this.#running.add(driver);
    if (alerts.length > 0) this.#running.add(startAlertLoop(this.#kernel, alerts));
  }

  /** Stops all loops of this process; the Pawl stays open for calls. One that fails to stop is stopped again by `close`. */
  drain(): Promise<void> {
    this.#refuseClosed();
    markDraining(this.#kernel);
    this.#drained ??= Promise.allSettled([...this.#running].map((driver) => driver.stop())).then(() => {});
    return this.#drained;
  }

  /** Closes this Pawl and its connections; later calls throw `closed`. */
  async close(): Promise<void> {
    this.#closed = true;
    markDraining(this.#kernel);
    this.#closing ??= this.#close();
    await this.#closing;
  }

  /** Stops all drivers at once, then closes what they used, then the database, whatever fails on the way. */
  async #close(): Promise<void> {
    const { outbox, alerts, families, close } = this.#surroundings;
    const marketplaces = new Set(families.map((family) => family.marketplace));
    const inTime = (what: string, work: () => unknown) => settleWithin(closeLimitMs, what, work);
    const ended = [
      ...(await Promise.allSettled([...this.#running].map((driver) => driver.stop()))),
      ...(await Promise.allSettled([
        ...(outbox?.brokers ?? []).map((one) => inTime(`Closing the broker \`${one.name}\``, () => one.close())),
        ...alerts.map((one) => inTime(`Closing the alert sink \`${one.name}\``, () => one.close?.())),
        ...[...marketplaces].map((one) => inTime("Closing a marketplace", () => one.shutdown())),
      ])),
      ...(await Promise.allSettled([close()])),
    ];
    const failures = ended.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
    for (const failure of failures) logFailure(this.#kernel.telemetry.log, failure);
    if (failures.length > 0) throw failures[0];
  }

  /** Creates a driver that stops when this Pawl is closed, and is removed once it has stopped. */
  #drive<Driver extends { stop(): Promise<void> }>(begin: (onStopped: () => void) => Driver): Driver {
    if (this.#drained !== undefined) {
      throw new PawlError("closed", "This Pawl was drained, so it starts no more loops. Create a new one.");
    }
    const driver = begin(() => this.#running.delete(driver));
    this.#running.add(driver);
    return driver;
  }

  #refuseClosed(): void {
    if (this.#closed) throw new PawlError("closed", "This Pawl is closed. Create a new one.");
  }
}
