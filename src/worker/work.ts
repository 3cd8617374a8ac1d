import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { type Duration, durationMs, timerMs } from "../base/duration.ts";
import { messageOf, PawlError } from "../base/errors.ts";
import type { Granting } from "../kernel/course.ts";
import type { Outcome, Report, Reported } from "../kernel/filing.ts";
import { Gatherer } from "../kernel/gather.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { lanesOf } from "../kernel/lanes.ts";
import { report } from "../kernel/report.ts";
import { type Taken, take } from "../kernel/take.ts";
import type { LeaseKeeper } from "../store/db.ts";
import { Abort } from "./abort.ts";
import { keepLeases } from "./keep-leases.ts";
import { Pace } from "./pace.ts";
import { Rest } from "./rest.ts";
import { type Handler, run } from "./run.ts";
import { type LoopState, type SlotState, type WorkerMove, WorkerStates } from "./states.ts";
import type { Log } from "./step.ts";

export interface WorkOptions {
  /** How many steps run at once in this process; 16 unless given. */
  readonly concurrency?: number;
  /** How many tasks to hold beyond those that run; as many as are finished in a tenth of a second unless given. */
  readonly prefetch?: number;
  /** How long a task is ours without a sign of life; `"30s"` unless given. */
  readonly lease?: Duration;
  /** How long `stop` lets running steps finish before their tasks are given back; `"25s"` unless given. */
  readonly grace?: Duration;
  /** The longest pause between two looks for work; `"1s"` unless given. */
  readonly poll?: Duration;
  /** How often silent workers' tasks, scheduled tasks and timers are looked after; `"1s"` unless given. */
  readonly maintainEvery?: Duration;
  /** Hears every move of the worker's loop and slots. */
  readonly onMove?: (move: WorkerMove) => void;
  /** Hears of what went wrong around the steps: a lost connection, a lost lease. */
  readonly onFailure?: (error: unknown) => void;
  readonly log?: Log;
}

/** One round of what is looked after beside the steps: lapsed leases, scheduled tasks, due timers. */
export type Maintain = (
  kernel: Kernel,
  lanes: readonly string[],
) => Promise<{ failures: readonly { error: unknown }[] }>;

const firstIdleMs = 10;
const errorWaitMs = 5_000;

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
  readonly #rest = new Rest();
  readonly #pace = new Pace();
  readonly #reports: Gatherer<Report, Reported>;
  readonly #keeper: LeaseKeeper;
  readonly #held = new Map<string, Held>();
  readonly #waiting: Held[] = [];
  readonly #fakes: ReadonlyMap<string, Handler> | undefined;
  readonly #ended: Promise<void>;
  #running = 0;
  #lanes: readonly string[] = [];
  #laneSet: ReadonlySet<string> = new Set();
  /** The priority up to which nothing is known to wait. */
  #urgency = Number.POSITIVE_INFINITY;
  #turn = 0;
  #stopping = false;
  #maintainedAt = Number.NEGATIVE_INFINITY;

  constructor(kernel: Kernel, maintain: Maintain, options: WorkOptions = {}, fakes?: ReadonlyMap<string, Handler>) {
    this.#kernel = kernel;
    this.#maintainOnce = maintain;
    this.#settings = settingsOf(options);
    this.#states = new WorkerStates(options.onMove ?? (() => {}));
    this.#fakes = fakes;
    // Two at once keep database and process busy at the same time.
    this.#reports = new Gatherer((batch) => this.#report(batch), { most: 500, atOnce: 2 });
    this.#keeper = keepLeases(kernel, {
      leaseMs: this.#settings.leaseMs,
      everyMs: timerMs(this.#settings.leaseMs / 3),
      onLost: (taskIds) => this.#lose(taskIds),
      onFailure: this.#settings.onFailure,
    });
    this.#ended = this.#loop();
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
    await this.#ended;
  }

  async #loop(): Promise<void> {
    const forget: (() => void)[] = [];
    let idleMs = firstIdleMs;
    while (!this.#stopping) {
      try {
        this.#states.enter("Connecting");
        if (this.#lanes.length === 0 || this.state === "ErrorWait") {
          this.#lanes = await lanesOf(this.#kernel);
          this.#laneSet = new Set(this.#lanes);
          for (const stop of forget.splice(0)) stop();
          for (const lane of this.#lanes) forget.push(this.#kernel.signals.wait(lane, () => this.#rest.end()));
        }
        this.#states.enter("Recovery");
        await this.#maintain();
        this.#states.enter("Polling");
        if (await this.#pollUntilEmpty()) idleMs = firstIdleMs;
        if (this.#stopping) break;
        this.#states.enter("Backoff");
        const pauseMs = idleMs;
        idleMs = Math.min(idleMs * 2, this.#settings.pollMs);
        this.#states.enter("Idle");
        await this.#rest.take(pauseMs);
      } catch (error) {
        this.#settings.onFailure(error);
        this.#states.enter("ErrorWait");
        if (!this.#stopping) await this.#rest.take(errorWaitMs);
      }
    }
    for (const stop of forget) stop();
    await this.#drain();
  }

  /** Claims and runs until a claim brings nothing; tells whether there was anything. */
  async #pollUntilEmpty(): Promise<boolean> {
    let worked = false;
    while (!this.#stopping) {
      const room = this.#settings.concurrency + (this.#settings.prefetch ?? this.#pace.prefetch) - this.#held.size;
      if (room <= 0 || this.#waiting.length > this.#settings.concurrency) {
        await this.#rest.take(this.#settings.pollMs); // A slot that gets free ends this rest.
        await this.#maintain();
        continue;
      }
      const found = await this.#claim(room);
      if (found === 0) return worked;
      worked = true;
      await this.#maintain();
    }
    return worked;
  }

  async #claim(room: number): Promise<number> {
    // The order of lanes turns by one at each claim, so that no lane starves another.
    const turn = this.#turn++ % Math.max(1, this.#lanes.length);
    const lanes = [...this.#lanes.slice(turn), ...this.#lanes.slice(0, turn)];
    const taken = await take(this.#kernel, {
      lanes,
      limit: room,
      share: room,
      worker: this.id,
      leaseMs: this.#settings.leaseMs,
    });
    // What waits beyond a full claim is not more urgent than the least urgent of it; beyond a small one nothing waits.
    this.#urgency = taken.length < room ? Number.POSITIVE_INFINITY : Math.max(...taken.map((one) => one.priority));
    this.#hold(taken);
    return taken.length;
  }

  /**
   * The next step of an instance comes with the report that leads to it, leased to this worker: a chain of steps costs one
   * claim. Not while it stops, not for lanes of others, and not past something more urgent that waits.
   */
  readonly #grant: Granting = ({ lane, priority }) => {
    if (this.#stopping || !this.#laneSet.has(lane) || priority > this.#urgency) return null;
    return { worker: this.id, leaseMs: this.#settings.leaseMs };
  };

  #hold(taken: readonly Taken[]): void {
    this.#keeper.keep(taken.map((one) => one.lease));
    for (const one of taken) {
      const held: Held = { taken: one, abort: new Abort() };
      this.#held.set(one.lease.taskId, held);
      this.#states.slot("Polling", "Claiming");
      this.#waiting.push(held);
    }
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
    const outcome = await run(this.#kernel, taken, {
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
    this.#states.slot(to, "Polling");
    this.#release(held);
  }

  /** One batch of reports. The steps that come with it are taken in hand together. */
  async #report(batch: readonly Report[]): Promise<Reported[]> {
    const granted: Taken[] = [];
    const stay = { grant: this.#grant, take: (next: Taken) => granted.push(next) };
    const reported = await report(
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

  async #maintain(): Promise<void> {
    const now = performance.now();
    if (now - this.#maintainedAt < this.#settings.maintainEveryMs) return;
    this.#maintainedAt = now;
    const { failures } = await this.#maintainOnce(this.#kernel, this.#lanes);
    for (const failure of failures) this.#settings.onFailure(failure.error);
  }

  async #drain(): Promise<void> {
    const unused = this.#waiting.splice(0);
    for (let left = unused.length; left > 0; left--) this.#states.slot("Claiming", "Polling");
    await this.#giveBack(unused);
    const endAt = performance.now() + this.#settings.graceMs;
    while (this.#held.size > 0 && performance.now() < endAt) await this.#rest.take(endAt - performance.now());
    const late = [...this.#held.values()];
    for (const held of late) held.abort.abort(new PawlError("closed", "The worker stops, and its grace time is over."));
    await this.#giveBack(late);
    await this.#keeper.stop();
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

interface Settings {
  readonly concurrency: number;
  readonly prefetch: number | undefined;
  readonly leaseMs: number;
  readonly graceMs: number;
  readonly pollMs: number;
  readonly maintainEveryMs: number;
  readonly onFailure: (error: unknown) => void;
  readonly log: Log;
}

function settingsOf(options: WorkOptions): Settings {
  const concurrency = options.concurrency ?? 16;
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 10_000) {
    throw new PawlError("option_invalid", "`concurrency` must be a whole number from 1 to 10,000.");
  }
  const leaseMs = durationMs(options.lease ?? "30s", "lease");
  if (leaseMs < 100) throw new PawlError("option_invalid", "`lease` must be at least 100 milliseconds.");
  return {
    concurrency,
    prefetch: options.prefetch,
    leaseMs,
    graceMs: durationMs(options.grace ?? "25s", "grace"),
    pollMs: Math.max(10, durationMs(options.poll ?? "1s", "poll")),
    maintainEveryMs: durationMs(options.maintainEvery ?? "1s", "maintainEvery"),
    onFailure: options.onFailure ?? ((error) => process.emitWarning(`Pawl's worker: ${messageOf(error)}`)),
    log: options.log ?? (() => {}),
  };
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
