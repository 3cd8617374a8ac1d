import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { timerMs } from "../base/duration.ts";
import { PawlError } from "../base/errors.ts";
import type { Granting } from "../kernel/course.ts";
import type { Outcome, Report, Reported } from "../kernel/filing.ts";
import { Gatherer } from "../kernel/gather.ts";
import { lookAtParents } from "../kernel/join.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { report } from "../kernel/report.ts";
import { checksTopic } from "../kernel/signals.ts";
import type { Taken } from "../kernel/take.ts";
import type { LeaseKeeper } from "../store/db.ts";
import { Abort } from "./abort.ts";
import { Backoff } from "./backoff.ts";
import { Claims } from "./claims.ts";
import { keepLeases } from "./keep-leases.ts";
import { freshMs, Lanes } from "./lanes.ts";
import { reportObserved, runObserved, takeObserved } from "./observed.ts";
import { Pace } from "./pace.ts";
import { Rest } from "./rest.ts";
import type { Handler } from "./run.ts";
import { type Settings, settingsOf, type WorkOptions } from "./settings.ts";
import { type LoopState, type SlotState, WorkerStates } from "./states.ts";

/** One round of what is looked after beside the steps: lapsed leases, scheduled tasks, due timers. */
export type Maintain = (
  kernel: Kernel,
  lanes: readonly string[],
) => Promise<{ failures: readonly { error: unknown }[] }>;

/** What comes with a worker from inside Pawl. */
export interface Company {
  /** Handlers that stand in for the real ones, by `lifecycle/state`. */
  readonly fakes?: ReadonlyMap<string, Handler>;
  /** What runs beside it and is stopped with it: a relay. */
  readonly beside?: readonly { stop(): Promise<void> }[];
}

const errorWaitMs = 5_000;
const looksAtOnce = 500;

/** A task in hand: waiting here, running, or being reported. */
interface Held {
  readonly taken: Taken;
  readonly abort: Abort;
}

/**
 * Takes tasks from the lanes, runs their steps and reports what became of them. Its loop and each of its slots are small
 * state machines that one can watch.
 */
export class Worker {
  /** New at each start, so that no other worker is ever taken for this one. */
  readonly id = `${hostname()}-${process.pid}-${randomBytes(4).toString("hex")}`;
  readonly #kernel: Kernel;
  readonly #maintainOnce: Maintain;
  readonly #settings: Settings;
  readonly #states: WorkerStates;
  readonly #lanes: Lanes;
  readonly #claims: Claims;
  readonly #rest = new Rest();
  readonly #pace = new Pace();
  readonly #reports: Gatherer<Report, Reported>;
  readonly #keeper: LeaseKeeper;
  readonly #held = new Map<string, Held>();
  readonly #waiting: Held[] = [];
  readonly #fakes: ReadonlyMap<string, Handler> | undefined;
  readonly #beside: readonly { stop(): Promise<void> }[];
  readonly #ended: Promise<void>;
  #running = 0;
  #stopping = false;
  #maintainedAt = Number.NEGATIVE_INFINITY;
  /** A parent is to be looked at. */
  #toLook = false;

  constructor(kernel: Kernel, maintain: Maintain, options: WorkOptions = {}, company: Company = {}) {
    this.#kernel = kernel;
    this.#maintainOnce = maintain;
    this.#settings = settingsOf(options, kernel.telemetry.log);
    this.#lanes = new Lanes(kernel, options.only);
    this.#claims = new Claims(kernel, this.#lanes, { worker: this.id, leaseMs: this.#settings.leaseMs });
    this.#states = new WorkerStates(options.onMove ?? (() => {}));
    this.#fakes = company.fakes;
    this.#beside = company.beside ?? [];
    // Two at once keep database and process busy at the same time.
    this.#reports = new Gatherer((batch) => this.#report(batch), { most: 500, atOnce: 2 });
    this.#keeper = keepLeases(kernel, {
      leaseMs: this.#settings.leaseMs,
      everyMs: timerMs(this.#settings.leaseMs / 3),
      onLost: (taskIds) => this.#lose(taskIds),
      onFailure: this.#settings.onFailure,
    });
    kernel.telemetry.meters.workers.add(this);
    kernel.telemetry.log.info({ worker: this.id, concurrency: this.#settings.concurrency }, "A worker begins.");
    this.#ended = this.#loop().finally(() => this.#tellEnd());
  }

  get state(): LoopState {
    return this.#states.loop;
  }

  get slots(): Readonly<Record<SlotState, number>> {
    return this.#states.slots;
  }

  /** Claims nothing more, lets running steps finish within the grace time, gives the rest back, and ends. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#rest.end();
    await Promise.all([this.#ended, ...this.#beside.map((one) => one.stop())]);
  }

  #tellEnd(): void {
    this.#kernel.telemetry.meters.workers.delete(this);
    this.#kernel.telemetry.log.info({ worker: this.id }, "A worker has ended.");
  }

  async #loop(): Promise<void> {
    let forget = () => {};
    const backoff = new Backoff(this.#settings.pollMs);
    while (!this.#stopping) {
      try {
        const isNew = this.state === "Startup" || this.state === "ErrorWait";
        this.#states.enter("Connecting");
        if (isNew) {
          await this.#lanes.read();
          forget();
          const forgetLanes = this.#lanes.watch(() => this.#rest.end());
          const forgetChecks = this.#kernel.signals.wait(checksTopic, () => this.#lookSoon());
          forget = () => {
            forgetLanes();
            forgetChecks();
          };
        }
        this.#states.enter("Recovery");
        await this.#maintain();
        this.#states.enter("Polling");
        if (await this.#pollUntilEmpty()) backoff.reset();
        if (this.#stopping) break;
        this.#states.enter("Backoff");
        const restMs = Math.min(backoff.next(), this.#claims.restMs);
        this.#states.enter("Idle", restMs);
        await this.#rest.take(restMs);
      } catch (error) {
        this.#settings.onFailure(error);
        this.#states.enter("ErrorWait");
        if (!this.#stopping) await this.#rest.take(errorWaitMs);
      }
    }
    forget();
    await this.#drain();
  }

  /** Claims and runs until a claim brings nothing; tells whether there was anything. */
  async #pollUntilEmpty(): Promise<boolean> {
    let worked = false;
    while (!this.#stopping) {
      await this.#lanes.look();
      await this.#giveBack(this.#takeBack(({ taken }) => this.#lanes.closed.has(taken.lane)));
      const room = this.#settings.concurrency + (this.#settings.prefetch ?? this.#pace.prefetch) - this.#held.size;
      if (room <= 0 || this.#waiting.length > this.#settings.concurrency) {
        await this.#rest.take(Math.min(this.#settings.pollMs, freshMs)); // A slot that gets free ends this rest.
      } else {
        const found = await this.#claim(room);
        if (found === 0) return worked;
        worked = true;
      }
      await this.#maintain();
    }
    return worked;
  }

  async #claim(room: number): Promise<number> {
    // A task that waits here counts against its gate as if it ran, so no more of these than can begin soon.
    const gated = this.#waiting.filter(({ taken }) => this.#lanes.isGated(taken.lane)).length;
    const take = () => this.#claims.take(room, this.#settings.concurrency - gated);
    const taken = await takeObserved(this.#kernel, take);
    this.#hold(taken);
    return taken.length;
  }

  /**
   * The next step of an instance comes with the report that leads to it, leased to this worker: a chain of steps costs one
   * claim. Not while it stops, not for lanes of others, closed or behind a gate, and not past something more urgent.
   */
  readonly #grant: Granting = ({ lane, priority }) => {
    if (this.#stopping || !this.#lanes.mayGrant(lane) || priority > this.#claims.urgency) return null;
    return { worker: this.id, leaseMs: this.#settings.leaseMs };
  };

  #hold(taken: readonly Taken[]): void {
    this.#keeper.keep(taken.map((one) => one.lease));
    // What stands behind a gate counts there from now on: it begins before what only waits here.
    const first: Held[] = [];
    const { meters } = this.#kernel.telemetry;
    for (const one of taken) {
      meters.lane(one.lane).claimed += 1;
      const held: Held = { taken: one, abort: new Abort() };
      this.#held.set(one.lease.taskId, held);
      this.#states.slot("Polling", "Claiming");
      if (this.#lanes.isGated(one.lane)) first.push(held);
      else this.#waiting.push(held);
    }
    if (first.length > 0) this.#waiting.unshift(...first);
    this.#fill();
  }

  #fill(): void {
    while (this.#running < this.#settings.concurrency && this.#waiting.length > 0) {
      this.#running += 1;
      void this.#process(this.#waiting.shift()!);
    }
  }

  async #process(held: Held): Promise<void> {
    const { taken, abort } = held;
    if (abort.aborted) {
      this.#running -= 1;
      this.#states.slot("Claiming", "Polling");
      this.#release(held);
      return;
    }
    this.#states.slot("Claiming", "Processing");
    if (this.#kernel.faults !== undefined) await this.#kernel.faults.at("run.before");
    const outcome = await runObserved(this.#kernel, taken, {
      abort,
      log: this.#settings.log,
      fakes: this.#fakes,
    });
    if (this.#kernel.faults !== undefined) await this.#kernel.faults.at("run.after");
    this.#running -= 1;
    const to = succeeded(outcome) ? "ReportingSuccess" : "ReportingFailure";
    this.#states.slot("Processing", to);
    this.#fill();
    await this.#tell(held, outcome);
    if (this.#lanes.isGated(taken.lane)) this.#kernel.signals.hint(taken.lane); // There is room again, for whoever waits.
    this.#states.slot(to, "Polling");
    this.#release(held);
  }

  /** One batch of reports. The steps that come with it are taken in hand together. */
  async #report(batch: readonly Report[]): Promise<Reported[]> {
    const granted: Taken[] = [];
    const stay = { grant: this.#grant, take: (next: Taken) => granted.push(next) };
    const reported = await reportObserved(
      this.#kernel,
      batch.map(({ taken, outcome }) => ({ taken, outcome, stay })),
    );
    this.#hold(granted);
    return reported;
  }

  /** Reports an outcome, together with those that end at the same time; again when the database is away for a while. */
  async #tell(held: Held, outcome: Outcome): Promise<void> {
    try {
      const reported = await this.#reports.ask({ taken: held.taken, outcome });
      this.#pace.finished(1);
      if (reported === "lease_lost") this.#settings.onFailure(lost(held.taken));
    } catch (error) {
      // Nobody knows of this outcome: the lease will lapse, and the attempt counts as one whose worker was lost.
      this.#settings.onFailure(error);
    }
  }

  #release(held: Held): void {
    this.#forget(held);
    this.#fill();
    this.#rest.end();
  }

  /** Unless the next step of the same instance, whose task has the same id, is in hand already. */
  #forget(held: Held): void {
    const { taskId } = held.taken.lease;
    if (this.#held.get(taskId) !== held) return;
    this.#held.delete(taskId);
    this.#keeper.drop([taskId]);
  }

  #lose(taskIds: readonly string[]): void {
    for (const taskId of taskIds) {
      const held = this.#held.get(taskId);
      held?.abort.abort(lost(held.taken));
    }
  }

  #lookSoon(): void {
    this.#toLook = true;
    this.#rest.end();
  }

  async #maintain(): Promise<void> {
    if (this.#toLook) {
      this.#toLook = false;
      const { failures } = await lookAtParents(this.#kernel, looksAtOnce);
      for (const failure of failures) this.#settings.onFailure(failure.error);
    }
    const now = performance.now();
    if (now - this.#maintainedAt < this.#settings.maintainEveryMs) return;
    this.#maintainedAt = now;
    const { failures } = await this.#maintainOnce(this.#kernel, this.#lanes.all);
    for (const failure of failures) this.#settings.onFailure(failure.error);
  }

  async #drain(): Promise<void> {
    await this.#giveBack(this.#takeBack(() => true));
    const endAt = performance.now() + this.#settings.graceMs;
    while (this.#held.size > 0 && performance.now() < endAt) await this.#rest.take(endAt - performance.now());
    const late = [...this.#held.values()];
    for (const held of late) held.abort.abort(new PawlError("closed", "The worker stops, and its grace time is over."));
    await this.#giveBack(late);
    await this.#keeper.stop();
  }

  /** Tasks that wait here and have not begun. */
  #takeBack(which: (held: Held) => boolean): Held[] {
    const unused = this.#waiting.filter(which);
    if (unused.length === 0) return [];
    this.#waiting.splice(0, Number.POSITIVE_INFINITY, ...this.#waiting.filter((held) => !which(held)));
    for (let left = unused.length; left > 0; left--) this.#states.slot("Claiming", "Polling");
    return unused;
  }

  async #giveBack(list: readonly Held[]): Promise<void> {
    if (list.length === 0) return;
    try {
      await report(
        this.#kernel,
        list.map(({ taken }) => ({ taken, outcome: { kind: "released" as const } })),
      );
    } catch (error) {
      this.#settings.onFailure(error); // Their leases will lapse.
    }
    for (const held of list) this.#forget(held);
  }
}

function succeeded(outcome: Outcome): boolean {
  return outcome.kind === "event" || outcome.kind === "done";
}

function lost(taken: Taken): PawlError {
  const { taskId } = taken.lease;
  return new PawlError(
    "lease_lost",
    `The lease of task ${taskId} (${taken.lane}) was lost; its result does not count.`,
    { taskId },
  );
}
