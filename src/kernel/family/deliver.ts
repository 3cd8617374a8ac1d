import { PawlError } from "../../base/errors.ts";
import { derivedId } from "../../base/ids.ts";
import { cleanText } from "../../base/json.ts";
import { type NamedChild, readChildIds, readOpenChildren } from "../../store/family/children.ts";
import type { RefusedEvent } from "../../store/family/deliveries.ts";
import type { DeadLetterRow } from "../../store/recovery/dead-letters.ts";
import { retryCallbacks } from "../callbacks/receive.ts";
import { asPawlError } from "../errors.ts";
import type { Kernel } from "../kernel.ts";
import { sendAll } from "../move/send.ts";
import { deadLetterOfTask } from "../recovery/dead-letter.ts";
import type { Ref } from "../refs.ts";
import { attemptFailureOf } from "../tasks/attempt-failure.ts";
import type { PendingReport } from "../tasks/pending-report.ts";
import type { Delivered, OutgoingEvent } from "../types/delivery.ts";
import type { Send } from "../types/send.ts";
import { nameOfKey } from "./child-names.ts";

const batchSize = 500;
const firstId = "00000000-0000-0000-0000-000000000000";

/**
 * Sends the events of deliveries, all of them together. The id of an event marks the move that it makes, and is
 * searched for before every decision: however often a delivery is repeated, by any number of workers, it arrives once.
 */
export async function deliver(kernel: Kernel, batch: readonly PendingReport[]): Promise<void> {
  for (const pending of batch) {
    pending.delivered = { refused: [], undelivered: [], later: undefined, failed: undefined };
  }
  const events = batch.flatMap((pending) =>
    (pending.report.task.delivery!.letters ?? []).map((outgoing) => ({ pending, outgoing })),
  );
  const children = await findChildren(kernel, events);
  for (let from = 0; from < events.length; from += batchSize) {
    await sendBatch(kernel, events.slice(from, from + batchSize), children);
  }
  for (const pending of batch)
    if (pending.report.task.delivery!.letters === undefined) await notifyOpenChildren(kernel, pending);
}

interface AddressedEvent {
  readonly pending: PendingReport;
  readonly outgoing: OutgoingEvent;
}

async function sendBatch(
  kernel: Kernel,
  events: readonly AddressedEvent[],
  children: ReadonlyMap<string, string>,
): Promise<void> {
  await retry(kernel, events);
  const addressed = events.flatMap((one) => {
    if (one.outgoing.callback !== undefined) return [];
    const { to, id } = one.outgoing;
    const ref = "child" in to ? idOrNone(children.get(id)) : to;
    if (ref === undefined) note(one.pending.delivered!, one.outgoing, noChild(one));
    return ref === undefined ? [] : [{ ...one, ref }];
  });
  const sent = await sendAll(kernel, addressed.map(sendOf));
  for (const [index, { pending, outgoing }] of addressed.entries()) {
    const answer = sent[index]!;
    if (!answer.ok) note(pending.delivered!, outgoing, answer.error);
  }
}

/** Refused callbacks are retried; their outcome is in their own rows. */
async function retry(kernel: Kernel, events: readonly AddressedEvent[]): Promise<void> {
  const returned = events.filter(({ outgoing }) => outgoing.callback !== undefined);
  if (returned.length === 0) return;
  try {
    await retryCallbacks(
      kernel,
      returned.map(({ outgoing }) => outgoing.callback!),
    );
  } catch (thrown) {
    for (const { pending, outgoing } of returned) note(pending.delivered!, outgoing, asPawlError(thrown));
  }
}

function idOrNone(id: string | undefined): Ref | undefined {
  return id === undefined ? undefined : { id };
}

function noChild({ pending, outgoing }: AddressedEvent): PawlError {
  const { row, lifecycle } = pending.report.task;
  const key = (outgoing.to as { child: string }).child;
  const message = `\`${outgoing.event}\` was sent to the child "${key}" of \`${row.lifecycle}\` ${row.id}, and its run has no \`${lifecycle.name}\` with that key.`;
  return new PawlError("instance_unknown", message, { lifecycle: lifecycle.name, key });
}

function sendOf({ pending, outgoing, ref }: AddressedEvent & { readonly ref: Ref }): Send {
  const { lifecycle, row } = pending.report.task;
  const { event, payload, afterMs, during } = outgoing;
  return {
    lifecycle,
    ref,
    event,
    payload,
    actor: `${row.lifecycle}:${row.id}`,
    reason: null,
    expectedVersion: undefined,
    idempotency: undefined,
    delay: afterMs === undefined ? undefined : { afterMs, atMs: null },
    requestId: outgoing.id,
    source: "pawl",
    mayBeKnown: true,
    ...(during === undefined ? {} : { during }),
  };
}

function note(delivered: Delivered, outgoing: OutgoingEvent, error: PawlError): void {
  if (error.code === "transition_refused") {
    const { id, blockers } = error.details as { id: string; blockers: unknown };
    delivered.refused.push({ outgoing, instance: id, blockers });
  } else if (error.fault === "environment") delivered.later ??= error;
  else {
    if (error.fault !== "request") delivered.failed ??= error;
    delivered.undelivered.push({ outgoing, error });
  }
}

/** The ids of children that letters name by their keys, by the letters' ids. */
async function findChildren(kernel: Kernel, events: readonly AddressedEvent[]): Promise<Map<string, string>> {
  const named = events.flatMap(({ pending, outgoing }): NamedChild[] => {
    if (!("child" in outgoing.to)) return [];
    const { row, delivery } = pending.report.task;
    const { lifecycle, run } = delivery!;
    return [{ letterId: outgoing.id, id: row.id, run, lifecycle, name: nameOfKey(outgoing.to.child) }];
  });
  if (named.length === 0) return new Map();
  return new Map((await readChildIds(kernel.db, named)).map((one) => [one.letter_id, one.child_id]));
}

/**
 * Notifies the open children of a run that it has ended, page by page; those whose lifecycle has no `onParentEnd`
 * continue.
 */
async function notifyOpenChildren(kernel: Kernel, pending: PendingReport): Promise<void> {
  const { task } = pending.report;
  const { lifecycle, row, lease } = task;
  const event = lifecycle.onParentEnd;
  if (event === undefined) return;
  const { run } = task.delivery!;
  for (let afterId = firstId; ; ) {
    const page = { id: row.id, run, lifecycle: lifecycle.name, afterId, limit: batchSize };
    const open = await readOpenChildren(kernel.db, page);
    const events = open.map(({ id }) => ({
      pending,
      outgoing: { id: derivedId(lease.taskId, id), to: { id }, event },
    }));
    if (events.length > 0) await sendBatch(kernel, events, new Map());
    if (open.length < batchSize) return;
    afterId = open.at(-1)!.id;
  }
}

const maxShown = 50;

/** The result of a delivery for the sender's history; undefined if everything arrived. */
export function deliveryRecord(delivered: Delivered): { what: "failed" | "refused"; detailText: string } | undefined {
  const { refused, undelivered } = delivered;
  if (refused.length === 0 && undelivered.length === 0) return undefined;
  const detail = {
    reason: undelivered.length > 0 ? "undelivered" : "refused",
    refused: refused
      .slice(0, maxShown)
      .map(({ outgoing, instance, blockers }) => ({ event: outgoing.event, instance, blockers })),
    undelivered: undelivered.slice(0, maxShown).map(({ outgoing, error }) => ({
      event: outgoing.event,
      to: outgoing.to,
      error: { name: error.code, message: cleanText(error.message, 1_000) },
    })),
  };
  return { what: undelivered.length > 0 ? "failed" : "refused", detailText: JSON.stringify(detail) };
}

/** Refused events, for the histories of the refusing instances. */
export function refusedEvents({ lease, report, delivered }: PendingReport): RefusedEvent[] {
  const { row } = report.task;
  return delivered!.refused.map(({ outgoing, instance, blockers }) => ({
    taskId: lease.taskId,
    letterId: outgoing.id,
    instanceId: instance,
    detailText: JSON.stringify({ event: outgoing.event, from: { lifecycle: row.lifecycle, id: row.id }, blockers }),
  }));
}

/** Events that can never arrive, for a person to decide; nothing if all arrived or were refused. */
export function undeliveredDeadLetter(kernel: Kernel, { report, delivered }: PendingReport): DeadLetterRow[] {
  const [first] = delivered!.undelivered;
  if (first === undefined) return [];
  const letters = delivered!.undelivered.map(({ outgoing }) => outgoing);
  const task = { ...report.task, delivery: { ...report.task.delivery!, letters } };
  const row = deadLetterOfTask(kernel.newId(), task, attemptFailureOf(task, { kind: "failed", error: first.error }));
  return [{ ...row, reason: first.error.code }];
}
