import { messageOf, PawlError } from "../../base/errors.ts";
import { cleanText, storableText } from "../../base/json.ts";
import { payloadOf } from "../../definition/decide/decide.ts";
import type { LifecycleModel } from "../../definition/model.ts";
import { suggest } from "../../definition/read/fault.ts";
import {
  type AnsweredCallback,
  type NewCallback,
  postponeCallbacks,
  readAnswers,
  readDueCallbacks,
  readWaitingCallbacks,
  type WaitingCallback,
} from "../../store/callbacks/callbacks.ts";
import { type InstanceRow, readInstances, readInstancesByKey } from "../../store/move/instances.ts";
import type { Executor, Tx } from "../../store/port/db.ts";
import { withinSavepoint } from "../../store/port/foreign-tx.ts";
import { commitCallback, commitCallbacks, commitReopened } from "../commit/commit-callbacks.ts";
import { asPawlError, nameOf, payloadInvalid, unknownInstance } from "../errors.ts";
import { isForeign, type Kernel, lifecycleOf } from "../kernel.ts";
import { applyWaitingCallbacks } from "../move/apply-due.ts";
import { failCallback } from "../move/failed-callbacks.ts";
import { withoutFailedEvents } from "../move/failed-events.ts";
import { type SweepResult, sweep, writeAlone, writeLocked } from "../move/sweep.ts";
import type { Ref } from "../refs.ts";
import { requestHash } from "../request-hash.ts";
import { retryUntilKnown } from "../retry-unknown-outcome.ts";

/** An error that an outside service reports in place of a result. */
export interface CallbackError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
}

/** A received result or error, for one event of one instance. */
export interface IncomingCallback {
  readonly lifecycle: LifecycleModel;
  readonly ref: Ref;
  readonly event: string;
  readonly payload: unknown;
  /** Data that a step has set with its result. */
  readonly patch?: Readonly<Record<string, unknown>> | undefined;
  readonly error: CallbackError | null;
  readonly dedupe: string;
  readonly actor: string | null;
  readonly source: NewCallback["source"];
  /** The visit whose result it is, when it counts only if the deadline has ended that. */
  readonly lateVisit: number | null;
  /** The token that it came by. */
  readonly tokenId: string | null;
}

/** The same, in the form in which it is stored. */
export interface PlannedCallback extends Omit<NewCallback, "instanceId"> {
  readonly lifecycle: LifecycleModel;
  readonly ref: Ref;
}

/** Refuses what the lifecycle could never accept, or what cannot be stored. */
export function planCallback(
  kernel: Kernel,
  { payload, patch, error, ...incoming }: IncomingCallback,
): PlannedCallback {
  const { lifecycle, event } = incoming;
  checkCallbackEvent(lifecycle, event);
  if (error === null) {
    const { faults } = payloadOf(lifecycle, { name: event, payload, actor: null, reason: null });
    if (faults !== undefined) throw payloadInvalid(lifecycle, event, faults);
  }
  const textOf = (value: unknown) =>
    value === undefined || value === null ? null : storableText(value, `The callback \`${event}\``);
  return {
    ...incoming,
    id: kernel.newId(),
    hash: requestHash(event, error === null ? payload : { error }, null),
    // Nothing and null are different payloads; neither is a patch or an error.
    payloadText: payload === undefined ? null : storableText(payload, `The callback \`${event}\``),
    patchText: textOf(patch),
    errorText: textOf(error),
  };
}

export type ReceiveOutcome =
  | { readonly ok: true; readonly callback: AnsweredCallback; readonly duplicate: boolean }
  /** Undefined: there was nothing to be late for. */
  | { readonly ok: false; readonly error: PawlError | undefined };

export function checkCallbackEvent(lifecycle: LifecycleModel, event: string): void {
  const known = callbackEvents(lifecycle);
  if (known.includes(event)) return;
  const message = `\`${lifecycle.name}\` has no event \`${cleanText(event, 100)}\` that could come from outside. ${suggest(event, known)}`;
  throw new PawlError("event_unknown", message, { lifecycle: lifecycle.name, event });
}

const pawlEvents = ["fail", "joined", "answered", "unanswered"];

/**
 * The events that a definition declares itself: the built-in ones, and those of Pawl, are not accepted from outside.
 */
function callbackEvents({ edges }: LifecycleModel): string[] {
  const own = edges.filter((edge) => !edge.builtIn).map((edge) => edge.event);
  return [...new Set(own)].filter((event) => !pawlEvents.includes(event));
}

/** A callback in progress, with its instance once that is known. */
interface PendingCallback {
  readonly arrival: PlannedCallback;
  row: InstanceRow | undefined;
  result: ReceiveOutcome | undefined;
}

/**
 * Stores callbacks, commits, and then applies them: on time as an event, late by the rule of the lifecycle, early when
 * the instance enters a state that accepts it. If the process dies between the two, maintenance applies it. A lost
 * reply changes nothing, since each is stored once.
 */
export async function receiveAll(kernel: Kernel, arrivals: readonly PlannedCallback[]): Promise<ReceiveOutcome[]> {
  const coming = arrivals.map((arrival): PendingCallback => ({ arrival, row: undefined, result: undefined }));
  await find(kernel, kernel.db, coming);
  const open = coming.filter((one) => one.result === undefined);
  if (open.length > 0) {
    const rows = await commitCallbacks(kernel, open.map(rowOf));
    if (kernel.faults !== undefined) await kernel.faults.at("receive.stored");
    await matchAll(kernel, rows);
    await answer(kernel.db, open);
    for (const { arrival, result } of open) {
      if (result?.ok === true && !result.duplicate)
        kernel.telemetry.meters.received(arrival.lifecycle.name, result.callback.status);
    }
  }
  return coming.map((one) => one.result!);
}

/** The same within the caller's own transaction. */
export async function receiveIn(kernel: Kernel, tx: Tx, arrival: PlannedCallback): Promise<ReceiveOutcome> {
  const one: PendingCallback = { arrival, row: undefined, result: undefined };
  await find(kernel, tx, [one]);
  if (one.result !== undefined) return one.result;
  await commitCallback(tx, rowOf(one));
  await withoutFailedEvents((failedTimers) =>
    withinSavepoint(tx, () => writeLocked(kernel, tx, one.row!.id, applyWaitingCallbacks, failedTimers)),
  );
  await answer(tx, [one]);
  return one.result!;
}

/** The instances of the callbacks. A callback for an unknown instance, or a newer definition, is answered at once. */
async function find(kernel: Kernel, db: Executor, coming: readonly PendingCallback[]): Promise<void> {
  const ids = coming.flatMap(({ arrival: { ref } }) => ("id" in ref ? [ref.id] : []));
  const keys = coming.flatMap(({ arrival: { ref, lifecycle } }) =>
    "id" in ref ? [] : [{ lifecycle: lifecycle.name, key: ref.key }],
  );
  const rows = [
    ...(ids.length === 0 ? [] : await readInstances(db, [...new Set(ids)])),
    ...(keys.length === 0 ? [] : await readInstancesByKey(db, keys)),
  ];
  for (const row of rows) kernel.clock.observe(row.now_ms);
  for (const one of coming) {
    const { ref, lifecycle } = one.arrival;
    const isMeant = (row: InstanceRow) => ("id" in ref ? row.id === ref.id : row.key === ref.key);
    one.row = rows.find((row) => row.lifecycle === lifecycle.name && isMeant(row));
    try {
      if (one.row === undefined) throw unknownInstance(one.arrival);
      lifecycleOf(kernel, one.row);
    } catch (error) {
      one.result = { ok: false, error: asPawlError(error) };
    }
  }
}

const optimisticRounds = 3;

/** Applies the callbacks that are waiting for these instances. */
async function matchAll(kernel: Kernel, given: readonly InstanceRow[]): Promise<void> {
  let rows: readonly InstanceRow[] | undefined = given;
  await retryUntilKnown(kernel, async () => {
    let open =
      rows ??
      (await readInstances(
        kernel.db,
        given.map((row) => row.id),
      ));
    rows = undefined;
    for (let round = 0; open.length > 0; round++) {
      const waiting = open.filter((row) => row.inbox > 0 && !isForeign(kernel, row));
      if (round === optimisticRounds) {
        for (const { id } of waiting) await matchAlone(kernel, id);
        return;
      }
      const { missed, failures } = await sweep(kernel, waiting, applyWaitingCallbacks);
      await noteFailures(kernel, failures);
      // Maintenance applies the failed ones again.
      const failed = new Set(failures.map(({ id }) => id));
      const again = [...missed].filter((id) => !failed.has(id));
      open = again.length === 0 ? [] : await readInstances(kernel.db, again);
    }
  });
}

async function matchAlone(kernel: Kernel, id: string): Promise<void> {
  try {
    await writeAlone(kernel, id, applyWaitingCallbacks);
  } catch (thrown) {
    const error = asPawlError(thrown);
    if (error.fault === "environment") throw error;
    await noteFailures(kernel, [{ id, error, decided: true }]);
  }
}

/** How long callbacks rest whose instance cannot be moved at all, such as in a state that this process does not know. */
const postponedMs = 30_000;

/** What could not be matched is tried again later: it must not fail in every round. */
async function noteFailures(kernel: Kernel, failures: SweepResult["failures"]): Promise<void> {
  const lasting = failures.filter(({ error }) => asPawlError(error).fault !== "environment");
  const undecided = lasting.filter((one) => !one.decided);
  if (undecided.length > 0) {
    const postponed = undecided.map(({ id, error }) => ({ id, reason: cleanText(messageOf(error), 500) }));
    await postponeCallbacks(kernel.db, postponed, postponedMs);
  }
  for (const { id, error } of lasting.filter((one) => one.decided)) await failFirst(kernel, id, error);
}

/**
 * The database refuses the result of an instance's callbacks: they are applied one by one, until the failing one is
 * found.
 */
async function failFirst(kernel: Kernel, id: string, error: unknown): Promise<void> {
  await writeAlone(kernel, id, async (db, [update]) => {
    const waiting = await readWaitingCallbacks(db, [id]);
    const isDue = ({ looked, retry_ms: retryMs }: WaitingCallback) =>
      !looked && (retryMs === null || retryMs <= update!.row.now_ms);
    const first = waiting.find((one) => isDue(one) && one.reason === null) ?? waiting.find(isDue);
    if (first !== undefined) failCallback(update!, first, error);
  });
}

async function answer(db: Executor, coming: readonly PendingCallback[]): Promise<void> {
  const asked = coming.map(({ arrival, row }) => ({ instanceId: row!.id, dedupe: arrival.dedupe }));
  const answers = await readAnswers(db, asked);
  for (const one of coming) {
    const { arrival, row } = one;
    const callback = answers.find((each) => each.instance_id === row!.id && each.dedupe === arrival.dedupe);
    if (callback === undefined) {
      one.result = { ok: false, error: arrival.lateVisit === null ? unknownInstance(arrival) : undefined };
    } else if (callback.hash !== arrival.hash) {
      one.result = { ok: false, error: conflict(one, callback) };
    } else one.result = { ok: true, callback, duplicate: callback.id !== arrival.id };
  }
}

function conflict({ arrival, row }: PendingCallback, { id }: AnsweredCallback): PawlError {
  return new PawlError(
    "idempotency_conflict",
    `The dedupe key \`${arrival.dedupe}\` was used for another callback to ${nameOf(row!)} (${id}). Use a new key for a new result.`,
    { dedupeKey: arrival.dedupe, callback: id },
  );
}

function rowOf({ arrival, row }: PendingCallback): NewCallback {
  return { ...arrival, instanceId: row!.id };
}

const firstId = "00000000-0000-0000-0000-000000000000";

/** The result of a round over callbacks that were stored and not applied. */
export interface MatchedCallbacks {
  readonly looked: number;
  readonly failures: readonly { readonly id: string; readonly error: unknown }[];
}

/** Retries callbacks that were refused after their last attempt. One that was retried since is skipped. */
export async function retryCallbacks(
  kernel: Kernel,
  callbacks: readonly { readonly id: string; readonly attempts: number }[],
): Promise<void> {
  await matchAll(kernel, await commitReopened(kernel, callbacks));
}

/**
 * Matches callbacks whose receiver died before it could, and failed ones that are due again: page by page, so that a
 * failing one does not block those behind it.
 */
export async function matchDueCallbacks(kernel: Kernel, pageSize: number): Promise<MatchedCallbacks> {
  const failures: { id: string; error: unknown }[] = [];
  let looked = 0;
  for (let afterMs: number | null = null, afterId = firstId; ; ) {
    const page = await readDueCallbacks(kernel.db, { afterMs, afterId, limit: pageSize });
    const ids = [...new Set(page.map((one) => one.instance_id))];
    const rows = ids.length === 0 ? [] : await readInstances(kernel.db, ids);
    const ours = rows.filter((row) => kernel.lifecycles.has(row.lifecycle) && !isForeign(kernel, row));
    if (ours.length > 0) {
      const swept = await sweep(kernel, ours, applyWaitingCallbacks);
      looked += swept.written.size;
      await noteFailures(kernel, swept.failures);
      failures.push(...swept.failures);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return { looked, failures };
    afterMs = last.due_ms;
    afterId = last.id;
  }
}
