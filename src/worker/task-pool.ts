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
import { Pace, windowMs } from "./prefetch.ts";
import type { Settings } from "./settings.ts";
import type { SlotState, WorkerStates } from "./states.ts";
import { Abort, abortedBy } from "./steps/abort.ts";
import { reportObserved, runObserved } from "./steps/instrumented.ts";
import type { Handler } from "./steps/run.ts";
import { StuckSteps } from "./steps/stuck-steps.ts";

const firstPauseMs = 50;
const markAfterMs = 50;
/** What was taken in advance waits no longer than this. */
const longestWaitMs = 1_000;

/** A task in hand: waiting here, running, or being reported. */
interface Held {
  readonly task: ClaimedTask;
  readonly abort: Abort;
  readonly takenAt: number;
  /** What its slot does; undefined once that is free again. */
  slot: SlotState | undefined;
  /** When its step began; undefined while it waits. */
  beganAt: number | undefined;
  /** It was given back: whatever its step still says does not count, and must not win over that. */
  isGivenBack: boolean;
  /** How its step ended: that is on its way, and the move that is seen then is its own. */
  outcome: Outcome | undefined;
  /** It has begun, and its handler has not returned. */
  isRunning: boolean;
}

export interface HandsOptions {
  readonly settings: Settings;
  readonly states: WorkerStates;
  /** Whether the next step of an instance is to come with the report that leads to it. */
  readonly grant: GrantDecider;
  /** Counts against a limit as long as it is in hand. */
  readonly isGated: (lane: string) => boolean;
  /** Its lane was closed since it was claimed: it does not begin. */
  readonly mustWait: (task: ClaimedTask) => boolean;
  /** Hears that there is room for another task. */
  readonly onFree: () => void;
  /** Called when a step has become stuck. */
  readonly onStuck: () => void;
  /** Called with an error around a step that is neither the step's nor one of its report. */
  readonly onSlotError: (error: unknown) => void;
  readonly fakes: ReadonlyMap<string, Handler> | undefined;
}

/** The tasks that a worker has in hand: it runs as many at once as it has slots, keeps their leases, and reports. */
export class Hands {
  readonly #kernel: Kernel;
  readonly #options: HandsOptions;
  readonly #pace = new Pace();
  readonly #reports: Batcher<Report, ReportResult | FailedReport>;
  readonly #keeper: LeaseKeeper;
  readonly #looks: Batcher<Held, boolean>;
  readonly #stuck: StuckSteps<Held>;
  readonly #forgetHints: () => void;
  readonly #held = new Map<string, Held>();
  readonly #waiting: Held[] = [];
  /** Steps that run, and of which the database does not know yet that they do. */
  readonly #unmarked = new Set<Held>();
  #marking: NodeJS.Timeout | undefined;
  #isEmptied = false;
  #running = 0;

  constructor(kernel: Kernel, options: HandsOptions) {
    this.#kernel = kernel;
    this.#options = options;
    const { leaseMs, onFailure } = options.settings;
    // Two at once keep database and process busy at the same time.
    this.#reports = new Batcher((batch) => this.#report(batch), { maxBatch: 500, concurrency: 2 });
    this.#keeper = keepLeases(kernel, {
      leaseMs,
      everyMs: timerMs(leaseMs / 3),
      onLost: (leases) => void this.#lose(leases.flatMap((lease) => this.#heldUnder(lease) ?? [])),
      onFailure,
    });
    const limits = { graceMs: options.settings.abortGraceMs, maxFreed: options.settings.concurrency };
    this.#stuck = new StuckSteps(limits, (held, isFreed) => this.#becomeStuck(held, isFreed));
    this.#looks = new Batcher((batch) => this.#look(batch), { maxBatch: 500, concurrency: 1 });
    this.#forgetHints = kernel.signals.follow((topic) => this.#hear(topic));
  }

  /** How many more tasks there is room for. */
  get room(): number {
    const { concurrency, prefetch = this.#pace.prefetch(concurrency - this.#slow) } = this.#options.settings;
    return this.#waiting.length > concurrency ? 0 : concurrency + prefetch - this.#held.size;
  }

  /** In how many slots a step runs that does not end soon. */
  get #slow(): number {
    const now = performance.now();
    let slow = 0;
    for (const { beganAt, outcome } of this.#held.values())
      if (outcome === undefined && beganAt !== undefined && now - beganAt > windowMs) slow += 1;
    return slow;
  }

  /** How many more tasks that count against a limit: no more than can begin soon. */
  get gatedRoom(): number {
    let waiting = 0;
    for (const { task } of this.#waiting) if (this.#options.isGated(task.lane)) waiting += 1;
    return this.#options.settings.concurrency - waiting;
  }

  /** How many more tasks could begin at once. */
  get idle(): number {
    return this.#options.settings.concurrency - this.#running - this.#waiting.length;
  }

  /** How many tasks of which lanes there are. */
  get lanes(): Record<string, number> {
    const lanes: Record<string, number> = {};
    for (const { task } of this.#held.values()) lanes[task.lane] = (lanes[task.lane] ?? 0) + 1;
    return lanes;
  }

  /** How many steps go on though their signal was aborted a while ago. */
  get stuck(): number {
    return this.#stuck.count;
  }

  take(tasks: readonly ClaimedTask[]): void {
    this.#keeper.keep(tasks.map((one) => one.lease));
    const earlier = tasks.flatMap(({ lease }) => this.#held.get(lease.taskId) ?? []);
    // What stands behind a gate counts there from now on, and others wait for a probe: it begins before what only waits here.
    const first: Held[] = [];
    const { meters } = this.#kernel.telemetry;
    for (const one of tasks) {
      meters.lane(one.lane).claimed += 1;
      const held: Held = {
        task: one,
        abort: new Abort(),
        takenAt: performance.now(),
        slot: "Claiming",
        beganAt: undefined,
        isGivenBack: false,
        outcome: undefined,
        isRunning: false,
      };
      this.#held.set(one.lease.taskId, held);
      this.#options.states.slot("Polling", "Claiming");
      if (one.probe !== undefined || this.#options.isGated(one.lane)) first.push(held);
      else this.#waiting.push(held);
    }
    if (first.length > 0) this.#waiting.unshift(...first);
    // A lease of ours expired, and we have claimed the same task again: its earlier attempt must not go on next to it.
    this.#abortAll(earlier.filter((held) => held.outcome === undefined).map((held) => [held, "lapsed"]));
    this.#fill();
  }

  /**
   * Gives back tasks that wait here and have not begun, their attempts unspent: those that are meant, and those that were
   * to begin at once and wait for slow steps instead. Other workers may have room.
   */
  async putBack(isMeant: (task: ClaimedTask) => boolean): Promise<void> {
    const isAsked = this.#options.settings.prefetch !== undefined;
    const tooLong = performance.now() - longestWaitMs;
    await this.#giveBack(this.#takeOut(({ task, takenAt }) => isMeant(task) || (!isAsked && takenAt < tooLong)));
  }

  /** Begins nothing more, lets what runs finish within the grace time, and gives the rest back. */
  async empty(untilFree: (ms: number) => Promise<void>): Promise<void> {
    await this.putBack(() => true);
    const endAt = performance.now() + this.#options.settings.graceMs;
    while (this.#held.size > 0 && performance.now() < endAt) await untilFree(endAt - performance.now());
    const late = [...this.#held.values()];
    const given = this.#giveBack(late);
    for (const { task, abort } of late) abort.abort(abortedBy("stopping", task));
    for (const held of this.#stuck.freed) held.isGivenBack = true;
    await given;
    this.#isEmptied = true;
    clearTimeout(this.#marking);
    this.#stuck.stop();
    this.#forgetHints();
    await this.#keeper.stop();
  }

  /** Those of the tasks that wait here: they will not begin. */
  #takeOut(isMeant: (held: Held) => boolean): Held[] {
    const out = this.#waiting.filter(isMeant);
    if (out.length === 0) return out;
    this.#waiting.splice(0, this.#waiting.length, ...this.#waiting.filter((held) => !isMeant(held)));
    for (let left = out.length; left > 0; left--) this.#options.states.slot("Claiming", "Polling");
    return out;
  }

  /** Begins what may begin. What must wait is left for whoever puts it back. */
  #fill(): void {
    const { settings, mustWait } = this.#options;
    for (let place = 0; place < this.#waiting.length && this.#running < settings.concurrency; ) {
      const held = this.#waiting[place]!;
      if (mustWait(held.task)) {
        place += 1;
        continue;
      }
      if (place === 0) this.#waiting.shift();
      else this.#waiting.splice(place, 1);
      this.#running += 1;
      held.isRunning = true;
      this.#process(held).catch((error: unknown) => this.#abandon(held, error));
    }
  }

  /** Runs a task and reports what became of it, together with those that end at the same time. */
  async #process(held: Held): Promise<void> {
    const { task, abort } = held;
    const { settings, fakes, isGated } = this.#options;
    const { faults, signals, telemetry } = this.#kernel;
    this.#enter(held, "Processing");
    if (faults !== undefined) await faults.at("run.before");
    const began = performance.now();
    held.beganAt = began;
    if (task.isAhead === true) this.#noteBegin(held);
    const outcome = await runObserved(this.#kernel, task, { abort, log: settings.log, fakes });
    held.isRunning = false;
    const tookMs = performance.now() - began;
    telemetry.meters.lane(task.lane).ran(tookMs);
    if (faults !== undefined) await faults.at("run.after");
    this.#stuck.ended(held);
    this.#enter(held, succeeded(outcome) ? "ReportingSuccess" : "ReportingFailure");
    this.#fill();
    held.outcome = outcome;
    this.#pace.finished(tookMs);
    await this.#reportUntilAnswered(held, outcome);
    if (isGated(task.lane)) signals.hint(task.lane); // There is room again, for whoever waits.
    this.#enter(held, "Polling");
    this.#release(held);
  }

  /** The slot of a task goes on, unless it was freed. */
  #enter(held: Held, to: SlotState | "Polling" | "ErrorWait"): void {
    const from = held.slot;
    if (from === undefined) return;
    if (from === "Processing") this.#running -= 1;
    held.slot = to === "Polling" || to === "ErrorWait" ? undefined : to;
    this.#options.states.slot(from, to);
  }

  /** What became of the task is unknown: the slot is free again, and the lease lapses. */
  #abandon(held: Held, error: unknown): void {
    held.isRunning = false;
    this.#stuck.ended(held);
    this.#enter(held, "ErrorWait");
    this.#options.onSlotError(error);
    this.#release(held);
  }

  /**
   * A step that was taken in advance and does not end soon is marked as begun: should its worker die, the attempt is spent.
   * Quick ones need no mark.
   */
  #noteBegin(held: Held): void {
    this.#unmarked.add(held);
    this.#marking ??= setTimeout(() => void this.#markBegun(), markAfterMs).unref();
  }

  async #markBegun(): Promise<void> {
    const runs = (held: Held) => held.outcome === undefined && this.#held.get(held.task.lease.taskId) === held;
    for (const held of this.#unmarked) if (!runs(held)) this.#unmarked.delete(held);
    const due = performance.now() - markAfterMs;
    const list = [...this.#unmarked].filter(({ beganAt }) => beganAt! <= due);
    try {
      const marked =
        list.length === 0
          ? new Set()
          : await markTasksBegun(
              this.#kernel,
              list.map(({ task }) => task.lease),
            );
      for (const held of list) if (marked.has(held.task.lease.taskId)) this.#unmarked.delete(held);
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
  async #reportUntilAnswered(held: Held, outcome: Outcome): Promise<void> {
    const { task } = held;
    const { onFailure } = this.#options.settings;
    for (let tries = 0, pauseMs = firstPauseMs; !held.isGivenBack; tries++) {
      const answer = await this.#reports
        .add({ task, outcome, again: tries > 0 })
        .catch((error: unknown): FailedReport => ({ error }));
      if (typeof answer !== "object") {
        if (answer === "lease_lost") onFailure(lostBy(task));
        return;
      }
      if (tries === 0) onFailure(answer.error);
      // Else its outcome stays unknown: the lease will lapse, and the attempt counts as one whose worker was lost.
      if (!isPassing(answer.error)) return;
      await pause(pauseMs);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
  }

  /** One batch of reports. The steps that come with it are taken in hand together, also when a part of it fails. */
  async #report(batch: readonly Report[]): Promise<(ReportResult | FailedReport)[]> {
    const granted: ClaimedTask[] = [];
    const stay = { grant: this.#options.grant, take: (next: ClaimedTask) => granted.push(next) };
    try {
      return await reportObserved(
        this.#kernel,
        batch.map((one) => ({ ...one, stay })),
      );
    } finally {
      this.take(granted);
    }
  }

  #release(held: Held): void {
    this.#forget(held);
    this.#fill();
    this.#options.onFree();
  }

  /** Unless the next step of the same instance, whose task has the same id, is in hand already. */
  #forget(held: Held): void {
    const { taskId } = held.task.lease;
    if (this.#held.get(taskId) !== held) return;
    this.#held.delete(taskId);
    this.#keeper.drop([taskId]);
  }

  /**
   * An instance moved. The task of its step has its id: if it is in hand, it may be out of date, and is looked at now
   * rather than with its next renewal. When anything may have happened, everything is.
   */
  #hear(topic: string | undefined): void {
    const meant = topic === undefined ? this.#held.values() : [this.#held.get(topic)];
    for (const held of meant) {
      if (held === undefined || held.outcome !== undefined) continue;
      this.#looks.add(held).catch(() => {}); // A renewal finds it, too.
    }
  }

  /** Which of them still hold; what does not is lost, unless it has ended by itself meanwhile. */
  async #look(list: readonly Held[]): Promise<boolean[]> {
    const holding = await heldTaskIds(
      this.#kernel.db,
      list.map(({ task }) => task),
    );
    const holds = ({ task }: Held) => holding.has(task.lease.taskId);
    const isInHand = (held: Held) => held.outcome === undefined && this.#held.get(held.task.lease.taskId) === held;
    await this.#lose(list.filter((held) => !holds(held) && isInHand(held)));
    return list.map(holds);
  }

  /** The task that is held under this very lease, and not under a newer one. */
  #heldUnder({ taskId, token }: ClaimedTask["lease"]): Held | undefined {
    const held = this.#held.get(taskId);
    return held?.task.lease.token === token ? held : undefined;
  }

  /** These leases no longer hold: steps that run are aborted with the reason, and those that have not begun do not begin. */
  async #lose(list: readonly Held[]): Promise<void> {
    const lost = list.filter((held) => held.outcome === undefined && !held.isGivenBack && !held.abort.aborted);
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
    this.#abortAll(lost.map((held) => [held, reasons.get(held.task.lease.taskId) ?? "lapsed"]));
  }

  /** Aborts steps that run, and drops those that have not begun: their leases are no longer ours. */
  #abortAll(list: readonly (readonly [Held, LeaseLossReason])[]): void {
    for (const [held, reason] of list) {
      const { task, abort, isRunning } = held;
      if (abort.aborted) continue;
      abort.abort(abortedBy(reason, task));
      if (this.#held.get(task.lease.taskId) === held) this.#keeper.drop([task.lease.taskId]);
      if (isRunning) this.#stuck.watch(held);
    }
    for (const held of this.#takeOut(({ abort }) => abort.aborted)) this.#release(held);
  }

  /** Its step ignores its aborted signal. What it still returns is reported as ever, and refused by its lost lease. */
  #becomeStuck(held: Held, isFreed: boolean): void {
    const { isGated, onStuck } = this.#options;
    onStuck();
    const { lane, lease, attempt, row } = held.task;
    const { log } = this.#kernel.telemetry;
    const fields = { lane, task: lease.taskId, instance: row.id, attempt, stuck: this.stuck };
    if (!isFreed) {
      log.error(
        fields,
        "A step ignores its aborted signal. Too many slots were freed already, so it keeps its slot: restart this process.",
      );
      return;
    }
    log.warn(fields, "A step ignores its aborted signal; its slot was freed. Pass `step.signal` to what it waits for.");
    this.#enter(held, "ReportingFailure");
    this.#enter(held, "Polling");
    if (isGated(lane)) this.#kernel.signals.hint(lane);
    this.#release(held);
  }

  async #giveBack(list: readonly Held[]): Promise<void> {
    if (list.length === 0) return;
    for (const held of list) held.isGivenBack = true;
    try {
      await report(
        this.#kernel,
        list.map(({ task, outcome }) => ({
          task,
          // A step that has ended is not to run again only because its report has not come through yet.
          outcome: outcome ?? { kind: "released" as const },
          again: outcome !== undefined,
        })),
      );
    } catch (error) {
      this.#options.settings.onFailure(error); // Their leases will lapse.
    }
    for (const held of list) this.#forget(held);
  }
}

function succeeded(outcome: Outcome): boolean {
  return ["event", "done", "deliver", "recover"].includes(outcome.kind);
}

/** Time may help: the database is away, busy, or refuses for now. */
function isPassing(error: unknown): boolean {
  return isPawlError(error) && error.fault === "environment" && error.code !== "closed";
}

function lostBy({ lease: { taskId }, lane }: ClaimedTask): PawlError {
  const message = `The lease of task ${taskId} (${lane}) was lost; its result does not count.`;
  return new PawlError("lease_lost", message, { taskId });
}
