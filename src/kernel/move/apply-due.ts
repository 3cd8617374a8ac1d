import { asSentence } from "../../base/text.ts";
import { type Blocker, decideRename } from "../../definition/decide/decide.ts";
import { readWaitingCallbacks, type WaitingCallback } from "../../store/callbacks/callbacks.ts";
import { payloadIn } from "../../store/move/payloads.ts";
import { type DueTimer, readDueTimers, readRetries } from "../../store/move/timers.ts";
import type { Executor } from "../../store/port/db.ts";
import type { InstanceUpdate } from "../commit/instance-update.ts";
import { asPawlError } from "../errors.ts";
import type { MoveOrigin } from "../types/move-origin.ts";
import { applyEvent } from "./apply-event.ts";
import { failEvent, isOwn } from "./failed-events.ts";
import { matchCallbacks } from "./match-callbacks.ts";

const byPawl: MoveOrigin = { source: "pawl", requestId: null, lease: null };

/**
 * What is due comes first: before the current event is decided, an instance gets the new name of its state, its overdue
 * timers and its callbacks, each by its time, so that no outcome depends on when a sweep ran. One statement for all,
 * and only if the rows show that something is due. An event whose guard or hook throws is retried by its own policy and
 * blocks no other event of the instance.
 */
export async function applyDueFirst(db: Executor, updates: readonly InstanceUpdate[]): Promise<void> {
  for (const update of updates) applyRename(update);
  const timers = await dueTimers(db, updates.filter(isOverdue));
  const callbacks = await waitingCallbacks(
    db,
    updates.filter(({ row }) => row.inbox > 0),
  );
  for (const update of updates) {
    const { id } = update.row;
    if (!timers.has(id) && !callbacks.has(id)) continue;
    update.decide(() => {
      if (timers.has(id)) update.settleTimers(update.row.now_ms);
      // Earlier events have to be applied first.
      if (timers.has(id) && update.matching === "passing") update.matching = "due";
      applyInOrder(update, timers.get(id) ?? [], callbacks.get(id) ?? []);
    });
  }
}

/** The same for a round that only matches callbacks. */
export async function applyWaitingCallbacks(db: Executor, updates: readonly InstanceUpdate[]): Promise<void> {
  for (const update of updates) update.matching = "looking";
  await applyDueFirst(db, updates);
}

function isOverdue({ row }: InstanceUpdate): boolean {
  return row.next_due_ms !== null && row.next_due_ms <= row.now_ms;
}

async function dueTimers(db: Executor, updates: readonly InstanceUpdate[]): Promise<Map<string, DueTimer[]>> {
  const due = updates.map(({ row }) => ({ id: row.id, asOfMs: row.now_ms }));
  return byInstance(due, due.length === 0 ? [] : await readDueTimers(db, due));
}

async function waitingCallbacks(
  db: Executor,
  updates: readonly InstanceUpdate[],
): Promise<Map<string, WaitingCallback[]>> {
  const ids = updates.map(({ row }) => row.id);
  const wanted = ids.map((id) => ({ id }));
  return byInstance(wanted, ids.length === 0 ? [] : await readWaitingCallbacks(db, ids));
}

function byInstance<One extends { readonly instance_id: string }>(
  wanted: readonly { readonly id: string }[],
  found: readonly One[],
): Map<string, One[]> {
  const lists = new Map<string, One[]>(wanted.map(({ id }) => [id, []]));
  for (const one of found) lists.get(one.instance_id)!.push(one);
  return lists;
}

/** Gives an instance's state the name that it has in this definition. */
export function applyRename(update: InstanceUpdate): void {
  update.decide(() => {
    const renamed = decideRename(update.lifecycle, update.instance, update.row.now_ms);
    if (renamed !== undefined) update.add(renamed, byPawl);
  });
}

/** By time, and at a tie the callback first: a callback at the last moment came in time. */
function applyInOrder(
  update: InstanceUpdate,
  timers: readonly DueTimer[],
  callbacks: readonly WaitingCallback[],
): void {
  const { run } = update.instance;
  let arrived = 0;
  for (const timer of timers) {
    const before = callbacks.findIndex((one, index) => index >= arrived && one.received_ms > timer.due_ms);
    const end = before < 0 ? callbacks.length : before;
    matchCallbacks(update, callbacks.slice(arrived, end));
    arrived = end;
    // An earlier one may have ended the visit or the whole run: what belonged to it is void.
    if (update.instance.outcome !== null || update.instance.run !== run) break;
    if (timer.visit === null || timer.visit === update.instance.visit) fireTimer(update, timer);
  }
  matchCallbacks(update, callbacks.slice(arrived));
}

/** An event that Pawl itself sends to an instance in its present visit, such as `joined` or `answered`. */
export interface OwnEvent {
  readonly name: string;
  readonly payload: unknown;
  readonly reason: string | null;
}

/** Delivers an event of Pawl's own. One that throws is retried by a timer of the visit, and ends as a due event does. */
export function deliverOwnEvent(update: InstanceUpdate, { name: event, payload, reason }: OwnEvent): void {
  const { id, visit } = update.instance;
  const timer: DueTimer = {
    instance_id: id,
    // The same in every try of one transaction, so that a hook that threw is found again.
    id: `${visit} ${event}`,
    kind: "send",
    visit,
    due_ms: update.row.now_ms,
    event,
    payload,
    has_payload: payload !== undefined,
    actor: null,
    reason,
    attempts: 0,
    request_id: update.newId(),
  };
  fireTimer(update, timer);
}

/** Instances whose present visit has an event of Pawl's own that threw and that a timer retries. */
export async function retryingOwnEvents(
  db: Executor,
  updates: readonly InstanceUpdate[],
): Promise<ReadonlySet<InstanceUpdate>> {
  const timed = updates.filter(({ row, error }) => error === undefined && row.next_due_ms !== null);
  if (timed.length === 0) return new Set();
  const visits = timed.map(({ instance: { id, visit } }) => ({ id, visit }));
  const ids = new Set((await readRetries(db, visits)).map((one) => one.instance_id));
  return new Set(timed.filter(({ row }) => ids.has(row.id)));
}

/** Fires a timer. An event that throws is retried later, unless the cause is the database. */
function fireTimer(update: InstanceUpdate, timer: DueTimer): void {
  const thrownBefore = update.failedTimers.get(timer.id);
  if (thrownBefore !== undefined) {
    failEvent(update, timer, thrownBefore);
    return;
  }
  try {
    sendTimerEvent(update, timer);
  } catch (thrown) {
    if (timer.kind === "deadline" || asPawlError(thrown).fault === "environment") throw thrown;
    failEvent(update, timer, thrown);
  }
}

/** A delayed event carries the mark of the call that sent it, which may have lost its reply. */
function originOfTimer(timer: DueTimer): MoveOrigin {
  if (isOwn(timer)) return byPawl;
  const { kind, request_id: requestId } = timer;
  return { source: "timer", requestId: kind === "send" ? requestId : null, lease: null };
}

function sendTimerEvent(update: InstanceUpdate, timer: DueTimer): void {
  const event = {
    name: timer.event,
    payload: timer.kind !== "send" && timer.event === "fail" ? { reason: timer.kind } : payloadIn(timer),
    actor: timer.actor,
    reason: timer.reason ?? (timer.kind === "send" ? null : timer.kind),
    pastOwnFailEdge: timer.kind === "deadline",
  };
  const hooked = update.hooked.length;
  const refusal = applyEvent(update, event, originOfTimer(timer));
  for (const decision of update.hooked.slice(hooked)) update.timersOfHooks.set(decision, timer.id);
  if (refusal === undefined || timer.kind === "deadline") return;
  noteRefusedTimer(update, timer, refusal.blockers);
}

/**
 * Records an event that was refused at its time. If it belonged to the visit, the instance may now wait for ever: then
 * an alert is raised, unless a deadline will follow or a step runs.
 */
function noteRefusedTimer(
  update: InstanceUpdate,
  { event, visit, request_id: requestId }: DueTimer,
  blockers: readonly Blocker[],
): void {
  update.noteRefusal({ event, ...(visit === null ? {} : { visit }), blockers }, requestId);
  const { lifecycle, instance } = update;
  const { id, key, state, deadlineAtMs } = instance;
  if (visit === null || deadlineAtMs !== null || lifecycle.states.get(state)?.kind === "work") return;
  const name = key === null ? `${lifecycle.name} ${id}` : `${lifecycle.name} "${key}"`;
  const reason = blockers.map((one) => one.reason).join("; ");
  update.failures.addAlert({
    cause: `refused:${id}:${visit}:${event}`,
    kind: "event_refused",
    message: asSentence(`${name} refused ${event} in ${state}, which would have ended its wait: ${reason}`),
    details: { reason, state, event, visit },
  });
}
