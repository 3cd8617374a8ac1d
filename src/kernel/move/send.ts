import { broken, isPawlError, PawlError } from "../../base/errors.ts";
import { storableText } from "../../base/json.ts";
import { payloadOf } from "../../definition/decide/decide.ts";
import type { InstanceModel } from "../../definition/decide/instance.ts";
import { type InstanceRow, lockInstances, readInstances, readInstancesByKey } from "../../store/move/instances.ts";
import { readMovesOfRequests } from "../../store/move/journal.ts";
import { type KnownRequest, readRequests } from "../../store/move/requests.ts";
import type { Executor, Tx } from "../../store/port/db.ts";
import { withinSavepoint } from "../../store/port/foreign-tx.ts";
import { commit } from "../commit/commit.ts";
import { InstanceUpdate } from "../commit/instance-update.ts";
import { asPawlError, nameOf, payloadInvalid, refusedError, unknownInstance } from "../errors.ts";
import { inTransaction, isForeign, type Kernel, lifecycleOf } from "../kernel.ts";
import { retryUntilKnown } from "../retry-unknown-outcome.ts";
import type { Occasion } from "../types/delivery.ts";
import type { MoveOrigin } from "../types/move-origin.ts";
import type { Send, Sent } from "../types/send.ts";
import { applyDueFirst } from "./apply-due.ts";
import { applyEvent } from "./apply-event.ts";
import { noteFailedCalls } from "./failed-calls.ts";
import { withoutFailedEvents } from "./failed-events.ts";
import { movedInHook, runHooks } from "./hooks.ts";
import { matchCallbacks, refuseSettled, settleAccepted } from "./match-callbacks.ts";
import { snapshotAfter, snapshotAt, snapshotOf } from "./snapshot.ts";

/** A send and its state so far. */
class PendingSend {
  readonly send: Send;
  outcome: Sent | undefined;
  /** The instance that it is for, once that is known. */
  instanceId: string | undefined;
  /** The instance's version on which it was decided last. */
  decidedOn: number | undefined;
  /** The instance's version before the first write whose reply was lost. */
  unsureSince: number | undefined;
  /** Found in the journal after a lost reply: it is done, whatever happens to the batch. */
  settled = false;

  constructor(send: Send) {
    this.send = send;
    if (send.mayBeKnown === true) this.unsureSince = 0;
  }
}

const optimisticRounds = 3;

/**
 * Sends a list of events, each to its instance, in as few statements as possible: one reads, one writes. Instances that
 * changed meanwhile are read and decided again; those with a hook, or with many conflicts, get a transaction of their
 * own.
 */
export async function sendAll(kernel: Kernel, sends: readonly Send[]): Promise<Sent[]> {
  const pending = sends.map((send) => new PendingSend(send));
  let open: PendingSend[] = pending;
  for (let round = 0; open.length > 0 && round < optimisticRounds; round++) {
    const alone: PendingSend[] = [];
    await retryingUnknown(kernel, open, () => sendTogether(kernel, open, alone));
    await sendEachAlone(kernel, alone);
    open = open.filter((one) => one.outcome === undefined);
  }
  await sendEachAlone(kernel, open);
  await noteFailedCalls(kernel, pending);
  return pending.map((one) => one.outcome!);
}

/** Sends inside the caller's own transaction. Rows are locked in the order of their ids. */
export async function sendAllIn(kernel: Kernel, tx: Tx, sends: readonly Send[]): Promise<Sent[]> {
  const pending = sends.map((send) => new PendingSend(send));
  await sendPendingIn(kernel, tx, pending);
  await noteFailedCalls(kernel, pending, tx);
  return pending.map((one) => one.outcome!);
}

/** The same for one event. If it fails, the transaction is unchanged except for the note of the failure. */
export async function sendIn(kernel: Kernel, tx: Tx, send: Send): Promise<Sent> {
  const one = new PendingSend(send);
  try {
    await withinSavepoint(tx, async () => {
      await sendPendingIn(kernel, tx, [one]);
      if (!one.outcome!.ok) throw one.outcome!.error;
    });
  } catch (error) {
    await noteFailedCalls(kernel, [one], tx);
    throw error;
  }
  return one.outcome!;
}

async function sendPendingIn(kernel: Kernel, tx: Tx, pending: readonly PendingSend[]): Promise<void> {
  const alone: PendingSend[] = [];
  await sendLocked(kernel, tx, pending, { alone });
  for (const one of alone) {
    try {
      await withoutFailedEvents((failedTimers) =>
        withinSavepoint(tx, () => {
          one.outcome = undefined; // A refusal based on the effect of a failed event does not count.
          return sendLocked(kernel, tx, [one], { failedTimers });
        }),
      );
    } catch (thrown) {
      const error = asPawlError(thrown);
      if (error.fault === "environment") throw error;
      one.outcome = { ok: false, error };
    }
  }
}

async function sendTogether(kernel: Kernel, pending: readonly PendingSend[], alone: PendingSend[]): Promise<void> {
  const { db } = kernel;
  const byInstance = await readTargets(kernel, db, pending);
  const updates = [...byInstance.keys()];
  await findWrittenSends(db, byInstance);
  await applyDueFirst(db, updates);
  const requests = await readKnownRequests(db, byInstance);
  const answers = new Map<PendingSend, InstanceModel>();
  for (const [update, waiting] of byInstance) {
    for (const one of waiting) await decideSend(db, update, one, requests, answers);
    update.decide(() => matchCallbacks(update));
  }
  const free = updates.filter((update) => update.changes && update.error === undefined && update.hooked.length === 0);
  const written = await commitSends(kernel, free, byInstance);
  for (const [update, waiting] of byInstance) {
    const atMs = written?.get(update.instance.id);
    if (atMs === undefined && update.changes && update.error === undefined) {
      // A hook has to run, or the instance was moved or locked: a refusal, too, was based on an outdated state.
      for (const one of waiting) if (!one.settled) one.outcome = undefined;
      if (update.hooked.length > 0 || written === undefined) alone.push(...waiting.filter((one) => !one.settled));
      continue;
    }
    for (const one of waiting) finish(one, update, answers.get(one), atMs);
    if (atMs !== undefined) announce(kernel, update);
  }
}

/** One after the other. An event that could not be sent blocks later ones for the same instance. */
async function sendEachAlone(kernel: Kernel, pending: readonly PendingSend[]): Promise<void> {
  const delayed = new Map<string, PawlError>();
  for (const one of pending) {
    const receiver = JSON.stringify([one.send.lifecycle.name, one.send.ref]);
    const before = delayed.get(receiver);
    if (before === undefined) await sendAlone(kernel, one);
    else one.outcome = { ok: false, error: before };
    if (one.outcome?.ok === false && one.outcome.error.fault === "environment")
      delayed.set(receiver, one.outcome.error);
  }
}

async function sendAlone(kernel: Kernel, one: PendingSend): Promise<void> {
  await retryingUnknown(kernel, [one], async () => {
    let outcome: Sent | undefined;
    try {
      await withoutFailedEvents((failedTimers) =>
        inTransaction(kernel, async (tx) => {
          // A refusal based on the effect of a failed event does not count.
          if (!one.settled) one.outcome = undefined;
          await sendLocked(kernel, tx, [one], { failedTimers });
          outcome = one.outcome;
          one.outcome = undefined; // It counts once the transaction is committed.
          if (outcome?.ok === false) throw outcome.error;
        }),
      );
    } catch (error) {
      if (isPawlError(error, "outcome_unknown")) one.unsureSince ??= one.decidedOn;
      throw error;
    }
    one.outcome = outcome;
    if (kernel.faults !== undefined) await kernel.faults.at("transaction.committed");
  });
}

/**
 * Sends under locks. Those with a hook go into `alone`, if given: each must fail on its own, with everything it wrote.
 */
async function sendLocked(
  kernel: Kernel,
  tx: Tx,
  pending: readonly PendingSend[],
  { alone, failedTimers }: { alone?: PendingSend[]; failedTimers?: ReadonlyMap<string, unknown> },
): Promise<void> {
  const found = await readTargets(kernel, tx, pending);
  const ids = [...found.keys()].map((update) => update.row.id).sort();
  const rows = new Map((await lockInstances(tx, ids)).map((row) => [row.id, row]));
  if (kernel.faults !== undefined) await kernel.faults.at("transaction.locked");
  const byInstance = new Map<InstanceUpdate, PendingSend[]>();
  for (const [update, waiting] of found) {
    const row = rows.get(update.row.id);
    // Between the reading and the lock a newer process may have moved it, or its time to be kept have ended.
    if (row !== undefined && !isForeign(kernel, row))
      byInstance.set(new InstanceUpdate(update.lifecycle, row, kernel.newId), waiting);
    else for (const one of waiting) one.outcome = { ok: false, error: goneError(kernel, one.send, row) };
  }
  const updates = [...byInstance.keys()];
  for (const update of updates) {
    update.markLocked();
    if (failedTimers !== undefined) update.failedTimers = failedTimers;
  }
  await findWrittenSends(tx, byInstance);
  await applyDueFirst(tx, updates);
  const requests = await readKnownRequests(tx, byInstance);
  const answers = new Map<PendingSend, InstanceModel>();
  for (const [update, waiting] of byInstance) {
    for (const one of waiting) await decideSend(tx, update, one, requests, answers);
    update.decide(() => matchCallbacks(update));
  }
  const changed = updates.filter((update) => update.changes && update.error === undefined);
  const hooked = changed.filter((update) => update.hooked.length > 0);
  if (alone === undefined) await runHooks(kernel, tx, hooked);
  if (kernel.faults !== undefined) await kernel.faults.at("transaction.hooked");
  const moving = alone === undefined ? changed : changed.filter((update) => !hooked.includes(update));
  const written = moving.length === 0 ? new Map<string, number>() : await commit(kernel, tx, moving);
  if (kernel.faults !== undefined) await kernel.faults.at("transaction.written");
  for (const [update, waiting] of byInstance) {
    const atMs = written.get(update.instance.id);
    if (alone !== undefined && hooked.includes(update)) {
      for (const one of waiting) one.outcome = undefined;
      alone.push(...waiting);
      continue;
    }
    if (atMs === undefined && moving.includes(update)) throw movedInHook(update);
    for (const one of waiting) finish(one, update, answers.get(one), atMs);
    if (atMs !== undefined) announce(kernel, update);
  }
}

function goneError(kernel: Kernel, send: Send, row: InstanceRow | undefined): PawlError {
  try {
    if (row !== undefined) lifecycleOf(kernel, row);
  } catch (error) {
    return asPawlError(error);
  }
  return unknownInstance(send);
}

/**
 * The instances of the sends, each with its sends in their order. A send to an unknown instance is answered at once.
 */
async function readTargets(
  kernel: Kernel,
  db: Executor,
  pending: readonly PendingSend[],
): Promise<Map<InstanceUpdate, PendingSend[]>> {
  const places = new Map(pending.map((one, place) => [one, place]));
  const inOrder = (one: PendingSend, other: PendingSend) => places.get(one)! - places.get(other)!;
  const byId = new Map<string, PendingSend[]>();
  const byKey = new Map<string, { lifecycle: string; key: string; pending: PendingSend[] }>();
  for (const one of pending) {
    const { ref, lifecycle } = one.send;
    if ("id" in ref) byId.set(ref.id, [...(byId.get(ref.id) ?? []), one]);
    else {
      const name = `${lifecycle.name}/${ref.key}`;
      const list = byKey.get(name) ?? { lifecycle: lifecycle.name, key: ref.key, pending: [] };
      list.pending.push(one);
      byKey.set(name, list);
    }
  }
  // One after the other: a transaction has one connection, and `pg` allows one query at a time on it.
  const rowsById = byId.size === 0 ? [] : await readInstances(db, [...byId.keys()]);
  const rowsByKey = byKey.size === 0 ? [] : await readInstancesByKey(db, [...byKey.values()]);
  const meant = new Map<string, { row: InstanceRow; pending: PendingSend[] }>();
  for (const row of rowsById) meant.set(row.id, { row, pending: byId.get(row.id)! });
  for (const row of rowsByKey) {
    const list = meant.get(row.id)?.pending ?? [];
    meant.set(row.id, { row, pending: [...list, ...byKey.get(`${row.lifecycle}/${row.key}`)!.pending] });
  }
  const updates = new Map<InstanceUpdate, PendingSend[]>();
  for (const { row, pending: waiting } of meant.values()) {
    kernel.clock.observe(row.now_ms);
    const right = waiting.filter((one) => one.send.lifecycle.name === row.lifecycle).sort(inOrder);
    if (right.length === 0) continue;
    try {
      updates.set(new InstanceUpdate(lifecycleOf(kernel, row), row, kernel.newId), right);
    } catch (error) {
      for (const one of right) one.outcome = { ok: false, error: asPawlError(error) };
    }
  }
  const found = new Set([...updates.values()].flat());
  for (const one of pending) {
    if (!found.has(one) && one.outcome === undefined) one.outcome = { ok: false, error: unknownInstance(one.send) };
  }
  return updates;
}

/** Decides one send on its update. Its answer counts once the update is written. */
async function decideSend(
  db: Executor,
  update: InstanceUpdate,
  one: PendingSend,
  requests: ReadonlyMap<string, KnownRequest>,
  answers: Map<PendingSend, InstanceModel>,
): Promise<void> {
  if (one.outcome !== undefined || update.error !== undefined) return;
  const { send } = one;
  one.instanceId = update.row.id;
  one.decidedOn = update.row.version;
  try {
    const known = send.idempotency && requests.get(requestName(update.row.id, send.idempotency.key));
    if (known !== undefined && send.idempotency !== undefined) {
      await repeat(db, update, one, known, answers);
      return;
    }
    if (send.expectedVersion !== undefined && send.expectedVersion !== update.instance.version) {
      throw new PawlError(
        "version_conflict",
        `\`${send.event}\` expected version ${send.expectedVersion} of ${nameOf(update.row)}, and it is at ${update.instance.version}. Read it again and decide again.`,
        { expected: send.expectedVersion, actual: update.instance.version },
      );
    }
    if (send.during !== undefined) refuseWhenOver(update, send, send.during);
    if (send.delay !== undefined) delay(update, send, send.delay);
    else {
      const { event: name, payload, actor, reason, patch, renewsDeadline, late } = send;
      const origin: MoveOrigin = { source: send.source ?? "call", requestId: send.requestId, lease: null };
      const event = { name, payload, actor, reason, patch, renewsDeadline, accepts: late?.event };
      if (late !== undefined) refuseSettled(update, late);
      const refusal = applyEvent(update, event, origin);
      if (refusal !== undefined) throw refusedError(update, send, refusal);
      if (late !== undefined) settleAccepted(update, late);
    }
    if (send.idempotency !== undefined) {
      update.addRequest(send.idempotency.key, send.idempotency.hash);
      const known = { instance_id: update.row.id, ...send.idempotency, version: update.instance.version };
      (requests as Map<string, KnownRequest>).set(requestName(update.row.id, send.idempotency.key), known);
    }
    answers.set(one, update.instance);
  } catch (thrown) {
    one.outcome = { ok: false, error: asPawlError(thrown) };
  }
}

/** An event that failed permanently and is sent again comes too late for a visit that has ended. */
function refuseWhenOver(update: InstanceUpdate, send: Send, { run, visit }: Occasion): void {
  const { instance } = update;
  if (instance.run === run && (visit === null || instance.visit === visit)) return;
  const reason = `It was meant for an earlier ${instance.run === run ? "visit" : "run"} of its instance.`;
  const blocker = { kind: "closed", event: send.event, from: instance.state, reason } as const;
  throw refusedError(update, send, { kind: "refused", blockers: [blocker] });
}

/** The same key again: the first answer for the same request, a conflict for another one. */
async function repeat(
  db: Executor,
  update: InstanceUpdate,
  one: PendingSend,
  known: KnownRequest,
  answers: Map<PendingSend, InstanceModel>,
): Promise<void> {
  if (known.hash !== one.send.idempotency!.hash) {
    throw new PawlError(
      "idempotency_conflict",
      `The idempotency key \`${known.key}\` was used for another request to ${nameOf(update.row)} (its move ${known.version}). Use a new key for a new request.`,
      { key: known.key, version: known.version },
    );
  }
  // Twice in one batch: the first of them has not been written yet.
  for (const [other, instance] of answers) {
    if (other.send.idempotency?.key !== known.key || instance.id !== update.instance.id) continue;
    answers.set(one, instance);
    return;
  }
  one.outcome = { ok: true, instance: await snapshotAt(db, update.row, known.version) };
}

function delay(update: InstanceUpdate, send: Send, when: { afterMs: number | null; atMs: number | null }): void {
  const { lifecycle } = update;
  const everywhere = [...lifecycle.states.keys()];
  if (!everywhere.some((state) => lifecycle.edgesFrom(state, send.event).length > 0)) {
    throw new PawlError(
      "event_unknown",
      `\`${lifecycle.name}\` has no event \`${send.event}\`, so it cannot be sent later either.`,
      { event: send.event },
    );
  }
  const checked = payloadOf(lifecycle, { ...send, name: send.event });
  if (checked.faults !== undefined) throw payloadInvalid(lifecycle, send.event, checked.faults);
  if (update.instance.outcome !== null) {
    throw new PawlError(
      "transition_refused",
      `\`${send.event}\` cannot be sent later to ${nameOf(update.row)}: it has ended in \`${update.instance.state}\`.`,
      {
        blockers: [{ kind: "closed", event: send.event, from: update.instance.state, reason: "it has ended" }],
      },
    );
  }
  const payloadText =
    checked.value === undefined ? null : storableText(checked.value, `The payload of \`${send.event}\``);
  update.addTimer({
    id: send.requestId,
    ...when,
    event: send.event,
    payloadText,
    actor: send.actor,
    reason: send.reason,
  });
}

function finish(
  one: PendingSend,
  update: InstanceUpdate,
  answer: InstanceModel | undefined,
  atMs: number | undefined,
): void {
  if (one.outcome !== undefined) return;
  if (update.error !== undefined) {
    one.outcome = { ok: false, error: asPawlError(update.error) };
    return;
  }
  if (answer === undefined) throw broken(`A send of \`${one.send.event}\` was neither decided nor refused.`);
  const isLast = answer.version === update.row.version;
  one.outcome = {
    ok: true,
    instance: isLast
      ? snapshotOf(update.row)
      : snapshotAfter(update.at(answer, atMs!), atMs!, update.failureAt(answer, atMs!)),
  };
}

/**
 * A lost reply is not a failure: each send of the batch is searched for in the journal before it is decided again.
 * Undefined if the database refused one of them: then each runs alone, so that one cannot fail the others.
 */
async function commitSends(
  kernel: Kernel,
  updates: readonly InstanceUpdate[],
  byInstance: ReadonlyMap<InstanceUpdate, PendingSend[]>,
): Promise<Map<string, number> | undefined> {
  if (updates.length === 0) return new Map();
  try {
    return await commit(kernel, kernel.db, updates);
  } catch (error) {
    const lost = isPawlError(error, "outcome_unknown");
    for (const update of updates) {
      for (const one of byInstance.get(update)!) {
        if (lost) one.unsureSince ??= update.row.version;
        if (!one.settled) one.outcome = undefined;
      }
    }
    if (asPawlError(error).fault === "environment") throw error;
    return undefined;
  }
}

/** Those whose write got no reply: found in the journal (or, an event for later, among the timers), they are done. */
async function findWrittenSends(db: Executor, byInstance: ReadonlyMap<InstanceUpdate, PendingSend[]>): Promise<void> {
  const unsure: { one: PendingSend; update: InstanceUpdate }[] = [];
  for (const [update, waiting] of byInstance) {
    for (const one of waiting)
      if (one.unsureSince !== undefined && one.outcome === undefined) unsure.push({ one, update });
  }
  if (unsure.length === 0) return;
  const asked = unsure.map(({ one, update }) => ({
    id: update.row.id,
    requestId: one.send.requestId,
    afterVersion: one.unsureSince!,
  }));
  const moves = new Map((await readMovesOfRequests(db, asked)).map((move) => [move.request_id, move.version]));
  for (const { one, update } of unsure) {
    const version = moves.get(one.send.requestId);
    if (version === undefined) continue;
    one.outcome = { ok: true, instance: await snapshotAt(db, update.row, version) };
    one.settled = true;
  }
}

/** Runs a round to its end; an error that waiting cannot resolve becomes the answer of the sends without one. */
async function retryingUnknown(
  kernel: Kernel,
  pending: readonly PendingSend[],
  round: () => Promise<void>,
): Promise<void> {
  try {
    await retryUntilKnown(
      kernel,
      round,
      pending.some((one) => one.unsureSince !== undefined && one.outcome === undefined),
    );
  } catch (thrown) {
    const error = asPawlError(thrown);
    for (const one of pending) {
      // A trace that was found after a lost reply and could not be confirmed is not acknowledged.
      const isUnconfirmed = one.unsureSince !== undefined && isPawlError(error, "outcome_unknown");
      if (one.outcome === undefined || (one.outcome.ok && isUnconfirmed)) one.outcome = { ok: false, error };
    }
  }
}

async function readKnownRequests(
  db: Executor,
  byInstance: ReadonlyMap<InstanceUpdate, PendingSend[]>,
): Promise<Map<string, KnownRequest>> {
  const asked: { id: string; key: string }[] = [];
  for (const [update, waiting] of byInstance) {
    for (const { send } of waiting) {
      if (send.idempotency !== undefined) asked.push({ id: update.row.id, key: send.idempotency.key });
    }
  }
  if (asked.length === 0) return new Map();
  const known = await readRequests(db, asked);
  return new Map(known.map((request) => [requestName(request.instance_id, request.key), request]));
}

function requestName(id: string, key: string): string {
  return `${id} ${key}`;
}

/** Wakes who waits in this process for the instance, or for work in its lane. */
function announce(kernel: Kernel, update: InstanceUpdate): void {
  kernel.signals.hint(update.instance.id);
  for (const lane of update.lanes) kernel.signals.hint(lane);
}
