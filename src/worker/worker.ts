import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { timerMs } from "../base/duration.ts";
import { checkParents } from "../kernel/family/check-parents.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { checksTopic } from "../kernel/signals/signals.ts";
import type { LocalWorker } from "../kernel/tasks/local-workers.ts";
import { returnLostClaims } from "../kernel/tasks/lost-claims.ts";
import type { ClaimedTask } from "../kernel/types/claimed-task.ts";
import type { GrantDecider } from "../kernel/types/move-origin.ts";
import { Backoff } from "./backoff.ts";
import { BreakerReporter } from "./breaker-reporter.ts";
import { Claimer } from "./claimer.ts";
import { Heartbeat } from "./heartbeat.ts";
import { freshMs, Lanes } from "./lanes.ts";
import { type Settings, settingsOf, type WorkOptions } from "./settings.ts";
import { type LoopState, type SlotState, WorkerStates } from "./states.ts";
import { claimInstrumented } from "./steps/instrumented.ts";
import type { Handler } from "./steps/run.ts";
import { TaskPool } from "./task-pool.ts";
import { pawlVersion } from "./version.ts";
import { WakeableSleep } from "./wakeable-sleep.ts";

/** One round of maintenance: lapsed leases, scheduled tasks, due timers. */
export type Maintain = (
  kernel: Kernel,
  lanes: readonly string[],
) => Promise<{ failures: readonly { error: unknown }[] }>;

/** The parts that Pawl itself passes to a worker. */
export interface WorkerHooks {
  /** Fakes for handlers, by `lifecycle/state`. */
  readonly fakes?: ReadonlyMap<string, Handler>;
  /** Starts what is stopped together with it: a relay. Called once the options are known to be valid. */
  readonly startWith?: () => readonly { stop(): Promise<void> }[];
  /** Called when it has stopped. */
  readonly onStopped?: () => void;
}

/** How long a worker leaves the database alone that did not answer. */
export const errorWaitMs = 5_000;
const looksAtOnce = 500;
/** How long a worker that stops waits until tasks of a claim without a reply are returned. */
const returnWaitMs = 1_000;

/**
 * Claims tasks from the lanes, runs their steps and reports the outcomes. Its loop and each of its slots are small
 * state machines that can be observed.
 */
export class Worker {
  /** New at each start, so that workers are never confused. */
  readonly id = `${hostname()}-${process.pid}-${randomBytes(4).toString("hex")}`;
  readonly #kernel: Kernel;
  readonly #maintainOnce: Maintain;
  readonly #settings: Settings;
  readonly #states: WorkerStates;
  readonly #lanes: Lanes;
  readonly #claimer: Claimer;
  readonly #pool: TaskPool;
  readonly #heartbeat: Heartbeat;
  readonly #breakerReporter: BreakerReporter;
  readonly #idleSleep = new WakeableSleep();
  /** Hints of work do not end this pause: an unreachable database is not polled more often because there is work. */
  readonly #errorSleep = new WakeableSleep();
  readonly #companions: readonly { stop(): Promise<void> }[];
  readonly #onStopped: () => void;
  readonly #ended: Promise<void>;
  #stopping = false;
  /** The last claim was not answered, or failed: it may have leased tasks. */
  #isClaimUnknown = false;
  /** The same of a start that was to lease its first step to this worker. */
  #isStartUnknown = false;
  /** An error outside of steps causes a pause. */
  #slotFailed = false;
  /** Something may wait in a lane: a hint came, the last claim left something, or it is time to poll. */
  #mayWait = true;
  #maintainedAt = Number.NEGATIVE_INFINITY;
  /** A parent has an open check. */
  #hasChecks = false;
  /** The round of maintenance under way. */
  #round: Promise<void> | undefined;

  constructor(kernel: Kernel, maintain: Maintain, options: WorkOptions = {}, hooks: WorkerHooks = {}) {
    this.#kernel = kernel;
    this.#maintainOnce = maintain;
    this.#settings = settingsOf(options, kernel.telemetry.log);
    kernel.expiry.cover(this.#settings.leaseMs);
    this.#states = new WorkerStates(this.#settings.onMove);
    this.#lanes = new Lanes(kernel, options.lanes);
    this.#claimer = new Claimer(kernel, this.#lanes, {
      worker: this.id,
      leaseMs: this.#settings.leaseMs,
    });
    this.#pool = new TaskPool(kernel, {
      settings: this.#settings,
      states: this.#states,
      grant: this.#grant,
      isGated: (lane) => this.#lanes.isGated(lane),
      mustWait: (task) => this.#lanes.mustWait(task),
      onFree: () => {
        if (this.#mayWait || this.#stopping) this.#idleSleep.wake();
      },
      onStuck: () => this.#heartbeat.now(),
      onSlotError: (error) => {
        this.#slotFailed = true;
        this.#settings.onFailure(error);
        this.#idleSleep.wake();
      },
      fakes: hooks.fakes,
    });
    this.#heartbeat = new Heartbeat(kernel, () => ({
      id: this.id,
      host: hostname(),
      pid: process.pid,
      pawl: pawlVersion,
      loop: this.state,
      stopping: this.#stopping,
      concurrency: this.#settings.concurrency,
      slots: this.slots,
      stuck: this.stuck,
      tasks: this.#pool.lanes,
      lanes: this.#lanes.ours,
    }));
    this.#breakerReporter = new BreakerReporter(kernel, this.#settings.onFailure);
    kernel.telemetry.meters.workers.add(this);
    kernel.telemetry.log.info({ worker: this.id, concurrency: this.#settings.concurrency }, "Worker started.");
    kernel.localWorkers.add(this.#starts);
    this.#companions = hooks.startWith?.() ?? [];
    this.#onStopped = hooks.onStopped ?? (() => {});
    this.#ended = this.#loop().finally(() => this.#logStopped());
  }

  get state(): LoopState {
    return this.#states.loop;
  }

  get slots(): Readonly<Record<SlotState, number>> {
    return this.#states.slots;
  }

  /** How many of its steps continue though their signal was aborted a while ago. */
  get stuck(): number {
    return this.#pool.stuck;
  }

  /** Stops claiming, waits for running steps within the grace time, returns the other tasks, and ends. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#idleSleep.wake();
    this.#errorSleep.wake();
    this.#heartbeat.now();
    await Promise.all([this.#ended, ...this.#companions.map((one) => one.stop())]);
    this.#onStopped();
  }

  #logStopped(): void {
    this.#kernel.telemetry.meters.workers.delete(this);
    this.#kernel.telemetry.log.info({ worker: this.id }, "Worker stopped.");
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
          this.#kernel.notifier?.listen();
          forget();
          forget = this.#watch();
          this.#heartbeat.now();
        }
        this.#states.enter("Recovery");
        void this.#maintain(); // Steps do not wait for it.
        this.#states.enter("Polling");
        if (await this.#pollUntilEmpty()) backoff.reset();
        if (this.#stopping) break;
        if (this.#slotFailed) {
          this.#slotFailed = false;
          await this.#waitAfterError();
          continue;
        }
        this.#states.enter("Backoff");
        const restMs = Math.min(backoff.next(), this.#claimer.restMs);
        this.#states.enter("Idle", restMs);
        if (!(await this.#idleSleep.sleep(restMs))) this.#mayWait = true;
      } catch (error) {
        this.#kernel.expiry.failed(error);
        this.#settings.onFailure(error);
        await this.#waitAfterError();
      }
    }
    forget();
    this.#kernel.localWorkers.remove(this.#starts);
    const endAt = performance.now() + returnWaitMs;
    while (this.#pool.hasReservations && performance.now() < endAt)
      await this.#idleSleep.sleep(endAt - performance.now());
    // A database that is away is not waited for: their leases will lapse.
    await waitAtMost(returnWaitMs, this.#returnLostClaims().catch(this.#settings.onFailure));
    await this.#pool.drain((ms) => this.#idleSleep.sleep(ms));
    await waitAtMost(this.#settings.graceMs, this.#round);
    await this.#breakerReporter.stop();
    await this.#heartbeat.stop();
  }

  async #waitAfterError(): Promise<void> {
    this.#mayWait = true;
    this.#states.enter("ErrorWait", errorWaitMs);
    if (!this.#stopping) await this.#errorSleep.sleep(errorWaitMs);
  }

  /** Claims and runs while something may wait; returns whether there was anything. */
  async #pollUntilEmpty(): Promise<boolean> {
    let worked = false;
    while (!(this.#stopping || this.#slotFailed)) {
      const willClaim = this.#mayWait && this.#pool.room > 0;
      if (this.#lanes.isUnknown || !(willClaim || this.#pool.isEmpty)) await this.#refreshLanes();
      await this.#pool.returnWaiting((task) => this.#lanes.mustWait(task));
      if (!this.#mayWait) return worked;
      const { room } = this.#pool;
      if (room <= 0) {
        await this.#idleSleep.sleep(Math.min(this.#settings.pollMs, freshMs)); // A slot that gets free ends this rest.
      } else {
        const tasks = await this.#claim(room);
        if (tasks.length === 0) return worked;
        this.#pool.add(tasks);
        worked = true;
      }
      void this.#maintain();
    }
    return worked;
  }

  /**
   * Claims, and reads which lanes are closed meanwhile, where that was not read lately: a claimed task of a lane that
   * turns out to be closed does not begin. An idle worker reads it only if it has found something.
   */
  async #claim(room: number): Promise<ClaimedTask[]> {
    await this.#returnLostClaims();
    const { gatedRoom, idle, isEmpty } = this.#pool;
    this.#isClaimUnknown = true;
    this.#mayWait = false; // A hint from now on may be about something that this claim does not see.
    const isQuiet = isEmpty && this.#lanes.areSteady;
    const [tasks] = await allSettled([
      claimInstrumented(this.#kernel, () => this.#claimer.claimFrom(room, gatedRoom, idle)),
      isQuiet ? Promise.resolve() : this.#refreshLanes(),
    ]);
    if (tasks.length > 0) await this.#refreshLanes();
    this.#isClaimUnknown = false;
    if (!this.#claimer.isEmptied) this.#mayWait = true;
    return tasks;
  }

  /** Lanes that were opened may hold work. */
  async #refreshLanes(): Promise<void> {
    if (await this.#lanes.refresh()) this.#mayWait = true;
  }

  async #returnLostClaims(): Promise<void> {
    if (!this.#isClaimUnknown && !this.#isStartUnknown) return;
    this.#isStartUnknown = false;
    this.#isClaimUnknown = true;
    await returnLostClaims(this.#kernel, { worker: this.id, known: this.#pool.known });
    this.#isClaimUnknown = false;
  }

  /**
   * The next step of an instance is granted with the report that leads to it, leased to this worker: a chain of steps
   * costs one claim. Not while it stops, not for lanes of others, closed or behind a gate, and not before more urgent
   * tasks.
   */
  readonly #grant: GrantDecider = ({ lane, priority }) => {
    if (this.#stopping || !this.#lanes.mayGrant(lane) || priority > this.#claimer.urgency) return null;
    return { worker: this.id, leaseMs: this.#settings.leaseMs };
  };

  /**
   * The first step of an instance that this process starts is leased to this worker with the start, if it rests with a
   * free slot and knows of nothing that waits. The step begins after the caller of the start has continued.
   */
  readonly #starts: LocalWorker = {
    reserve: (taskId, { lane }) => {
      const isAtRest = this.state === "Idle" && !this.#mayWait && !this.#idleSleep.isWoken;
      if (!isAtRest || this.#stopping || !this.#lanes.mayGrantAtStart(lane) || !this.#pool.reserve(taskId)) return null;
      return { worker: this.id, leaseMs: this.#settings.leaseMs };
    },
    settle: (taskId, result) => {
      setImmediate(() => {
        if (result === "unknown") this.#isStartUnknown = true;
        else if (result !== "unwritten" && this.#stopping) this.#pool.refuse(result);
        else if (result !== "unwritten") this.#pool.add([result]);
        this.#pool.endReservation(taskId);
        if (result === "unknown") this.#hasWork();
      });
    },
  };

  #hasWork(): void {
    this.#mayWait = true;
    this.#idleSleep.wake();
  }

  /** Wakes when there may be work; returns a function that ends that. */
  #watch(): () => void {
    const forgetLanes = this.#lanes.watch(() => this.#hasWork());
    const forgetChecks = this.#kernel.signals.wait(checksTopic, () => {
      this.#hasChecks = true;
      this.#idleSleep.wake();
    });
    return () => {
      forgetLanes();
      forgetChecks();
    };
  }

  /**
   * Starts a round of maintenance if one is due and none is running, and returns it. It never rejects, and claims do
   * not wait for it: steps run whatever fails or takes long there.
   */
  #maintain(): Promise<void> | undefined {
    const isDue = performance.now() - this.#maintainedAt >= this.#settings.maintainEveryMs;
    if (this.#round !== undefined || !(isDue || this.#hasChecks)) return undefined;
    const round = this.#maintainNow(isDue).finally(() => {
      this.#round = undefined;
      if (this.#hasChecks) this.#idleSleep.wake();
    });
    this.#round = round;
    return round;
  }

  async #maintainNow(isDue: boolean): Promise<void> {
    const { onFailure } = this.#settings;
    try {
      if (this.#hasChecks) {
        this.#hasChecks = false;
        const { failures } = await checkParents(this.#kernel, looksAtOnce);
        for (const failure of failures) onFailure(failure.error);
      }
    } catch (error) {
      onFailure(error);
    }
    if (!isDue) return;
    this.#maintainedAt = performance.now();
    try {
      const { failures } = await this.#maintainOnce(this.#kernel, this.#lanes.all);
      for (const failure of failures) onFailure(failure.error);
    } catch (error) {
      onFailure(error);
    }
  }
}

/** Waits for both, also when one of them fails. */
async function allSettled<One, Other>(both: [Promise<One>, Promise<Other>]): Promise<[One, Other]> {
  await Promise.allSettled(both);
  return Promise.all(both);
}

/** Waits for a promise that never rejects, with a limit. */
async function waitAtMost(ms: number, work: Promise<void> | undefined): Promise<void> {
  if (work === undefined) return;
  let timer: NodeJS.Timeout | undefined;
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timerMs(ms));
  });
  await Promise.race([work, enough]);
  clearTimeout(timer);
}
