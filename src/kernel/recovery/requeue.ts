import { PawlError } from "../../base/errors.ts";
import { isPlainObject } from "../../definition/decide/move.ts";
import { validate } from "../../definition/decide/validate.ts";
import { isInternal } from "../../definition/internal.ts";
import { effectLaneOf, failed, type LifecycleModel, readLane, sendLaneOf } from "../../definition/model.ts";
import { type InstanceRow, readInstances } from "../../store/move/instances.ts";
import type { Executor } from "../../store/port/db.ts";
import { type Decider, requeueEffect } from "../../store/recovery/dead-letters.ts";
import type { DeadLetterView } from "../../views/dead-letters.ts";
import { asPawlError, nameOf } from "../errors.ts";
import { type Kernel, lifecycleOf } from "../kernel.ts";
import type { Send } from "../types/send.ts";

/** How a person wants failed work to be retried. */
export interface Requeue extends Decider {
  readonly letter: DeadLetterView;
  /** Keys of the data to change first. */
  readonly data: unknown;
  /** From the beginning, instead of from where it failed. */
  readonly restart: boolean;
}

/** Runs an effect again, by the definition of this process. */
export async function requeueTask(
  kernel: Kernel,
  db: Executor,
  { letter, data, restart, ...by }: Requeue,
): Promise<void> {
  if (data !== undefined || restart) {
    const message = `Dead letter ${letter.id} is about the after-effect of \`${letter.origin}\`: it is carried out again as it was, without \`data\` or \`restart\`.`;
    throw new PawlError("option_invalid", message, { deadLetter: letter.id });
  }
  const task = { id: kernel.newId(), lane: laneFor(kernel, letter) };
  if (!(await requeueEffect(db, letter.id, task, by))) throw decidedError(letter.id);
  kernel.signals.hint(task.lane);
}

/** That of today's definition; letters to other instances go by their receivers'. */
function laneFor(kernel: Kernel, letter: DeadLetterView): string {
  const receivers = readLane(letter.origin);
  const isDelivery = receivers?.part === ":send";
  const lifecycle = kernel.lifecycles.get(isDelivery ? receivers.lifecycle : letter.lifecycle);
  if (lifecycle === undefined) throw unknownLifecycle(letter);
  return isDelivery ? sendLaneOf(lifecycle) : effectLaneOf(lifecycle);
}

/** The event that retries the instance of a dead letter: from its checkpoint, or from the start. */
export async function requeueSend(kernel: Kernel, db: Executor, requeue: Requeue): Promise<Send> {
  const { letter, actor, reason } = requeue;
  const [row] = letter.instance_id === null ? [] : await readInstances(db, [letter.instance_id]);
  if (row === undefined) throw instanceGone(letter);
  if (!kernel.lifecycles.has(letter.lifecycle)) throw unknownLifecycle(letter);
  const lifecycle = lifecycleOf(kernel, row);
  return {
    lifecycle,
    ref: { id: row.id },
    event: eventFor(lifecycle, row, requeue),
    payload: undefined,
    patch: checkedPatch(lifecycle, row, requeue.data),
    renewsDeadline: true,
    actor,
    reason,
    expectedVersion: undefined,
    idempotency: undefined,
    delay: undefined,
    requestId: kernel.newId(),
  };
}

/** Those of these dead letters about instances that could not be requeued at present, and why. Changes nothing. */
export async function refusedRequeues(
  kernel: Kernel,
  letters: readonly DeadLetterView[],
  restart: boolean,
): Promise<Map<string, PawlError>> {
  const ids = new Set(letters.map((letter) => letter.instance_id!));
  const rows = new Map((await readInstances(kernel.db, [...ids])).map((row) => [row.id, row]));
  const refused = new Map<string, PawlError>();
  for (const letter of letters) {
    const row = rows.get(letter.instance_id!);
    try {
      if (!kernel.lifecycles.has(letter.lifecycle)) throw unknownLifecycle(letter);
      if (row !== undefined) eventFor(lifecycleOf(kernel, row), row, { letter, restart });
    } catch (error) {
      refused.set(letter.id, asPawlError(error));
    }
  }
  return refused;
}

/** Which event that is, or `transition_refused`. */
function eventFor(
  lifecycle: LifecycleModel,
  row: InstanceRow,
  { letter, restart }: Pick<Requeue, "letter" | "restart">,
): string {
  // A job that ended in error has no place to resume from.
  if (restart || (lifecycle.job && row.outcome === "failure")) return "restart";
  if (row.state === failed && lifecycle.builtIns) return "recover";
  if (lifecycle.retriable.has(row.state)) return "retry";
  const release = letter.origin === row.state ? lifecycle.states.get(row.state)?.release : undefined;
  if (release !== undefined) return release.send;
  throw new PawlError(
    "transition_refused",
    `Dead letter ${letter.id} cannot be requeued: ${nameOf(row)} has moved from \`${letter.origin}\` to \`${row.state}\`. Send it an event, or discard the dead letter.`,
    { deadLetter: letter.id, id: row.id, state: row.state },
  );
}

/** Keys to change, held together with the rest of the data against the schema. */
export function checkedPatch(lifecycle: LifecycleModel, row: InstanceRow, data: unknown): Send["patch"] {
  if (data === undefined) return undefined;
  if (isInternal(lifecycle.name)) {
    const message = `The data of \`${lifecycle.name}\` cannot be changed: it is one of Pawl's own lifecycles. Requeue it without \`data\`.`;
    throw new PawlError("not_allowed", message, { lifecycle: lifecycle.name });
  }
  if (!isPlainObject(data)) throw dataInvalid(lifecycle, ["must be an object with the keys to change"]);
  const check = (value: unknown) => validate(lifecycle.data, value, `The data of \`${lifecycle.name}\``).faults;
  const changed = Object.fromEntries(
    Object.entries({ ...row.data, ...data }).filter(([, value]) => value !== undefined),
  );
  const faults = check(changed);
  // The output of a schema need not be valid input for it: then the change cannot be checked.
  if (faults !== undefined && check(row.data) === undefined) throw dataInvalid(lifecycle, faults);
  return data;
}

function dataInvalid(lifecycle: LifecycleModel, faults: readonly string[]): PawlError {
  const message = `\`${lifecycle.name}\` was not requeued: its data ${faults.join("; ")}.`;
  return new PawlError("data_invalid", message, { lifecycle: lifecycle.name, faults });
}

export function unknownLifecycle(letter: DeadLetterView): PawlError {
  return new PawlError(
    "lifecycle_unknown",
    `Dead letter ${letter.id} is about \`${letter.lifecycle}\`, which this process does not declare. Add it to \`lifecycles\`.`,
    { lifecycle: letter.lifecycle },
  );
}

function instanceGone(letter: DeadLetterView): PawlError {
  const message = `Dead letter ${letter.id} is about an instance of \`${letter.lifecycle}\` that no longer exists. Discard it.`;
  return new PawlError("instance_unknown", message, { deadLetter: letter.id });
}

export function letterUnknown(id: string): PawlError {
  return new PawlError("dead_letter_unknown", `There is no dead letter with the id ${id}.`, { deadLetter: id });
}

export function decidedError(id: string, status?: string): PawlError {
  const how = status === undefined ? "decided" : status;
  return new PawlError("dead_letter_decided", `Dead letter ${id} was ${how} already; nothing was changed.`, {
    deadLetter: id,
    status: status ?? null,
  });
}
