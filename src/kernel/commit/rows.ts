import { storableText } from "../../base/json.ts";
import { checkedText } from "../../base/text.ts";
import type { InstanceModel } from "../../definition/decide/instance.ts";
import type { Decision, PlannedTimer } from "../../definition/decide/move.ts";
import type { LifecycleModel } from "../../definition/model.ts";
import type { SettledCallback } from "../../store/callbacks/callbacks.ts";
import type { CheckRow } from "../../store/family/checks.ts";
import type { InstanceRow } from "../../store/move/instances.ts";
import type { JournalRow } from "../../store/move/journal.ts";
import type { MessageRow } from "../../store/move/messages.ts";
import type { RequestRow } from "../../store/move/requests.ts";
import type { TimerRow } from "../../store/move/timers.ts";
import type { LastMove } from "../../store/move/written.ts";
import type { AlertRow } from "../../store/recovery/alerts.ts";
import type { DeadLetterRow, LetterDecision } from "../../store/recovery/dead-letters.ts";
import type { NoteRow } from "../../store/tasks/attempts.ts";
import type { EffectRow } from "../../store/tasks/tasks.ts";
import type { MoveOrigin, OutgoingMessage } from "../types/move-origin.ts";

/** The rows that a set of decisions writes besides their instances, the last move of each and its next step. */
export interface Rows {
  /** Moves before the last one of their instance. */
  readonly earlier: JournalRow[];
  readonly effects: EffectRow[];
  readonly timers: TimerRow[];
  readonly messages: MessageRow[];
  readonly requests: RequestRow[];
  readonly notes: NoteRow[];
  readonly deadLetters: DeadLetterRow[];
  readonly letterDecisions: LetterDecision[];
  readonly alerts: AlertRow[];
  readonly checks: CheckRow[];
  readonly callbacks: SettledCallback[];
}

export function noRows(): Rows {
  return {
    earlier: [],
    effects: [],
    timers: [],
    messages: [],
    requests: [],
    notes: [],
    deadLetters: [],
    letterDecisions: [],
    alerts: [],
    checks: [],
    callbacks: [],
  };
}

/** The move of an instance of which only timers or notes change. */
export const noMove: LastMove = {
  event: null,
  source: "pawl",
  actor: null,
  reason: null,
  payloadText: null,
  patchText: null,
  cleared: null,
  requestId: null,
  messages: null,
};

export function journalRow(
  id: string,
  lifecycle: LifecycleModel,
  decision: Decision,
  origin: MoveOrigin,
  messages: number | null = null,
): JournalRow {
  return {
    instanceId: id,
    version: decision.instance.version,
    lifecycle: lifecycle.name,
    definition: lifecycle.version,
    event: decision.event,
    from: decision.from,
    to: decision.to,
    source: origin.source,
    actor: decision.actor,
    reason: decision.reason,
    payloadText:
      decision.payload === undefined ? null : storableText(decision.payload, `The payload of \`${decision.event}\``),
    patchText: decision.patch === null ? null : storableText(decision.patch, "The data"),
    cleared: storableKeys(decision.cleared),
    requestId: origin.requestId,
    taskId: origin.lease?.taskId ?? null,
    token: origin.lease?.token ?? null,
    messages,
  };
}

const none: readonly never[] = [];

/** The messages of a move. Throws `value_not_serializable`. */
export function messageRows(
  outgoing: readonly OutgoingMessage[] | undefined,
  lifecycle: LifecycleModel,
  { instance: { id, version } }: Decision,
  newId: () => string,
): readonly MessageRow[] {
  if (outgoing === undefined || outgoing.length === 0) return none;
  return outgoing.map((one, place) => {
    const type = checkedText(one.type, "The type of a message", "value_not_serializable");
    const payloadText = storableText(one.payload, `The message \`${type}\``);
    return { id: newId(), instanceId: id, lifecycle: lifecycle.name, type, payloadText, version, place };
  });
}

/** The after-effects of a move. */
export function effectRows({ effects, instance }: Decision, newId: () => string): readonly EffectRow[] {
  if (effects.length === 0) return none;
  const { id, version, visit, run } = instance;
  return effects.map(({ lane, ...about }) => {
    // Storable, since the journal row is; its size is not checked, since it is a little more than the payload.
    const workText = JSON.stringify({ ...about, version, run });
    return { id: newId(), instanceId: id, lane, priority: 0, visit, workText };
  });
}

/** The row of an instance after a move that was written at `atMs`. */
export function rowAfter(
  row: Pick<InstanceRow, "id" | "lifecycle" | "key" | "parent_lifecycle" | "parent_id" | "created_ms">,
  instance: InstanceModel,
  { atMs, alarms, inbox, hasChildren }: { atMs: number; alarms: number; inbox: number; hasChildren: boolean },
): InstanceRow {
  return {
    id: row.id,
    lifecycle: row.lifecycle,
    definition: instance.definition,
    key: row.key,
    parent_lifecycle: row.parent_lifecycle,
    parent_id: row.parent_id,
    has_children: hasChildren,
    state: instance.state,
    version: instance.version,
    visit: instance.visit,
    run: instance.run,
    data: instance.data as Record<string, unknown>,
    deadline_ms: instance.deadlineAtMs,
    next_due_ms: null, // The next writer reads the row's own value.
    alarms,
    failed_from: instance.failedFrom,
    failed_visit: instance.failedVisit,
    timed_out_ms: instance.timedOutAtMs,
    failure: null,
    failed_ms: null,
    inbox,
    outcome: instance.outcome,
    closed_ms: null,
    created_ms: row.created_ms,
    moved_ms: atMs,
    now_ms: atMs,
  };
}

function storableKeys(keys: readonly string[] | null): readonly string[] | null {
  if (keys !== null) storableText(keys, "The removed keys of the data");
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

/** A timer of a move, as a row. */
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
    attempts: 0,
    requestId: null,
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
    parent: row.parent_id === null ? null : { lifecycle: row.parent_lifecycle!, id: row.parent_id },
    state: row.state,
    version: row.version,
    visit: row.visit,
    run: row.run,
    data: row.data,
    deadlineAtMs: row.deadline_ms,
    failedFrom: row.failed_from,
    failedVisit: row.failed_visit,
    timedOutAtMs: row.timed_out_ms,
    outcome: row.outcome,
    createdAtMs: row.created_ms,
  };
}
