import { PawlError } from "../base/errors.ts";
import { checkedText } from "../base/text.ts";
import type { RecoveryExplanation } from "../definition/decide/explain.ts";
import type { AnyLifecycle } from "../definition/language/face.ts";
import type { LifecycleModel } from "../definition/model.ts";
import type { AnySchedule } from "../definition/schedule/schedule.ts";
import { explainInstance } from "../inspect/explain/explain-instance.ts";
import type { Explanation } from "../inspect/explain/explanation.ts";
import { readAll } from "../inspect/gauges.ts";
import { type VerifyOptions, type Violation, verify } from "../inspect/verify/verify.ts";
import { type Breaker, type BreakerFlip, forceBreaker, showBreakers, showFlips } from "../kernel/breakers/verbs.ts";
import { type BrokerMessage, noteRejection } from "../kernel/callbacks/rejections.ts";
import { type Kernel, knownLifecycle, refuseInside } from "../kernel/kernel.ts";
import { type LanesMeant, pauseLanes, resumeLanes } from "../kernel/lanes/pausing.ts";
import { type Lane, showLanes } from "../kernel/lanes/show-lanes.ts";
import { explainRecovery } from "../kernel/recovery/explain.ts";
import { decidedError, letterUnknown } from "../kernel/recovery/requeue.ts";
import { refOf } from "../kernel/refs.ts";
import { type ShownWorker, showWorkers } from "../kernel/tasks/workers.ts";
import type { Started } from "../kernel/types/planned.ts";
import type { Snapshot } from "../kernel/types/snapshot.ts";
import { Verbs } from "../kernel/verbs.ts";
import { checkedBreaker } from "../policy/breaker.ts";
import { pauseSchedule, resumeSchedule, runScheduleNow } from "../schedules/verbs.ts";
import { listSchedules } from "../schedules/views/schedules.ts";
import type { ReadLimits } from "../store/port/db.ts";
import type { Log } from "../telemetry/log.ts";
import { type DeadLetterView, readDeadLetters, readLettersOfKind } from "../views/dead-letters.ts";
import { readNow } from "../views/now.ts";
import {
  type CallOptions,
  checkedLimit,
  checkedOptions,
  type DeadLettersOptions,
  deciderOf,
  type ForceBreakerOptions,
  type InstanceRef,
  idOf,
  type LanesOptions,
  letterIdOf,
  type PauseOptions,
  type RequeueOptions,
  type ResumeOptions,
  type StartCallOptions,
  scheduleName,
  textOrNull,
} from "./options.ts";
import {
  type DeadLetter,
  type Instance,
  instanceOf,
  letterOf,
  newSchedule,
  noInstance,
  type ScheduleStatus,
  type StartedInstance,
  scheduleOf,
} from "./results.ts";

/**
 * The verbs of those who look after what runs: what was given up, lanes, breakers, schedules, workers, measures. A part of
 * `Pawl`, which adds what programs call.
 */
export abstract class Operators {
  /** @internal */
  protected readonly kernel: Kernel;
  /** @internal */
  protected readonly verbs: Verbs;

  /** @internal */
  constructor(kernel: Kernel) {
    this.kernel = kernel;
    this.verbs = new Verbs(kernel);
  }

  /**
   * What failed, how often, what will happen by itself, and what a retry now would do, as data and in sentences. It is
   * decided by the same functions as the recovery itself, and nothing is done.
   */
  async explainRecovery(lifecycle: AnyLifecycle, instance: InstanceRef): Promise<RecoveryExplanation> {
    const row = await this.verbs.read(this.known(lifecycle), refOf(instance), undefined);
    if (row === undefined) throw noInstance(lifecycle, instance);
    return explainRecovery(this.kernel, this.kernel.db, row);
  }

  /**
   * Explains why an instance does not move: what it waits for, since when and until when, what happens next by itself, and
   * whether it is stuck. As data and in sentences; nothing is changed.
   *
   * ```ts
   * const { waitingFor, next, stuck } = await pawl.explain(essay, "sub-42");
   * ```
   * @throws `instance_unknown`
   */
  async explain(lifecycle: AnyLifecycle, instance: InstanceRef): Promise<Explanation> {
    const row = await this.verbs.read(this.known(lifecycle), refOf(instance), undefined);
    if (row === undefined) throw noInstance(lifecycle, instance);
    return explainInstance(this.kernel, row);
  }

  /** Work that was given up and waits for a person's decision, newest first; all of it unless a lifecycle is named. */
  async deadLetters(lifecycle?: AnyLifecycle, options: DeadLettersOptions = {}): Promise<DeadLetter[]> {
    refuseInside(this.kernel, "deadLetters");
    const { status = "open", fingerprint, limit = 100, after } = checkedOptions(options, letterKeys, "deadLetters");
    const page = {
      lifecycle: lifecycle === undefined ? null : this.known(lifecycle).name,
      beforeId: after === undefined ? null : idOf(after),
      limit: checkedLimit(limit),
    };
    if (fingerprint === undefined) return (await readDeadLetters(this.kernel.db, { ...page, status })).map(letterOf);
    if (status !== "open") throw new PawlError("option_invalid", "`fingerprint` finds dead letters that are open.");
    const kind = checkedText(fingerprint, "`fingerprint`");
    return (await readLettersOfKind(this.kernel.db, { ...page, fingerprint: kind })).map(letterOf);
  }

  /** One dead letter, decided or not; undefined when there is none. */
  async deadLetter(id: string): Promise<DeadLetter | undefined> {
    const letter = await this.verbs.deadLetter(letterIdOf(id));
    return letter === undefined ? undefined : letterOf(letter);
  }

  /**
   * Takes up again what a dead letter is about, by the definition of this process: a failed instance recovers (or, with
   * `restart`, begins anew), with changed data if wanted; an after-effect is carried out and a message sent once more.
   *
   * ```ts
   * await pawl.requeue(letter.id, { data: { address: "Elm 3" }, actor: "ada", reason: "moved house" });
   * ```
   */
  async requeue(id: string, options: RequeueOptions = {}): Promise<DeadLetter> {
    const { data, restart = false, tx, ...by } = checkedOptions(options, ["data", "restart", ...callKeys], "requeue");
    return this.verbs.inTurn(tx, async () => {
      const letter = await this.#openLetter(id, tx);
      await this.verbs.requeue({ letter, data, restart, ...deciderOf(by) }, tx);
      return letterOf((await this.verbs.deadLetter(letter.id, tx))!);
    });
  }

  /** Nothing more is to be done about a dead letter. An instance that it is about stays where it is. */
  async discard(id: string, options: StartCallOptions = {}): Promise<DeadLetter> {
    const { tx, ...by } = checkedOptions(options, callKeys, "discard");
    return this.verbs.inTurn(tx, async () => {
      const letter = await this.#openLetter(id, tx);
      await this.verbs.discardLetter(letter, deciderOf(by), tx);
      return letterOf((await this.verbs.deadLetter(letter.id, tx))!);
    });
  }

  async #openLetter(given: string, tx: CallOptions["tx"]): Promise<DeadLetterView> {
    const id = letterIdOf(given);
    const letter = await this.verbs.deadLetter(id, tx);
    if (letter === undefined) throw letterUnknown(id);
    if (letter.status !== "open") throw decidedError(id, letter.status);
    return letter;
  }

  /**
   * What is measured, as Prometheus reads it: what this process has done since it began, and what the database tells at
   * this moment. It never scans a table.
   */
  async metrics(): Promise<string> {
    refuseInside(this.kernel, "metrics");
    const { prometheusText } = await import("../telemetry/prometheus.ts"); // Its library is loaded by those who ask.
    return prometheusText(await readAll(this.kernel));
  }

  /** Runs reads on a few connections of their own, where the database can; see `Db.limited`. @internal */
  withReadLimits<T>(limits: ReadLimits | undefined, work: () => Promise<T>): Promise<T> {
    const { db } = this.kernel;
    return limits === undefined || db.limited === undefined ? work() : db.limited(limits, work);
  }

  /** Asks the database for its time; throws when it cannot be reached. */
  async ping(): Promise<Date> {
    refuseInside(this.kernel, "ping");
    return new Date(await readNow(this.kernel.db));
  }

  /** Notes why a message of a broker is about to be rejected, for the dead letter that it becomes. @internal */
  noteRejection(message: BrokerMessage & { readonly queue: string }, error: unknown): Promise<void> {
    return noteRejection(this.kernel, message, error);
  }

  /** Where this Pawl logs. @internal */
  get log(): Log {
    return this.kernel.telemetry.log;
  }

  /** How the schedules stand: all that this process declares, and all that the database knows. */
  async schedules(): Promise<ScheduleStatus[]> {
    refuseInside(this.kernel, "schedules");
    const { entries } = this.kernel.timetable;
    const kept = await listSchedules(this.kernel.db);
    const names = new Set(kept.map((row) => row.name));
    const unkept = [...entries.values()].filter(({ schedule }) => !names.has(schedule.name));
    const all = [...kept.map((row) => scheduleOf(row, entries.has(row.name))), ...unkept.map(newSchedule)];
    return all.sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** Runs nothing of a schedule until it is resumed. What falls due meanwhile is left out. */
  async pauseSchedule(schedule: AnySchedule | string, options: Omit<StartCallOptions, "tx"> = {}): Promise<void> {
    refuseInside(this.kernel, "pauseSchedule");
    const { actor, reason } = checkedOptions(options, ["actor", "reason"], "pauseSchedule");
    const by = { actor: textOrNull(actor, "The actor"), reason: textOrNull(reason, "The reason") };
    await pauseSchedule(this.kernel, scheduleName(schedule), by);
  }

  /** Lets a schedule go on, with its next tick from now. */
  async resumeSchedule(schedule: AnySchedule | string): Promise<void> {
    refuseInside(this.kernel, "resumeSchedule");
    await resumeSchedule(this.kernel, scheduleName(schedule));
  }

  /** Starts at once what the schedule starts, beside its ticks, with this moment as the tick; also while it is paused. */
  async runScheduleNow(schedule: AnySchedule | string): Promise<StartedInstance> {
    refuseInside(this.kernel, "runScheduleNow");
    const { lifecycle, started } = await runScheduleNow(this.kernel, scheduleName(schedule));
    return this.startedOf(lifecycle, started);
  }

  /**
   * Stops work in all processes, within a second: nothing is claimed from these lanes until they are resumed. What runs is
   * let finish, and what waits keeps its place.
   *
   * ```ts
   * await pawl.pause(essay, { state: "grading", reason: "the model answers nonsense", actor: "grace" });
   * ```
   */
  async pause<L extends AnyLifecycle>(lifecycle: L, options: PauseOptions<L>): Promise<void> {
    refuseInside(this.kernel, "pause");
    const { reason, actor, ...lanes } = checkedOptions(options, [...lanesKeys, "reason", "actor"], "pause");
    await pauseLanes(this.kernel, this.#lanesMeant(lifecycle, lanes), {
      reason: checkedText(reason, "The reason of a pause"),
      actor: textOrNull(actor, "The actor"),
    });
  }

  /** Lets work go on; tells whether it was paused. A whole lifecycle is resumed with all its parts. */
  async resume<L extends AnyLifecycle>(lifecycle: L, options: ResumeOptions<L> = {}): Promise<boolean> {
    refuseInside(this.kernel, "resume");
    const { reason, actor, ...lanes } = checkedOptions(options, [...lanesKeys, "reason", "actor"], "resume");
    return resumeLanes(this.kernel, this.#lanesMeant(lifecycle, lanes), {
      reason: textOrNull(reason, "The reason"),
      actor: textOrNull(actor, "The actor"),
    });
  }

  /**
   * The lanes in which work waits: how much there is in each, what holds it back, and why it is closed if it is. With
   * `internal` also those of Pawl's own lifecycles that are empty.
   */
  async lanes(options: { readonly internal?: boolean } = {}): Promise<Lane[]> {
    refuseInside(this.kernel, "lanes");
    const { internal = false } = checkedOptions(options, ["internal"], "lanes");
    return showLanes(this.kernel, { internal });
  }

  /** The workers of all processes, as they were at their last sign of life; those that fell silent are kept for an hour. */
  async workers(): Promise<ShownWorker[]> {
    refuseInside(this.kernel, "workers");
    return showWorkers(this.kernel);
  }

  /** How the breakers of outside dependencies stand, over all processes. */
  async breakers(): Promise<Breaker[]> {
    refuseInside(this.kernel, "breakers");
    return showBreakers(this.kernel);
  }

  /** When and why a breaker opened and closed, newest first. */
  async breakerFlips(breaker: string, options: { limit?: number } = {}): Promise<BreakerFlip[]> {
    refuseInside(this.kernel, "breakerFlips");
    const { limit = 100 } = checkedOptions(options, ["limit"], "breakerFlips");
    return showFlips(this.kernel, checkedBreaker(breaker), checkedLimit(limit));
  }

  /**
   * Holds a breaker open or closed in all processes, whatever its calls come to, until it is released with null: then it
   * finds its own way again, an open one by probes.
   *
   * ```ts
   * await pawl.forceBreaker("llm", "open", { reason: "the provider has announced an outage", actor: "grace" });
   * ```
   */
  async forceBreaker(
    breaker: string,
    to: "open" | "closed" | null,
    options: ForceBreakerOptions = {},
  ): Promise<Breaker> {
    refuseInside(this.kernel, "forceBreaker");
    if (to !== "open" && to !== "closed" && to !== null)
      throw new PawlError("option_invalid", 'A breaker is forced "open" or "closed", or released with null.');
    const { reason, actor } = checkedOptions(options, ["reason", "actor"], "forceBreaker");
    return forceBreaker(this.kernel, checkedBreaker(breaker), to, {
      reason: to === null ? textOrNull(reason, "The reason") : checkedText(reason, "The reason of a forced breaker"),
      actor: textOrNull(actor, "The actor"),
    });
  }

  /**
   * Holds what is stored against what must always be so: one path through the journal, no stale holder, counts that are
   * right. Reads only, slice by slice, also while everything runs. An empty list is the good answer.
   */
  verify(options: VerifyOptions = {}): Promise<Violation[]> {
    refuseInside(this.kernel, "verify");
    return verify(this.kernel.db, options);
  }

  #lanesMeant<L extends AnyLifecycle>(lifecycle: L, { state, effects = false }: LanesOptions<L>): LanesMeant {
    return { lifecycle: this.known(lifecycle), state, effects };
  }

  /** @internal */
  protected known(lifecycle: AnyLifecycle): LifecycleModel {
    return knownLifecycle(this.kernel, lifecycle);
  }

  /** @internal */
  protected startedOf<L extends AnyLifecycle>(lifecycle: L, started: Started): StartedInstance<L> {
    if (!started.ok) throw started.error;
    return Object.assign(this.instanceOf(lifecycle, started.instance), { created: started.created });
  }

  /** As a caller is shown it: in its state by the name that it has today, also before the move that writes it so. @internal */
  protected instanceOf<L extends AnyLifecycle>(lifecycle: L, snapshot: Snapshot): Instance<L> {
    return instanceOf<L>(snapshot, this.known(lifecycle).renamed);
  }
}

const lanesKeys = ["state", "effects"];
const callKeys = ["tx", "actor", "reason"];
const letterKeys = ["status", "fingerprint", "limit", "after"];
