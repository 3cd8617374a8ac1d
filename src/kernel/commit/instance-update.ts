import { newToken } from "../../base/ids.ts";
import { storableText } from "../../base/json.ts";
import type { InstanceModel } from "../../definition/decide/instance.ts";
import { type Decision, isRename } from "../../definition/decide/move.ts";
import { endsFailed, isFailure } from "../../definition/decide/recover.ts";
import { failed, type LifecycleModel, laneOf } from "../../definition/model.ts";
import { standardRetry } from "../../policy/retry.ts";
import type { SettledCallback, WaitingCallback } from "../../store/callbacks/callbacks.ts";
import type { FailureColumn, InstanceRow } from "../../store/move/instances.ts";
import type { JournalRow } from "../../store/move/journal.ts";
import type { MovedInstance } from "../../store/move/move-instances.ts";
import type { DueTimer, TimerRow } from "../../store/move/timers.ts";
import type { NextStep } from "../../store/move/written.ts";
import type { AlertRow } from "../../store/recovery/alerts.ts";
import type { DeadLetterRow } from "../../store/recovery/dead-letters.ts";
import type { NoteRow } from "../../store/tasks/attempts.ts";
import { named } from "../family/child-names.ts";
import { deliveriesOf } from "../family/deliveries.ts";
import { deadLetterOfMove, failureColumn } from "../recovery/dead-letter.ts";
import type { AttemptFailure } from "../tasks/attempt-failure.ts";
import type { ClaimedTask } from "../types/claimed-task.ts";
import type { FailedEvent } from "../types/failed-event.ts";
import type { GrantDecider, MoveOrigin, StepOutput } from "../types/move-origin.ts";
import type { FailureOf } from "../types/snapshot.ts";
import type { ChildStart, PlannedStart } from "../types/start.ts";
import { FailureRows } from "./failure-rows.ts";
import {
  deadlineAfterMs,
  effectRows,
  journalRow,
  messageRows,
  modelOf,
  type Rows,
  rowAfter,
  timerRow,
} from "./rows.ts";
import { checksOf, movedInstance, newDraft, type UpdateDraft } from "./update-draft.ts";

/** A move into `failed`, or one by which a failure ends the instance, and who made it. */
export interface FailedMove {
  readonly decision: Decision;
  readonly origin: MoveOrigin;
}

/** The effect of an update on the children of its instance. */
export interface FamilyUpdate {
  readonly starts: readonly PlannedStart[];
  /** Runs that end with it: their open children are notified. */
  readonly runsOver: readonly number[];
}

const none: readonly never[] = [];
const noTimers: ReadonlyMap<string, unknown> = new Map();

type OwnRows = Pick<Rows, "messages" | "effects" | "requests" | "notes">;

/**
 * All changes of one instance in one commit: decisions in their order, each based on the result of the one before. They
 * are merged into one update, since two rows for one target in one statement would lose one silently.
 */
export class InstanceUpdate {
  readonly lifecycle: LifecycleModel;
  readonly row: InstanceRow;
  /** The instance as the decisions so far leave it. */
  instance: InstanceModel;
  readonly newId: () => string;
  readonly #draft: UpdateDraft;
  /** Messages, effects, requests and notes: made when there are any, since most updates are one plain move. */
  #rows: OwnRows | undefined;
  #failureRows: FailureRows | undefined;
  #starts: readonly PlannedStart[] = none;
  #runsOver: readonly number[] = none;
  #failedMove: FailedMove | undefined;
  /** Its failure, with the version of the move; null if it is not failed. */
  #failureColumns: Map<number, FailureColumn | null> | undefined;
  /** The outcomes of callbacks, by id; and how many of them had waited. */
  #callbacks: Map<string, SettledCallback> | undefined;

  constructor(lifecycle: LifecycleModel, row: InstanceRow, newId: () => string) {
    this.lifecycle = lifecycle;
    this.row = row;
    this.#draft = newDraft(row);
    this.instance = modelOf(row);
    this.newId = newId;
  }

  /** All that was decided, in its order. */
  decisions: readonly Decision[] = none;
  /** Decisions with a `before` hook or an `onMove`, which hold in a transaction only. */
  hooked: readonly Decision[] = none;
  /** The timers of those of them that were due, and the callbacks that led to them. */
  readonly timersOfHooks = new Map<Decision, string>();
  /** Due events and callbacks whose hook threw in an earlier try of the same transaction, by the ids of timer or callback. */
  failedTimers: ReadonlyMap<string, unknown> = noTimers;
  /** Due events that failed and are delayed, or ended, with this update. */
  failedEvents: readonly FailedEvent[] = none;
  /** Why this update could not be decided: then it is not written. */
  error: unknown;
  /** Callbacks that no state has accepted yet. */
  waiting: readonly WaitingCallback[] = none;
  /**
   * How far callbacks may be applied: `passing`, together with another event, not with hooks, which could fail that
   * event; `due`, with something due, also with hooks, since they come after it; `looking`, with nothing else, also
   * those that have failed before.
   */
  matching: "passing" | "due" | "looking" = "passing";

  /** Runs what decides; a throw is kept as the failure of this update alone. */
  decide(decides: () => void): void {
    if (this.error !== undefined) return;
    try {
      decides();
    } catch (thrown) {
      this.error = thrown;
    }
  }

  get #lazyRows(): OwnRows {
    this.#rows ??= { messages: [], effects: [], requests: [], notes: [] };
    return this.#rows;
  }

  /** Dead letters and alerts that are written with it: created on demand. */
  get failures(): FailureRows {
    this.#failureRows ??= new FailureRows(this);
    return this.#failureRows;
  }

  /** When it was written, with the step that it may have been granted. */
  grantedAtMs: number | undefined;

  /** The task that a granted step is, as a claim would have given it. */
  get grantedTask(): ClaimedTask | undefined {
    const [token, atMs] = [this.#draft.step?.grant?.token, this.grantedAtMs];
    if (this.#draft.step === null || token === undefined || atMs === undefined) return undefined;
    const { instance, row } = this;
    const [hasChildren, alarms] = [this.#draft.hasChildren, row.alarms + (this.#draft.alarmed ? 1 : 0)];
    const inbox = row.inbox - this.#settledCallbacks;
    return {
      lease: { taskId: instance.id, token },
      kind: "step",
      lane: this.#draft.step.lane,
      attempt: 1,
      priority: this.#draft.step.priority,
      visit: instance.visit,
      work: null,
      payload: this.decisions.findLast((one) => one.step !== null)?.payload,
      lifecycle: this.lifecycle,
      row: rowAfter(row, instance, { atMs, alarms, inbox, hasChildren }),
    };
  }

  /** Whether there is anything to write. */
  get changes(): boolean {
    return this.instance.version > this.row.version || this.#draft.alarmed || this.#draft.settledMs !== null;
  }

  /** Takes a decision up. Throws `value_not_serializable` before anything is noted. */
  add(decision: Decision, origin: MoveOrigin, output: StepOutput = {}, grant: GrantDecider = () => null): void {
    const { id } = this.instance;
    const { version, visit } = decision.instance;
    const journal = journalRow(id, this.lifecycle, decision, origin, output.messages?.length || null);
    const messages = messageRows(output.messages, this.lifecycle, decision, this.newId);
    const effects = effectRows(decision, this.newId);
    const changesData = decision.patch !== null || decision.cleared !== null;
    const dataText = changesData ? storableText(decision.instance.data, "The data") : this.#draft.dataText;
    this.#draft.journal = [...this.#draft.journal, journal];
    if (messages.length > 0) this.#lazyRows.messages.push(...messages);
    if (effects.length > 0) this.#lazyRows.effects.push(...effects);
    if (output.sends !== undefined && output.sends.length > 0)
      this.#lazyRows.effects.push(...deliveriesOf(output.sends, { id, visit, run: this.instance.run }, this.newId));
    if (output.starts !== undefined && output.starts.length > 0) this.#addChildren(output.starts, version);
    this.#end(decision);
    if (decision.timers.length > 0) {
      this.#draft.timers = [
        ...this.#draft.timers,
        ...decision.timers.map((timer) => timerRow(id, this.newId(), visit, timer)),
      ];
      this.#draft.deadlineAfterMs = deadlineAfterMs(decision) ?? this.#draft.deadlineAfterMs;
    }
    if (decision.step !== null) {
      const holder = grant(decision.step);
      this.#draft.step = {
        lane: decision.step.lane,
        priority: decision.step.priority,
        afterMs: null,
        atMs: null,
        grant: holder === null ? null : { ...holder, token: newToken() },
        key: decision.step.key,
      };
    }
    this.#draft.dataText = dataText;
    if (origin.lease !== null) {
      this.#draft.token = origin.lease.token;
      this.#draft.isLapsed = origin.lease.lapsed === true;
    }
    this.decisions = [...this.decisions, decision];
    if (decision.before !== undefined || (this.lifecycle.onMove !== undefined && !isRename(decision)))
      this.hooked = [...this.hooked, decision];
    if (decision.deadLetter)
      this.failures.addDeadLetter(deadLetterOfMove(this.newId(), this.lifecycle, decision, origin));
    if (isFailure(this.lifecycle, decision) || endsFailed(decision)) this.#failedMove = { decision, origin };
    else if (decision.leaves) this.#resolveFailure(decision);
    if (decision.leaves) this.#resolveEvents(decision);
    this.#noteFailure(decision);
    this.instance = decision.instance;
  }

  /** A move into a failure stores its reason in the row of the instance, and a move out of it clears that. */
  #noteFailure(decision: Decision): void {
    const { version, outcome } = decision.instance;
    const isBadEnd = outcome === "failure" && this.instance.outcome === null;
    if (!isBadEnd && !isFailure(this.lifecycle, decision)) {
      if (decision.leaves && this.#failureColumns !== undefined) this.#failureColumns.set(version, null);
      return;
    }
    this.#failureColumns ??= new Map();
    this.#failureColumns.set(version, failureColumn(decision));
  }

  /** The failure of the instance with its move `version`, or before it; null if it is not failed. */
  failureAt({ version, failedFrom, outcome }: InstanceModel, atMs: number): FailureOf | null {
    if (failedFrom === null && outcome !== "failure") return null;
    const own = [...(this.#failureColumns ?? none)].findLast(
      ([withDeadline, failure]) => withDeadline <= version && failure !== null,
    )?.[1];
    if (own != null) return { ...own, atMs };
    const { failure, failed_ms: failedMs } = this.row;
    return failure === null ? null : { ...failure, atMs: failedMs! };
  }

  /** It continues, or is discarded: its dead letter is decided. */
  #resolveFailure(decision: Decision): void {
    const { event, actor, reason } = decision;
    if (decision.to !== failed) this.#failedMove = undefined;
    if (decision.deadLetter || !this.#mayHaveLetter(decision)) return;
    this.failures.dropLetters(); // Of an earlier move of this update, which needs no decision any more.
    this.failures.decideLetters(event === "discard" ? "discarded" : "requeued", actor, reason ?? `\`${event}\``);
  }

  /** Decides the dead letters of failed events that belonged to the visit, or the run, that ends. */
  #resolveEvents({ event, actor, endsRun }: Decision): void {
    // Each of the failures after which an event becomes a dead letter is counted among the alarms.
    const mayHaveLetter = this.row.alarms >= standardRetry.maxAttempts;
    if (!mayHaveLetter && this.#failureRows === undefined) return;
    this.failures.resolveEvents(endsRun ? "run" : "visit", mayHaveLetter, actor, `\`${event}\` came first`);
  }

  /** Whether a dead letter about the instance can be open: in most lifecycles, only while it is failed. */
  #mayHaveLetter({ event, from, to }: Decision): boolean {
    if (event === "restart" || event === "discard") return true;
    if (this.row.state === failed && from === failed) return to !== failed;
    const { hasDeadLetterEdges, states } = this.lifecycle;
    return hasDeadLetterEdges || (from !== null && states.get(from)?.release !== undefined);
  }

  /** The failure that this update ends with: what follows must be decided before it is written. */
  get failedMove(): FailedMove | undefined {
    return this.#failedMove;
  }

  /** The moves of this update, as the journal will have them. */
  get moves(): readonly JournalRow[] {
    return this.#draft.journal;
  }

  /** It stays failed, and its recovery ended with the move: it is scheduled again. */
  get lacksRecovery(): boolean {
    const { instance, row } = this;
    if (this.#failedMove !== undefined || this.#draft.step !== null || this.#draft.abandoned || !this.#draft.endsTask)
      return false;
    return row.state === failed && instance.state === failed && this.lifecycle.builtIns;
  }

  /** The recovery of a failed instance has failed permanently: it stays failed, for a person to decide. */
  abandonRecovery(
    { lease, lane, attempt }: ClaimedTask,
    letter: DeadLetterRow,
    { what, payload }: AttemptFailure,
  ): void {
    this.#draft.token = lease.token;
    this.#draft.isLapsed = what === "lapsed";
    this.#draft.endsTask = true;
    this.#draft.abandoned = true;
    this.failures.giveUp("recovery_failed", letter);
    this.#note({ what, ...lease, lane, attempt, detailText: JSON.stringify(payload) });
  }

  /** Puts the step of the state `failed` into its lane. */
  recoverLater(when: Pick<NextStep, "afterMs" | "atMs">): void {
    this.#draft.step = { lane: laneOf(this.lifecycle, failed), priority: 0, ...when, grant: null };
    this.#draft.alarmed ||= this.instance.version === this.row.version;
  }

  /** What a decision ends: the task, the visit's timers, or with the run everything that is pending. */
  #end(decision: Decision): void {
    if (decision.endsTask) {
      this.#draft.endsTask = true;
      this.#draft.step = null;
    }
    if (decision.leaves) {
      this.#draft.leaves = true;
      if (this.#draft.timers.length > 0)
        this.#draft.timers = this.#draft.timers.filter((timer) => timer.visit === null);
    }
    if (decision.endsRun) {
      this.#draft.endsRun = true;
      this.#draft.timers = none;
      if (this.#draft.hasChildren) this.#runsOver = [...this.#runsOver, this.instance.run];
      this.#draft.hasChildren = false;
    }
  }

  /** Children that start with a move. */
  #addChildren(starts: readonly ChildStart[], version: number): void {
    this.#starts = [...this.#starts, ...starts.map((child) => named(child, `${version}`))];
    this.#draft.hasChildren = true;
  }

  /** Children to start, or to notify of an end; undefined for most. */
  get family(): FamilyUpdate | undefined {
    if (this.#starts.length === 0 && this.#runsOver.length === 0) return undefined;
    return { starts: this.#starts, runsOver: this.#runsOver };
  }

  /** An event for later. */
  addTimer(timer: Pick<TimerRow, "id" | "afterMs" | "atMs" | "event" | "payloadText" | "actor" | "reason">): void {
    const sent = { kind: "send", visit: null, attempts: 0, requestId: null } as const;
    this.#draft.timers = [...this.#draft.timers, { ...timer, ...sent, instanceId: this.instance.id }];
    this.#draft.alarmed = true;
  }

  /** An event that was due and failed is due again in a while. */
  retryEvent(timer: DueTimer, afterMs: number): void {
    const { kind, visit, event, actor, reason, request_id: requestId } = timer;
    const payloadText = timer.has_payload ? JSON.stringify(timer.payload) : null;
    const again = { kind, visit, event, payloadText, actor, reason, requestId, attempts: timer.attempts + 1 };
    this.#draft.timers = [
      ...this.#draft.timers,
      { ...again, id: this.newId(), instanceId: this.instance.id, afterMs, atMs: null },
    ];
    this.#draft.alarmed = true;
  }

  /** Timers due up to this moment are covered by the decisions. */
  settleTimers(asOfMs: number): void {
    this.#draft.settledMs = asOfMs;
    this.#draft.alarmed = true;
  }

  /** Sets the outcome of a callback; the last one counts. */
  settleCallback(settled: Omit<SettledCallback, "instanceId">): void {
    this.#callbacks ??= new Map();
    this.#callbacks.set(settled.id, { ...settled, instanceId: this.instance.id });
    this.#draft.alarmed = true;
  }

  /** How many waiting callbacks were settled. One that is accepted long after it came had not waited. */
  get #settledCallbacks(): number {
    let count = 0;
    for (const { status, wasWaiting } of this.#callbacks?.values() ?? none)
      if (wasWaiting && status !== "waiting") count++;
    return count;
  }

  /** The row is locked: what falls due before the commit comes after these decisions. */
  markLocked(): void {
    this.#draft.lockedMs = this.row.now_ms;
  }

  /** An event that was refused at its time; `requestId` is the timer's, if any. */
  noteRefusal(detail: unknown, requestId = this.newId()): void {
    this.note("refused", detail, requestId);
  }

  /** The result of a call that does not move the instance, for the history. */
  note(what: "refused" | "asked", detail: unknown, requestId: string): void {
    this.#note({
      what,
      taskId: requestId,
      token: 0,
      lane: null,
      attempt: null,
      detailText: storableText(detail, "A note"),
    });
  }

  /** An event that failed, for the history; `attempt` counts its failures. */
  noteFailure(failure: { requestId: string; attempt: number; detail: unknown }): void {
    const { requestId: taskId, attempt, detail } = failure;
    const detailText = storableText(detail, "A note");
    this.#note({ what: "failed", taskId, token: attempt, lane: null, attempt, detailText });
  }

  #note(note: Omit<NoteRow, "instanceId">): void {
    this.#lazyRows.notes.push({ instanceId: this.instance.id, ...note });
    this.#draft.alarmed = true;
  }

  /** A failure that was left to its parent is reported after all. */
  reportFailure(letter: DeadLetterRow): void {
    this.failures.giveUp("instance_failed", letter);
    this.#draft.alarmed = true;
  }

  /** The alerts that are written with it. */
  get alerts(): readonly AlertRow[] {
    return this.#failureRows?.alerts ?? none;
  }

  /** The dead letters that are written with it. */
  get deadLetters(): readonly DeadLetterRow[] {
    return this.#failureRows?.deadLetters ?? none;
  }

  /** It has failed, and a recovery will follow. */
  get recovers(): boolean {
    return this.#failedMove !== undefined && this.#draft.step !== null;
  }

  addRequest(key: string, hash: string): void {
    this.#lazyRows.requests.push({ instanceId: this.instance.id, key, hash, version: this.instance.version });
  }

  /** A worker's report is part of it. */
  get isFenced(): boolean {
    return this.#draft.token !== null;
  }

  /** The lanes in which this update puts work. A step that was granted waits for no worker. */
  get lanes(): readonly string[] {
    const lanes = this.#rows?.effects.map((effect) => effect.lane) ?? none;
    const isGranted = this.grantedAtMs !== undefined && this.#draft.step?.grant != null;
    return this.#draft.step === null || isGranted ? lanes : [...lanes, this.#draft.step.lane];
  }

  /** The instance after a decision that was written at `atMs`: a new deadline is counted from there. */
  at(answer: InstanceModel, atMs: number): InstanceModel {
    if (answer.run === this.row.run && this.#draft.deadlineAfterMs === null) return answer;
    return {
      ...answer,
      deadlineAtMs: this.#draft.deadlineAfterMs === null ? null : atMs + this.#draft.deadlineAfterMs,
    };
  }

  /** About how much text it takes to write it. */
  get size(): number {
    let size = this.#draft.dataText?.length ?? 0;
    for (const move of this.#draft.journal) size += (move.payloadText?.length ?? 0) + (move.patchText?.length ?? 0);
    for (const message of this.#rows?.messages ?? none) size += message.payloadText.length;
    for (const effect of this.#rows?.effects ?? none) size += effect.workText.length;
    return size;
  }

  get #failureText(): string | null {
    const last = [...(this.#failureColumns?.values() ?? none)].at(-1) ?? null;
    return last === null ? null : JSON.stringify(last);
  }

  /** The update of the instance; its other rows are added to `rows`. */
  plan(rows: Rows): MovedInstance {
    const { journal, timers } = this.#draft;
    for (let index = 0; index < journal.length - 1; index++) rows.earlier.push(journal[index]!);
    for (const timer of timers) rows.timers.push(timer);
    if (this.#rows !== undefined) {
      rows.messages.push(...this.#rows.messages);
      rows.effects.push(...this.#rows.effects);
      rows.requests.push(...this.#rows.requests);
      rows.notes.push(...this.#rows.notes);
    }
    if (this.#failureRows !== undefined) {
      rows.deadLetters.push(...this.#failureRows.deadLetters);
      rows.letterDecisions.push(...this.#failureRows.letterDecisions);
      rows.alerts.push(...this.#failureRows.alerts);
    }
    if (this.#callbacks !== undefined) rows.callbacks.push(...this.#callbacks.values());
    const drafted = {
      lifecycle: this.lifecycle,
      row: this.row,
      instance: this.instance,
      draft: this.#draft,
      lastEvent: this.decisions.at(-1)?.event,
      settledCallbacks: this.#settledCallbacks,
      failureText: this.#failureText,
    };
    rows.checks.push(...checksOf(drafted));
    return movedInstance(drafted);
  }
}
