import { storableText } from "../base/json.ts";
import type { Decision } from "../definition/decide.ts";
import type { InstanceModel } from "../definition/instance.ts";
import type { LifecycleModel } from "../definition/model.ts";
import type { RefusalRow } from "../store/attempts.ts";
import type { InstanceRow, MovedInstance } from "../store/instances.ts";
import type { JournalRow } from "../store/journal.ts";
import type { MessageRow } from "../store/messages.ts";
import type { RequestRow } from "../store/requests.ts";
import type { EffectRow, StepRow } from "../store/tasks.ts";
import type { TimerRow } from "../store/timers.ts";

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

/** What a set of decisions writes into each table. */
export interface Rows {
  readonly journal: JournalRow[];
  readonly steps: StepRow[];
  readonly effects: EffectRow[];
  readonly timers: TimerRow[];
  readonly messages: MessageRow[];
  readonly requests: RequestRow[];
  readonly refusals: RefusalRow[];
}

export function noRows(): Rows {
  return { journal: [], steps: [], effects: [], timers: [], messages: [], requests: [], refusals: [] };
}

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
  readonly #rows = noRows();
  #timers: TimerRow[] = [];
  #step: StepRow | null = null;
  #leaves = false;
  #endsRun = false;
  #dataChanged = false;
  #token: number | null = null;
  #lapsed = false;
  #settledMs: number | null = null;
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

  /** Whether there is anything to write. */
  get changes(): boolean {
    return this.instance.version > this.row.version || this.#alarmed || this.#settledMs !== null;
  }

  /** Takes a decision up. Throws `value_unstorable` before anything is noted. */
  add(decision: Decision, maker: Maker, outgoing: readonly Outgoing[] = []): void {
    const { id } = this.instance;
    const { version, visit } = decision.instance;
    const journal = journalRow(id, this.lifecycle, decision, maker);
    const messages = outgoing.map((one, place): MessageRow => {
      const payloadText = storableText(one.payload, `The message \`${one.type}\``);
      const lifecycle = this.lifecycle.name;
      return { id: this.#newId(), instanceId: id, lifecycle, type: one.type, payloadText, version, place };
    });
    const effects = decision.effects.map((effect): EffectRow => {
      const { lane, ...about } = effect;
      const workText = storableText({ ...about, payload: about.payload ?? null, version }, "The after-effect");
      return { id: this.#newId(), instanceId: id, lane, priority: 0, visit, workText };
    });
    this.#rows.journal.push(journal);
    this.#rows.messages.push(...messages);
    this.#rows.effects.push(...effects);
    this.#end(decision);
    for (const timer of decision.timers) {
      if (timer.kind === "deadline") this.#deadlineAfterMs = timer.afterMs;
      this.#timers.push({
        instanceId: id,
        id: this.#newId(),
        kind: timer.kind,
        visit: timer.kind === "timeout" ? visit : null,
        afterMs: timer.afterMs,
        atMs: null,
        event: timer.event,
        payloadText: timer.payload === undefined ? null : storableText(timer.payload, "The timer"),
        actor: null,
        reason: null,
      });
    }
    if (decision.step !== null) this.#step = { instanceId: id, ...decision.step, visit, dueAtMs: null };
    if (decision.patch !== null || decision.cleared !== null) this.#dataChanged = true;
    if (maker.lease !== null) {
      this.#token = maker.lease.token;
      this.#lapsed = maker.lease.lapsed === true;
    }
    if (decision.before !== undefined) this.hooked.push(decision);
    this.instance = decision.instance;
  }

  /** What a decision ends: the visit's task and timers, or with the run everything that was to come. */
  #end(decision: Decision): void {
    if (decision.leaves) {
      this.#leaves = true;
      this.#step = null;
      this.#timers = this.#timers.filter((timer) => timer.visit === null);
    }
    if (decision.endsRun) {
      this.#endsRun = true;
      this.#timers = [];
    }
  }

  /** An event for later. */
  delay(timer: Pick<TimerRow, "id" | "afterMs" | "atMs" | "event" | "payloadText" | "actor" | "reason">): void {
    this.#timers.push({ ...timer, instanceId: this.instance.id, kind: "send", visit: null });
    this.#alarmed = true;
  }

  /** Timers due up to this moment are dealt with by the decisions taken up. */
  settle(asOfMs: number): void {
    this.#settledMs = asOfMs;
    this.#alarmed = true;
  }

  refuse(timerId: string, detail: unknown): void {
    this.#rows.refusals.push({
      instanceId: this.instance.id,
      timerId,
      detailText: storableText(detail, "The refusal"),
    });
  }

  answer(key: string, hash: string): void {
    this.#rows.requests.push({ instanceId: this.instance.id, key, hash, version: this.instance.version });
  }

  /** A worker's report is part of it. */
  get fenced(): boolean {
    return this.#token !== null;
  }

  /** The lanes that get work by this course. */
  get lanes(): readonly string[] {
    const lanes = this.#rows.effects.map((effect) => effect.lane);
    return this.#step === null ? lanes : [...lanes, this.#step.lane];
  }

  /** The update of the instance; its other rows are added to `rows`. */
  plan(rows: Rows): MovedInstance {
    const { instance, row } = this;
    rows.journal.push(...this.#rows.journal);
    rows.messages.push(...this.#rows.messages);
    rows.effects.push(...this.#rows.effects);
    rows.requests.push(...this.#rows.requests);
    rows.refusals.push(...this.#rows.refusals);
    rows.timers.push(...this.#timers);
    if (this.#step !== null) rows.steps.push(this.#step);
    return {
      id: instance.id,
      expectedVersion: row.version,
      expectedAlarms: row.alarms,
      token: this.#token,
      lapsed: this.#lapsed,
      settledMs: this.#settledMs,
      definition: instance.definition,
      state: instance.state,
      shelf: shelfOf(this.lifecycle, instance.state),
      version: instance.version,
      alarms: row.alarms + (this.#alarmed ? 1 : 0),
      visit: instance.visit,
      run: instance.run,
      dataText: this.#dataChanged ? storableText(instance.data, "The data") : null,
      deadlineAfterMs: this.#deadlineAfterMs,
      failedFrom: instance.failedFrom,
      failedVisit: instance.failedVisit,
      outcome: instance.outcome,
      keyHeld: !(this.lifecycle.job && instance.outcome !== null),
      leaves: this.#leaves,
      endsRun: this.#endsRun,
      works: this.#step !== null,
      dueAfterMs: earliest(this.#timers.map((timer) => timer.afterMs)),
      dueAtMs: earliest(this.#timers.map((timer) => timer.atMs)),
    };
  }
}

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
    cleared: decision.cleared,
    requestId: maker.requestId,
    taskId: maker.lease?.taskId ?? null,
    token: maker.lease?.token ?? null,
  };
}

/** The state, unless a worker works on it. */
export function shelfOf(lifecycle: LifecycleModel, state: string): string | null {
  return lifecycle.states.get(state)?.kind === "work" ? null : state;
}

export function earliest(times: readonly (number | null)[]): number | null {
  let first: number | null = null;
  for (const time of times) if (time !== null && (first === null || time < first)) first = time;
  return first;
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
