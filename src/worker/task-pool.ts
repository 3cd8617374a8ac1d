import { timerMs } from "../base/duration.ts";
import { isPawlError, PawlError } from "../base/errors.ts";
import { Batcher } from "../kernel/batcher.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { pause } from "../kernel/pause.ts";
import { longestPauseMs } from "../kernel/retry-unknown-outcome.ts";
import { markTasksBegun } from "../kernel/tasks/claim.ts";
import { keepLeases } from "../kernel/tasks/keep-leases.ts";
import { type LeaseLossReason, leaseLossReasons } from "../kernel/tasks/lease-loss.ts";
import { heldTaskIds } from "../kernel/tasks/pending-report.ts";
import { type FailedReport, report } from "../kernel/tasks/report.ts";
import type { ClaimedTask } from "../kernel/types/claimed-task.ts";
import type { GrantDecider } from "../kernel/types/move-origin.ts";
import type { Outcome, Report, ReportResult } from "../kernel/types/outcome.ts";
import type { LeaseKeeper } from "../store/port/db.ts";
import { PrefetchEstimator, windowMs } from "./prefetch.ts";
import type { Settings } from "./settings.ts";
import type { SlotState, WorkerStates } from "./states.ts";
import { StepAbort, stepAborted } from "./steps/abort.ts";
import { reportInstrumented, runInstrumented } from "./steps/instrumented.ts";
import type { Handler } from "./steps/run.ts";
import { StuckSteps } from "./steps/stuck-steps.ts";

const firstPauseMs = 50;
const markAfterMs = 50;
/** A prefetched task waits no longer than this. */
const longestWaitMs = 1_000;

/** A task of this worker: waiting, running, or being reported. */
interface PooledTask {
  readonly task: ClaimedTask;
  readonly abort: StepAbort;
  readonly claimedAt: number;
  /** What its slot does; undefined once that is free again. */
  slot: SlotState | undefined;
  /** When its step began; undefined while it waits. */
  startedAt: number | undefined;
  /** It was returned: a later result of its step does not count, and must not win over that. */
  isReturned: boolean;
  /** How its step ended: the report is in progress, and the move that is seen then is its own. */
  outcome: Outcome | undefined;
  /** It has begun, and its handler has not returned. */
  isRunning: boolean;
}

export interface TaskPoolOptions {
  readonly settings: Settings;
  readonly states: WorkerStates;
  /** Whether the next step of an instance is granted with the report that leads to it. */
  readonly grant: GrantDecider;
  /** Counts against a limit until it is released. */
  readonly isGated: (lane: string) => boolean;
  /** Its lane was closed since it was claimed: it does not begin. */
  readonly mustWait: (task: ClaimedTask) => boolean;
  /** Called when there is room for another task. */
  readonly onFree: () => void;
  /** Called when a step has become stuck. */
  readonly onStuck: () => void;
  /** Called with an error around a step that is neither the step's nor one of its report. */
  readonly onSlotError: (error: unknown) => void;
  readonly fakes: ReadonlyMap<string, Handler> | undefined;
}

/** The tasks of a worker: runs as many at once as it has slots, renews their leases, and reports. */
export class TaskPool {
  readonly #kernel: Kernel;
  readonly #options: TaskPoolOptions;
  readonly #prefetch = new PrefetchEstimator();
  readonly #reports: Batcher<Report, ReportResult | FailedReport>;
  readonly #leaseKeeper: LeaseKeeper;
  readonly #leaseChecks: Batcher<PooledTask, boolean>;
  readonly #stuck: StuckSteps<PooledTask>;
  readonly #forgetHints: () => void;
  readonly #tasks = new Map<string, PooledTask>();
  readonly #waiting: PooledTask[] = [];
  /** The slots that starts of this process have reserved, by the id of the task. */
  readonly #reserved = new Set<string>();
  /** Running steps that are not marked as begun in the database. */
  readonly #unmarked = new Set<PooledTask>();
  #marking: NodeJS.Timeout | undefined;
  #isEmptied = false;
  #running = 0;
  /** Tasks that are leased to this worker until their leases lapse: their outcomes are unknown. */
  readonly #abandoned = new Set<string>();

  constructor(kernel: Kernel, options: TaskPoolOptions) {
    this.#kernel = kernel;
    this.#options = options;
    const { leaseMs, onFailure } = options.settings;
    // Two at once keep database and process busy at the same time.
    this.#reports = new Batcher((batch) => this.#report(batch), { maxBatch: 500, concurrency: 2 });
    this.#leaseKeeper = keepLeases(kernel, {
      leaseMs,
      everyMs: timerMs(leaseMs / 3),
      onLost: (leases) => void this.#abortLost(leases.flatMap((lease) => this.#taskUnder(lease) ?? [])),
      onFailure,
    });
    const limits = { graceMs: options.settings.abortGraceMs, maxFreed: options.settings.concurrency };
    this.#stuck = new StuckSteps(limits, (pooled, isFreed) => this.#becomeStuck(pooled, isFreed));
    this.#leaseChecks = new Batcher((batch) => this.#checkLeases(batch), { maxBatch: 500, concurrency: 1 });
    this.#forgetHints = kernel.signals.follow((topic) => this.#onHint(topic));
  }

  /** How many more tasks there is room for. */
  get room(): number {
    const { concurrency, prefetch = this.#prefetch.prefetch(concurrency - this.#slowSteps) } = this.#options.settings;
    return this.#waiting.length > concurrency ? 0 : concurrency + prefetch - this.#tasks.size - this.#reserved.size;
  }

  /** In how many slots a step runs that does not end soon. */
  get #slowSteps(): number {
    const now = performance.now();
    let slow = 0;
    for (const { startedAt, outcome } of this.#tasks.values())
      if (outcome === undefined && startedAt !== undefined && now - startedAt > windowMs) slow += 1;
    return slow;
  }

  /** How many more tasks that count against a limit: no more than can begin soon. */
  get gatedRoom(): number {
    let waiting = 0;
    for (const { task } of this.#waiting) if (this.#options.isGated(task.lane)) waiting += 1;
    return this.#options.settings.concurrency - waiting;
  }

  get isEmpty(): boolean {
    return this.#tasks.size === 0;
  }

  /** How many more tasks could begin at once. */
  get idle(): number {
    return this.#options.settings.concurrency - this.#running - this.#waiting.length - this.#reserved.size;
  }

  /** The number of tasks by lane. */
  get lanes(): Record<string, number> {
    const lanes: Record<string, number> = {};
    for (const { task } of this.#tasks.values()) lanes[task.lane] = (lanes[task.lane] ?? 0) + 1;
    return lanes;
  }

  /** The ids of the tasks that are leased to this worker, as far as it knows. */
  get known(): string[] {
    return [...this.#tasks.keys(), ...this.#reserved, ...this.#abandoned];
  }

  /** How many steps continue though their signal was aborted a while ago. */
  get stuck(): number {
    return this.#stuck.count;
  }

  /** Reserves a slot for a task that is about to be leased with the start of its instance; returns whether one was free. */
  reserve(taskId: string): boolean {
    if (this.idle <= 0) return false;
    this.#reserved.add(taskId);
    return true;
  }

  /** The slot was filled by the task, or is free again. */
  endReservation(taskId: string): void {
    this.#reserved.delete(taskId);
    this.#options.onFree();
  }

  get hasReservations(): boolean {
    return this.#reserved.size > 0;
  }

  add(tasks: readonly ClaimedTask[]): void {
    this.#leaseKeeper.keep(tasks.map((one) => one.lease));
    const earlier = tasks.flatMap(({ lease }) => this.#tasks.get(lease.taskId) ?? []);
    // A task behind a gate counts there from now on, and others wait for a probe: both begin before tasks that only
    // wait here.
    const first: PooledTask[] = [];
    const { meters } = this.#kernel.telemetry;
    for (const one of tasks) {
      meters.lane(one.lane).claimed += 1;
      this.#abandoned.delete(one.lease.taskId);
      const pooled: PooledTask = {
        task: one,
        abort: new StepAbort(),
        claimedAt: performance.now(),
        slot: "Claiming",
        startedAt: undefined,
        isReturned: false,
        outcome: undefined,
        isRunning: false,
      };
      this.#tasks.set(one.lease.taskId, pooled);
      this.#options.states.slot("Polling", "Claiming");
      if (one.probe !== undefined || this.#options.isGated(one.lane)) first.push(pooled);
      else this.#waiting.push(pooled);
    }
    if (first.length > 0) this.#waiting.unshift(...first);
    // A lease of ours expired, and we have claimed the same task again: its earlier attempt must not run next to it.
    this.#abortAll(earlier.filter((pooled) => pooled.outcome === undefined).map((pooled) => [pooled, "lapsed"]));
    this.#startWaiting();
  }

  /**
   * Returns waiting tasks that have not begun, with their attempts unspent: the given ones, and those that should have
   * begun at once but wait for slow steps. Other workers may have room.
   */
  async returnWaiting(isMeant: (task: ClaimedTask) => boolean): Promise<void> {
    const isAsked = this.#options.settings.prefetch !== undefined;
    const tooLong = performance.now() - longestWaitMs;
    await this.#returnTasks(
      this.#removeWaiting(({ task, claimedAt }) => isMeant(task) || (!isAsked && claimedAt < tooLong)),
    );
  }

  /** A leased task comes too late for a worker that stops: it is returned unspent. */
  refuse(task: ClaimedTask): void {
    report(this.#kernel, [{ task, outcome: { kind: "released" } }]).catch(this.#options.settings.onFailure);
  }

  /** Starts no more tasks, waits for running ones within the grace time, and returns the rest. */
  async drain(untilFree: (ms: number) => Promise<unknown>): Promise<void> {
    await this.returnWaiting(() => true);
    const endAt = performance.now() + this.#options.settings.graceMs;
    while (this.#tasks.size > 0 && performance.now() < endAt) await untilFree(endAt - performance.now());
    const late = [...this.#tasks.values()];
    const given = this.#returnTasks(late);
    for (const { task, abort } of late) abort.abort(stepAborted("stopping", task));
    for (const pooled of this.#stuck.freed) pooled.isReturned = true;
    await given;
    this.#isEmptied = true;
    clearTimeout(this.#marking);
    this.#stuck.stop();
    this.#forgetHints();
    await this.#leaseKeeper.stop();
  }

  /** Those of the tasks that wait here: they will not begin. */
  #removeWaiting(isMeant: (pooled: PooledTask) => boolean): PooledTask[] {
    const out = this.#waiting.filter(isMeant);
    if (out.length === 0) return out;
    this.#waiting.splice(0, this.#waiting.length, ...this.#waiting.filter((pooled) => !isMeant(pooled)));
    for (let left = out.length; left > 0; left--) this.#options.states.slot("Claiming", "Polling");
    return out;
  }

  /** Starts the tasks that may begin. The others are left to be returned. */
  #startWaiting(): void {
    const { settings, mustWait } = this.#options;
    for (let place = 0; place < this.#waiting.length && this.#running < settings.concurrency; ) {
      const pooled = this.#waiting[place]!;
      if (mustWait(pooled.task)) {
        place += 1;
        continue;
      }
      if (place === 0) this.#waiting.shift();
      else this.#waiting.splice(place, 1);
      this.#running += 1;
      pooled.isRunning = true;
      this.#process(pooled).catch((error: unknown) => this.#abandonTask(pooled, error));
    }
  }

  /** Runs a task and reports its outcome, together with those that end at the same time. */
  async #process(pooled: PooledTask): Promise<void> {
    const { task, abort } = pooled;
    const { settings, fakes, isGated } = this.#options;
    const { faults, signals, telemetry } = this.#kernel;
    this.#enter(pooled, "Processing");
    if (faults !== undefined) await faults.at("run.before");
    const began = performance.now();
    pooled.startedAt = began;
    if (task.isAhead === true) this.#noteBegin(pooled);
    const outcome = await runInstrumented(this.#kernel, task, { abort, log: settings.log, fakes });
    pooled.isRunning = false;
    const tookMs = performance.now() - began;
    telemetry.meters.lane(task.lane).ran(tookMs);
    if (faults !== undefined) await faults.at("run.after");
    this.#stuck.ended(pooled);
    this.#enter(pooled, succeeded(outcome) ? "ReportingSuccess" : "ReportingFailure");
    this.#startWaiting();
    pooled.outcome = outcome;
    this.#prefetch.finished(tookMs);
    await this.#reportUntilKnown(pooled, outcome);
    if (isGated(task.lane)) signals.hint(task.lane); // There is room again.
    this.#enter(pooled, "Polling");
    this.#release(pooled);
  }

  /** The slot of a task changes its state, unless it was freed. */
  #enter(pooled: PooledTask, to: SlotState | "Polling" | "ErrorWait"): void {
    const from = pooled.slot;
    if (from === undefined) return;
    if (from === "Processing") this.#running -= 1;
    pooled.slot = to === "Polling" || to === "ErrorWait" ? undefined : to;
    this.#options.states.slot(from, to);
  }

  /** The outcome of the task is unknown: the slot is free again, and the lease lapses. */
  #abandonTask(pooled: PooledTask, error: unknown): void {
    this.#abandoned.add(pooled.task.lease.taskId);
    pooled.isRunning = false;
    this.#stuck.ended(pooled);
    this.#enter(pooled, "ErrorWait");
    this.#options.onSlotError(error);
    this.#release(pooled);
  }

  /**
   * A prefetched step that does not end soon is marked as begun: if its worker dies, the attempt is spent. Quick ones
   * need no mark.
   */
  #noteBegin(pooled: PooledTask): void {
    this.#unmarked.add(pooled);
    this.#marking ??= setTimeout(() => void this.#markBegun(), markAfterMs).unref();
  }

  async #markBegun(): Promise<void> {
    const runs = (pooled: PooledTask) =>
      pooled.outcome === undefined && this.#tasks.get(pooled.task.lease.taskId) === pooled;
    for (const pooled of this.#unmarked) if (!runs(pooled)) this.#unmarked.delete(pooled);
    const due = performance.now() - markAfterMs;
    const list = [...this.#unmarked].filter(({ startedAt }) => startedAt! <= due);
    try {
      const marked =
        list.length === 0
          ? new Set()
          : await markTasksBegun(
              this.#kernel,
              list.map(({ task }) => task.lease),
            );
      for (const pooled of list) if (marked.has(pooled.task.lease.taskId)) this.#unmarked.delete(pooled);
    } catch {
      // The database is away: the mark is tried again as long as the step runs.
    }
    const isLeft = this.#unmarked.size > 0 && !this.#isEmptied;
    this.#marking = isLeft ? setTimeout(() => void this.#markBegun(), markAfterMs).unref() : undefined;
  }

  /**
   * Reports how a task ended, and again while the database is away: the step has done its work, its lease is kept or waits
   * to be renewed, and the report is fenced, so a later try can neither be too late unseen nor count twice.
   */
  async #reportUntilKnown(pooled: PooledTask, outcome: Outcome): Promise<void> {
    const { task } = pooled;
    const { onFailure } = this.#options.settings;
    for (let tries = 0, pauseMs = firstPauseMs; !pooled.isReturned; tries++) {
      const answer = await this.#reports
        .add({ task, outcome, again: tries > 0 })
        .catch((error: unknown): FailedReport => ({ error }));
      if (typeof answer !== "object") {
        if (answer === "lease_lost") onFailure(leaseLostError(task));
        return;
      }
      if (tries === 0) onFailure(answer.error);
      // Else its outcome stays unknown: the lease will lapse, and the attempt counts as one whose worker was lost.
      if (!isTransient(answer.error)) {
        this.#abandoned.add(task.lease.taskId);
        return;
      }
      await pause(pauseMs);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
  }

  /** One batch of reports. The granted steps start together, even if a part of the batch fails. */
  async #report(batch: readonly Report[]): Promise<(ReportResult | FailedReport)[]> {
    const granted: ClaimedTask[] = [];
    const stay = { grant: this.#options.grant, take: (next: ClaimedTask) => granted.push(next) };
    try {
      return await reportInstrumented(
        this.#kernel,
        batch.map((one) => ({ ...one, stay })),
      );
    } finally {
      this.add(granted);
    }
  }

  #release(pooled: PooledTask): void {
    this.#forget(pooled);
    this.#startWaiting();
    this.#options.onFree();
  }

  /** Unless the next step of the same instance, whose task has the same id, is here already. */
  #forget(pooled: PooledTask): void {
    const { taskId } = pooled.task.lease;
    if (this.#tasks.get(taskId) !== pooled) return;
    this.#tasks.delete(taskId);
    this.#leaseKeeper.drop([taskId]);
  }

  /**
   * An instance moved. The task of its step has its id: if it is here, it may be outdated, and is checked now rather
   * than with its next renewal. If anything may have happened, all are checked.
   */
  #onHint(topic: string | undefined): void {
    const meant = topic === undefined ? this.#tasks.values() : [this.#tasks.get(topic)];
    for (const pooled of meant) {
      if (pooled === undefined || pooled.outcome !== undefined) continue;
      this.#leaseChecks.add(pooled).catch(() => {}); // A renewal finds it, too.
    }
  }

  /** Checks which leases still hold; a task without one is lost, unless it has ended meanwhile. */
  async #checkLeases(list: readonly PooledTask[]): Promise<boolean[]> {
    const holding = await heldTaskIds(
      this.#kernel.db,
      list.map(({ task }) => task),
    );
    const holds = ({ task }: PooledTask) => holding.has(task.lease.taskId);
    const isInHand = (pooled: PooledTask) =>
      pooled.outcome === undefined && this.#tasks.get(pooled.task.lease.taskId) === pooled;
    await this.#abortLost(list.filter((pooled) => !holds(pooled) && isInHand(pooled)));
    return list.map(holds);
  }

  /** The task that is held under this very lease, and not under a newer one. */
  #taskUnder({ taskId, token }: ClaimedTask["lease"]): PooledTask | undefined {
    const pooled = this.#tasks.get(taskId);
    return pooled?.task.lease.token === token ? pooled : undefined;
  }

  /** These leases no longer hold: steps that run are aborted with the reason, and those that have not begun do not begin. */
  async #abortLost(list: readonly PooledTask[]): Promise<void> {
    const lost = list.filter((pooled) => pooled.outcome === undefined && !pooled.isReturned && !pooled.abort.aborted);
    if (lost.length === 0) return;
    let reasons: ReadonlyMap<string, LeaseLossReason> = new Map();
    try {
      reasons = await leaseLossReasons(
        this.#kernel,
        lost.map(({ task }) => task),
      );
    } catch (error) {
      this.#options.settings.onFailure(error);
    }
    this.#abortAll(lost.map((pooled) => [pooled, reasons.get(pooled.task.lease.taskId) ?? "lapsed"]));
  }

  /** Aborts steps that run, and drops those that have not begun: their leases are no longer ours. */
  #abortAll(list: readonly (readonly [PooledTask, LeaseLossReason])[]): void {
    for (const [pooled, reason] of list) {
      const { task, abort, isRunning } = pooled;
      if (abort.aborted) continue;
      abort.abort(stepAborted(reason, task));
      if (this.#tasks.get(task.lease.taskId) === pooled) this.#leaseKeeper.drop([task.lease.taskId]);
      if (isRunning) this.#stuck.watch(pooled);
    }
    for (const pooled of this.#removeWaiting(({ abort }) => abort.aborted)) this.#release(pooled);
  }

  /**
   * Its step ignores its aborted signal. A later result is reported as usual, and refused because its lease is lost.
   */
  #becomeStuck(pooled: PooledTask, isFreed: boolean): void {
    const { isGated, onStuck } = this.#options;
    onStuck();
    const { lane, lease, attempt, row } = pooled.task;
    const { log } = this.#kernel.telemetry;
    const fields = { lane, task: lease.taskId, instance: row.id, attempt, stuck: this.stuck };
    if (!isFreed) {
      log.error(
        fields,
        "A step ignores its aborted signal. Too many slots were freed already, so it keeps its slot: restart this process.",
      );
      return;
    }
    log.warn(
      fields,
      "A step ignores its aborted signal; its slot was freed. Pass `step.signal` to the calls that it awaits.",
    );
    this.#enter(pooled, "ReportingFailure");
    this.#enter(pooled, "Polling");
    if (isGated(lane)) this.#kernel.signals.hint(lane);
    this.#release(pooled);
  }

  async #returnTasks(list: readonly PooledTask[]): Promise<void> {
    if (list.length === 0) return;
    for (const pooled of list) pooled.isReturned = true;
    try {
      await report(
        this.#kernel,
        list.map(({ task, outcome }) => ({
          task,
          // A step that has ended must not run again only because its report is not written yet.
          outcome: outcome ?? { kind: "released" as const },
          again: outcome !== undefined,
        })),
      );
    } catch (error) {
      this.#options.settings.onFailure(error); // Their leases will lapse.
    }
    for (const pooled of list) this.#forget(pooled);
  }
}

function succeeded(outcome: Outcome): boolean {
  return ["event", "done", "deliver", "recover"].includes(outcome.kind);
}

/** Time may help: the database is away, busy, or refuses for now. */
function isTransient(error: unknown): boolean {
  return isPawlError(error) && error.fault === "environment" && error.code !== "closed";
}

function leaseLostError({ lease: { taskId }, lane }: ClaimedTask): PawlError {
  const message = `The lease of task ${taskId} (${lane}) was lost; its result does not count.`;
  return new PawlError("lease_lost", message, { taskId });
}
