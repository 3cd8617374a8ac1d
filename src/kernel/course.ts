import { storableText } from "../base/json.ts";
import { checkedText } from "../base/text.ts";
import type { InstanceModel } from "../definition/instance.ts";
import type { LifecycleModel } from "../definition/model.ts";
import type { Decision, PlannedTimer } from "../definition/move.ts";
import type { RefusalRow } from "../store/attempts.ts";
import type { DeadLetterRow } from "../store/dead-letters.ts";
import type { Grant, InstanceRow, LastMove, MovedInstance, NextStep } from "../store/instances.ts";
import type { JournalRow } from "../store/journal.ts";
import type { MessageRow } from "../store/messages.ts";
import type { RequestRow } from "../store/requests.ts";
import type { EffectRow } from "../store/tasks.ts";
import type { TimerRow } from "../store/timers.ts";
import { deadLetterOf, type Failing } from "./failing.ts";
import type { Taken } from "./take.ts";

/** Who made a move, for the journal. */
export interface Maker {
  readonly source: JournalRow["source"];
  readonly requestId: string | null;
  readonly lease: { readonly taskId: string; readonly token: number; readonly lapsed?: boolean } | null;
}

/** A message that a step publishes with its outcome. */
export interface Outgoing {
  readonly type: string;
  readonly payload: unknown;
}

/** What a set of decisions writes beside their instances, the last move of each and its next step. */
export interface Rows {
  /** Moves before the last one of their instance. */
  readonly earlier: JournalRow[];
  readonly effects: EffectRow[];
  readonly timers: TimerRow[];
  readonly messages: MessageRow[];
  readonly requests: RequestRow[];
  readonly refusals: RefusalRow[];
  readonly deadLetters: DeadLetterRow[];
}

export function noRows(): Rows {
  return { earlier: [], effects: [], timers: [], messages: [], requests: [], refusals: [], deadLetters: [] };
}

/** Whether the worker that makes a move gets the next step with it. */
export type Granting = (step: { readonly lane: string; readonly priority: number }) => Grant | null;

const none: readonly never[] = [];

/**
 * All that happens to one instance in one commit: decisions in their order, each made on what the one before left. They
 * are folded into one update, since two rows for one target in one statement would lose one silently.
 */
export class Course {
  readonly lifecycle: LifecycleModel;
  readonly row: InstanceRow;
  /** The instance as the decisions so far leave it. */
  instance: InstanceModel;
  readonly #newId: () => string;
  readonly #journal: JournalRow[] = [];
  /** Messages, effects, requests and refusals: made when there are any, since most courses are one plain move. */
  #rest: Rows | undefined;
  #timers: readonly TimerRow[] = none;
  #step: NextStep | null = null;
  #leaves = false;
  #endsTask = false;
  #endsRun = false;
  /** The data as the decisions so far leave it; null while it is as it was read. */
  #dataText: string | null = null;
  #token: number | null = null;
  #lapsed = false;
  #settledMs: number | null = null;
  #heldMs: number | null = null;
  #alarmed = false;
  #deadlineAfterMs: number | null = null;

  constructor(lifecycle: LifecycleModel, row: InstanceRow, newId: () => string) {
    this.lifecycle = lifecycle;
    this.row = row;
    this.instance = modelOf(row);
    this.#newId = newId;
  }

  /** Decisions with a `before` hook, which holds in a transaction only. */
  readonly hooked: Decision[] = [];
  /** What kept this course from being decided: nothing of it is written. */
  failure: unknown;

  /** Runs what decides; a throw is kept as the failure of this course alone. */
  attempt(decides: () => void): void {
    if (this.failure !== undefined) return;
    try {
      decides();
    } catch (thrown) {
      this.failure = thrown;
    }
  }

  /** Whether there can be a step's task: the state that was read works, or is of a definition that is not known here. */
  get #hadTask(): boolean {
    const state = this.lifecycle.states.get(this.row.state);
    return state === undefined || state.kind === "work";
  }

  get #more(): Rows {
    this.#rest ??= noRows();
    return this.#rest;
  }

  /** The step that was granted with it, once it is written. */
  granted: { readonly token: number; readonly atMs: number } | undefined;

  /** The task that a granted step is, as a claim would have given it. */
  get grantedTask(): Taken | undefined {
    if (this.granted === undefined || this.#step === null) return undefined;
    const { token, atMs } = this.granted;
    const { instance, row } = this;
    return {
      lease: { taskId: instance.id, token },
      kind: "step",
      lane: this.#step.lane,
      attempt: 1,
      priority: this.#step.priority,
      visit: instance.visit,
      work: null,
      lifecycle: this.lifecycle,
      row: {
        id: row.id,
        lifecycle: row.lifecycle,
        definition: instance.definition,
        key: row.key,
        state: instance.state,
        version: instance.version,
        visit: instance.visit,
        run: instance.run,
        data: instance.data as Record<string, unknown>,
        deadline_ms: row.deadline_ms,
        next_due_ms: null, // Whoever writes next looks at the row's own.
        alarms: row.alarms + (this.#alarmed ? 1 : 0),
        failed_from: instance.failedFrom,
        failed_visit: instance.failedVisit,
        outcome: instance.outcome,
        closed_ms: null,
        created_ms: row.created_ms,
        moved_ms: atMs,
        now_ms: atMs,
      },
    };
  }

  /** Whether there is anything to write. */
  get changes(): boolean {
    return this.instance.version > this.row.version || this.#alarmed || this.#settledMs !== null;
  }

  /** Takes a decision up. Throws `value_unstorable` before anything is noted. */
  add(decision: Decision, maker: Maker, outgoing: readonly Outgoing[] = [], grant: Granting = () => null): void {
    const { id } = this.instance;
    const { version, visit } = decision.instance;
    const journal = journalRow(id, this.lifecycle, decision, maker);
    const messages =
      outgoing.length === 0
        ? none
        : outgoing.map((one, place): MessageRow => {
            const type = checkedText(one.type, "The type of a message", "value_unstorable");
            const payloadText = storableText(one.payload, `The message \`${type}\``);
            const lifecycle = this.lifecycle.name;
            return { id: this.#newId(), instanceId: id, lifecycle, type, payloadText, version, place };
          });
    const effects =
      decision.effects.length === 0
        ? none
        : decision.effects.map((effect): EffectRow => {
            const { lane, ...about } = effect;
            // Storable, since the journal row is; and not held to its size, since it is a little more than the payload.
            const workText = JSON.stringify({ ...about, payload: about.payload ?? null, version });
            return { id: this.#newId(), instanceId: id, lane, priority: 0, visit, workText };
          });
    const changesData = decision.patch !== null || decision.cleared !== null;
    const dataText = changesData ? storableText(decision.instance.data, "The data") : this.#dataText;
    this.#journal.push(journal);
    if (messages.length > 0) this.#more.messages.push(...messages);
    if (effects.length > 0) this.#more.effects.push(...effects);
    this.#end(decision);
    if (decision.timers.length > 0) {
      this.#timers = [...this.#timers, ...decision.timers.map((timer) => timerRow(id, this.#newId(), visit, timer))];
      this.#deadlineAfterMs = deadlineAfterMs(decision) ?? this.#deadlineAfterMs;
    }
    if (decision.step !== null)
      this.#step = {
        lane: decision.step.lane,
        priority: decision.step.priority,
        afterMs: null,
        atMs: null,
        grant: grant(decision.step),
      };
    this.#dataText = dataText;
    if (maker.lease !== null) {
      this.#token = maker.lease.token;
      this.#lapsed = maker.lease.lapsed === true;
    }
    if (decision.before !== undefined) this.hooked.push(decision);
    this.instance = decision.instance;
  }

  /** What a decision ends: the task, the visit's timers, or with the run everything that was to come. */
  #end(decision: Decision): void {
    if (decision.endsTask) {
      this.#endsTask = true;
      this.#step = null;
    }
    if (decision.leaves) {
      this.#leaves = true;
      if (this.#timers.length > 0) this.#timers = this.#timers.filter((timer) => timer.visit === null);
    }
    if (decision.endsRun) {
      this.#endsRun = true;
      this.#timers = none;
    }
  }

  /** An event for later. */
  delay(timer: Pick<TimerRow, "id" | "afterMs" | "atMs" | "event" | "payloadText" | "actor" | "reason">): void {
    this.#timers = [...this.#timers, { ...timer, instanceId: this.instance.id, kind: "send", visit: null }];
    this.#alarmed = true;
  }

  /** Timers due up to this moment are dealt with by the decisions taken up. */
  settle(asOfMs: number): void {
    this.#settledMs = asOfMs;
    this.#alarmed = true;
  }

  /** The row is locked: what falls due before the commit comes after what is decided here. */
  hold(): void {
    this.#heldMs = this.row.now_ms;
  }

  refuse(timerId: string, detail: unknown): void {
    this.#more.refusals.push({
      instanceId: this.instance.id,
      timerId,
      detailText: storableText(detail, "The refusal"),
    });
  }

  /** Its step was given up: a dead letter tells of it, written with the move that it caused. */
  bury(taken: Taken, failing: Failing): void {
    this.#more.deadLetters.push(deadLetterOf(this.#newId(), taken, failing));
  }

  answer(key: string, hash: string): void {
    this.#more.requests.push({ instanceId: this.instance.id, key, hash, version: this.instance.version });
  }

  /** A worker's report is part of it. */
  get fenced(): boolean {
    return this.#token !== null;
  }

  /** The lanes in which work waits by this course. A step that was granted waits for nobody. */
  get lanes(): readonly string[] {
    const lanes = this.#rest?.effects.map((effect) => effect.lane) ?? none;
    return this.#step === null || this.granted !== undefined ? lanes : [...lanes, this.#step.lane];
  }

  /** The instance after a decision that was written at `atMs`: the deadline of a new run is counted from there. */
  at(answer: InstanceModel, atMs: number): InstanceModel {
    if (answer.run === this.row.run) return answer;
    return { ...answer, deadlineAtMs: this.#deadlineAfterMs === null ? null : atMs + this.#deadlineAfterMs };
  }

  /** About how much text it takes to write it. */
  get size(): number {
    let size = this.#dataText?.length ?? 0;
    for (const move of this.#journal) size += (move.payloadText?.length ?? 0) + (move.patchText?.length ?? 0);
    for (const message of this.#rest?.messages ?? none) size += message.payloadText.length;
    for (const effect of this.#rest?.effects ?? none) size += effect.workText.length;
    return size;
  }

  /** The update of the instance; its other rows are added to `rows`. */
  plan(rows: Rows): MovedInstance {
    const { instance, row } = this;
    const last = this.#journal.at(-1);
    for (let index = 0; index < this.#journal.length - 1; index++) rows.earlier.push(this.#journal[index]!);
    for (const timer of this.#timers) rows.timers.push(timer);
    if (this.#rest !== undefined) {
      rows.messages.push(...this.#rest.messages);
      rows.effects.push(...this.#rest.effects);
      rows.requests.push(...this.#rest.requests);
      rows.refusals.push(...this.#rest.refusals);
      rows.deadLetters.push(...this.#rest.deadLetters);
    }
    return {
      id: instance.id,
      expectedVersion: row.version,
      expectedAlarms: row.alarms,
      token: this.#token,
      lapsed: this.#lapsed,
      settledMs: this.#settledMs ?? this.#heldMs,
      definition: instance.definition,
      state: instance.state,
      shelf: shelfOf(this.lifecycle, instance.state),
      version: instance.version,
      alarms: row.alarms + (this.#alarmed ? 1 : 0),
      visit: instance.visit,
      run: instance.run,
      dataText: this.#dataText,
      deadlineAfterMs: this.#deadlineAfterMs,
      failedFrom: instance.failedFrom,
      failedVisit: instance.failedVisit,
      outcome: instance.outcome,
      keyHeld: !(this.lifecycle.job && instance.outcome !== null),
      leaves: this.#leaves,
      endsRun: this.#endsRun,
      dropsTask: this.#endsTask && this.#step === null && this.#hadTask,
      dueAfterMs: earliest(this.#timers, "afterMs"),
      dueAtMs: earliest(this.#timers, "atMs"),
      move: last ?? noMove,
      from: this.#journal.length > 1 ? last!.from : null,
      reported: last?.token != null,
      step: this.#step,
    };
  }
}

const noMove: LastMove = {
  event: null,
  source: "pawl",
  actor: null,
  reason: null,
  payloadText: null,
  patchText: null,
  cleared: null,
  requestId: null,
};

export function journalRow(id: string, lifecycle: LifecycleModel, decision: Decision, maker: Maker): JournalRow {
  return {
    instanceId: id,
    version: decision.instance.version,
    lifecycle: lifecycle.name,
    definition: lifecycle.version,
    event: decision.event,
    from: decision.from,
    to: decision.to,
    source: maker.source,
    actor: decision.actor,
    reason: decision.reason,
    payloadText:
      decision.payload === undefined ? null : storableText(decision.payload, `The payload of \`${decision.event}\``),
    patchText: decision.patch === null ? null : storableText(decision.patch, "The data"),
    cleared: storableKeys(decision.cleared),
    requestId: maker.requestId,
    taskId: maker.lease?.taskId ?? null,
    token: maker.lease?.token ?? null,
  };
}

function storableKeys(keys: readonly string[] | null): readonly string[] | null {
  if (keys !== null) storableText(keys, "What is removed from the data");
  return keys;
}

/** The state, unless a worker works on it. */
export function shelfOf(lifecycle: LifecycleModel, state: string): string | null {
  return lifecycle.states.get(state)?.kind === "work" ? null : state;
}

/** The first of the moments that timers name in one of their two ways. */
export function earliest<By extends string>(
  timers: readonly { readonly [key in By]: number | null }[],
  by: By,
): number | null {
  let first: number | null = null;
  for (const timer of timers) {
    const at = timer[by];
    if (at !== null && (first === null || at < first)) first = at;
  }
  return first;
}

/** A timer that comes with a move, as a row. */
export function timerRow(instanceId: string, id: string, visit: number, timer: PlannedTimer): TimerRow {
  return {
    instanceId,
    id,
    kind: timer.kind,
    visit: timer.kind === "timeout" ? visit : null,
    afterMs: timer.afterMs,
    atMs: null,
    event: timer.event,
    payloadText: timer.payload === undefined ? null : storableText(timer.payload, "The timer"),
    actor: null,
    reason: null,
  };
}

/** The deadline of a run that begins with this decision. */
export function deadlineAfterMs(decision: Decision): number | null {
  return decision.timers.find((timer) => timer.kind === "deadline")?.afterMs ?? null;
}

export function modelOf(row: InstanceRow): InstanceModel {
  return {
    id: row.id,
    lifecycle: row.lifecycle,
    definition: row.definition,
    key: row.key,
    state: row.state,
    version: row.version,
    visit: row.visit,
    run: row.run,
    data: row.data,
    deadlineAtMs: row.deadline_ms,
    failedFrom: row.failed_from,
    failedVisit: row.failed_visit,
    outcome: row.outcome,
    createdAtMs: row.created_ms,
  };
}
