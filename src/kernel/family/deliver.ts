import { PawlError } from "../../base/errors.ts";
import { derivedId } from "../../base/ids.ts";
import { cleanText } from "../../base/json.ts";
import { type NamedChild, readChildIds, readOpenChildren } from "../../store/family/children.ts";
import type { RefusedLetter } from "../../store/family/deliveries.ts";
import type { DeadLetterRow } from "../../store/recovery/dead-letters.ts";
import { retryCallbacks } from "../callbacks/receive.ts";
import { asPawlError } from "../errors.ts";
import type { Kernel } from "../kernel.ts";
import { sendAll } from "../move/send.ts";
import { letterOfTask } from "../recovery/dead-letter.ts";
import type { Ref } from "../refs.ts";
import { failingOf } from "../tasks/attempt-failure.ts";
import type { Filing } from "../tasks/pending-report.ts";
import type { Delivered, Letter } from "../types/delivery.ts";
import type { Send } from "../types/send.ts";
import { nameOfKey } from "./child-names.ts";

const batchSize = 500;
const firstId = "00000000-0000-0000-0000-000000000000";

/**
 * Sends what deliveries carry, letters of all of them together. A letter's id marks the move that it makes, and the mark
 * is looked for before every decision: however often a delivery is begun, by however many workers, it arrives once.
 */
export async function deliver(kernel: Kernel, filings: readonly Filing[]): Promise<void> {
  for (const filing of filings) {
    filing.delivered = { refused: [], undelivered: [], later: undefined, failed: undefined };
  }
  const mail = filings.flatMap((filing) =>
    (filing.report.taken.delivery!.letters ?? []).map((letter) => ({ filing, letter })),
  );
  const children = await findChildren(kernel, mail);
  for (let from = 0; from < mail.length; from += batchSize) {
    await bring(kernel, mail.slice(from, from + batchSize), children);
  }
  for (const filing of filings) if (filing.report.taken.delivery!.letters === undefined) await callOff(kernel, filing);
}

interface Mail {
  readonly filing: Filing;
  readonly letter: Letter;
}

async function bring(kernel: Kernel, mail: readonly Mail[], children: ReadonlyMap<string, string>): Promise<void> {
  await retry(kernel, mail);
  const addressed = mail.flatMap((one) => {
    if (one.letter.callback !== undefined) return [];
    const { to, id } = one.letter;
    const ref = "child" in to ? idOrNone(children.get(id)) : to;
    if (ref === undefined) note(one.filing.delivered!, one.letter, noChild(one));
    return ref === undefined ? [] : [{ ...one, ref }];
  });
  const sent = await sendAll(kernel, addressed.map(sendOf));
  for (const [index, { filing, letter }] of addressed.entries()) {
    const answer = sent[index]!;
    if (!answer.ok) note(filing.delivered!, letter, answer.error);
  }
}

/** Callbacks that were given up are tried again; what becomes of them is told in their own rows. */
async function retry(kernel: Kernel, mail: readonly Mail[]): Promise<void> {
  const returned = mail.filter(({ letter }) => letter.callback !== undefined);
  if (returned.length === 0) return;
  try {
    await retryCallbacks(
      kernel,
      returned.map(({ letter }) => letter.callback!),
    );
  } catch (thrown) {
    for (const { filing, letter } of returned) note(filing.delivered!, letter, asPawlError(thrown));
  }
}

function idOrNone(id: string | undefined): Ref | undefined {
  return id === undefined ? undefined : { id };
}

function noChild({ filing, letter }: Mail): PawlError {
  const { row, lifecycle } = filing.report.taken;
  const key = (letter.to as { child: string }).child;
  const message = `\`${letter.event}\` was sent to the child "${key}" of \`${row.lifecycle}\` ${row.id}, and its run has no \`${lifecycle.name}\` with that key.`;
  return new PawlError("instance_unknown", message, { lifecycle: lifecycle.name, key });
}

function sendOf({ filing, letter, ref }: Mail & { readonly ref: Ref }): Send {
  const { lifecycle, row } = filing.report.taken;
  const { event, payload, afterMs } = letter;
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
    requestId: letter.id,
    source: "pawl",
    mayBeKnown: true,
  };
}

function note(delivered: Delivered, letter: Letter, error: PawlError): void {
  if (error.code === "transition_refused") {
    const { id, blockers } = error.details as { id: string; blockers: unknown };
    delivered.refused.push({ letter, instance: id, blockers });
  } else if (error.fault === "environment") delivered.later ??= error;
  else {
    if (error.fault !== "request") delivered.failed ??= error;
    delivered.undelivered.push({ letter, error });
  }
}

/** The ids of children that letters name by their keys, by the letters' ids. */
async function findChildren(kernel: Kernel, mail: readonly Mail[]): Promise<Map<string, string>> {
  const named = mail.flatMap(({ filing, letter }): NamedChild[] => {
    if (!("child" in letter.to)) return [];
    const { row, delivery } = filing.report.taken;
    const { lifecycle, run } = delivery!;
    return [{ letterId: letter.id, id: row.id, run, lifecycle, name: nameOfKey(letter.to.child) }];
  });
  if (named.length === 0) return new Map();
  return new Map((await readChildIds(kernel.db, named)).map((one) => [one.letter_id, one.child_id]));
}

/** Tells the open children of a run that it is over, page by page; those whose lifecycle has no word for it go on. */
async function callOff(kernel: Kernel, filing: Filing): Promise<void> {
  const { taken } = filing.report;
  const { lifecycle, row, lease } = taken;
  const event = lifecycle.onParentEnd;
  if (event === undefined) return;
  const { run } = taken.delivery!;
  for (let afterId = firstId; ; ) {
    const page = { id: row.id, run, lifecycle: lifecycle.name, afterId, limit: batchSize };
    const open = await readOpenChildren(kernel.db, page);
    const mail = open.map(({ id }) => ({ filing, letter: { id: derivedId(lease.taskId, id), to: { id }, event } }));
    if (mail.length > 0) await bring(kernel, mail, new Map());
    if (open.length < batchSize) return;
    afterId = open.at(-1)!.id;
  }
}

const mostShown = 50;

/** A delivery's end as the sender's history tells it; undefined when all of it arrived. */
export function endOf(delivered: Delivered): { what: "failed" | "refused"; detailText: string } | undefined {
  const { refused, undelivered } = delivered;
  if (refused.length === 0 && undelivered.length === 0) return undefined;
  const detail = {
    reason: undelivered.length > 0 ? "undelivered" : "refused",
    refused: refused
      .slice(0, mostShown)
      .map(({ letter, instance, blockers }) => ({ event: letter.event, instance, blockers })),
    undelivered: undelivered.slice(0, mostShown).map(({ letter, error }) => ({
      event: letter.event,
      to: letter.to,
      error: { name: error.code, message: cleanText(error.message, 1_000) },
    })),
  };
  return { what: undelivered.length > 0 ? "failed" : "refused", detailText: JSON.stringify(detail) };
}

/** What was refused, for the histories of those who refused it. */
export function refusedLetters({ lease, report, delivered }: Filing): RefusedLetter[] {
  const { row } = report.taken;
  return delivered!.refused.map(({ letter, instance, blockers }) => ({
    taskId: lease.taskId,
    letterId: letter.id,
    instanceId: instance,
    detailText: JSON.stringify({ event: letter.event, from: { lifecycle: row.lifecycle, id: row.id }, blockers }),
  }));
}

/** What can never arrive, for a person to decide; nothing when all of it arrived or was refused. */
export function undeliveredLetter(kernel: Kernel, { report, delivered }: Filing): DeadLetterRow[] {
  const [first] = delivered!.undelivered;
  if (first === undefined) return [];
  const letters = delivered!.undelivered.map(({ letter }) => letter);
  const taken = { ...report.taken, delivery: { ...report.taken.delivery!, letters } };
  const row = letterOfTask(kernel.newId(), taken, failingOf(taken, { kind: "failed", error: first.error }));
  return [{ ...row, reason: first.error.code }];
}
