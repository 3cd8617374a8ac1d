import type { PawlError } from "../../base/errors.ts";
import { cleanText } from "../../base/json.ts";
import { asSentence } from "../../base/text.ts";
import type { Blocker } from "../../definition/decide/decide.ts";
import type { LifecycleModel } from "../../definition/model.ts";
import { readInstances } from "../../store/move/instances.ts";
import { endReleases, type ParkedRow, type ReleaseFailure, recordReleaseFailures } from "../../store/move/releases.ts";
import type { Executor } from "../../store/port/db.ts";
import { errorFields } from "../../telemetry/log.ts";
import type { InstanceUpdate } from "../commit/instance-update.ts";
import type { Kernel } from "../kernel.ts";
import { describeError } from "../tasks/attempt-failure.ts";
import { applyDueFirst } from "./apply-due.ts";
import { sweep } from "./sweep.ts";

/** A state that is released in turns. */
export interface ParkedState {
  readonly lifecycle: LifecycleModel;
  readonly state: string;
  readonly event: string;
  readonly limit: number;
  readonly everyMs: number;
}

/** Why the event of a parked instance failed permanently. */
const releaseFailed = "release_failed";

/** A definition that throws so often in a row is for a person to fix. */
const maxFailures = 5;
/** A guard may refuse for good reasons: an alert is raised, and the release is tried again. */
export const maxRefusals = 10;
/** The longest pause, in turns of the release. */
const longestPause = 10;

interface Failed extends ParkedRow {
  readonly error: PawlError;
}

/** A failure with the earlier ones. */
interface Counted extends ReleaseFailure {
  readonly attempts: number;
  readonly blockers: readonly Blocker[] | undefined;
}

/**
 * Records why parked instances were not released, so that each pauses for a while and can be explained. A new failure
 * is logged and noted in the history; one that repeats ends as a dead letter, a refusal that repeats as an alert.
 */
export async function failReleases(kernel: Kernel, parked: ParkedState, failed: readonly Failed[]): Promise<void> {
  // An unreachable database is not the instance's fault, and an instance that has moved on meanwhile has not failed.
  const counting = failed.filter(({ error }) => error.fault !== "environment" && isAbout(parked, error));
  if (counting.length === 0) return;
  const { lifecycle, state, everyMs } = parked;
  const rows = counting.map(failureOf);
  const where = { lifecycle: lifecycle.name, state, everyMs, capMs: everyMs * longestPause };
  const known = new Map((await recordReleaseFailures(kernel.db, where, rows)).map((one) => [one.id, one]));
  const counted = new Map<string, Counted>();
  for (const [index, row] of rows.entries()) {
    const { attempts, is_new: isNew } = known.get(row.instanceId)!;
    if (!isNew && attempts !== limitOf(row) && !(row.what === "failed" && attempts > maxFailures)) continue;
    const { error } = counting[index]!;
    const { blockers } = error.details as { blockers?: readonly Blocker[] };
    counted.set(row.instanceId, { ...row, attempts, blockers });
    const fields = { lifecycle: lifecycle.name, state, instance: row.instanceId, event: parked.event, attempts };
    const text = `A parked \`${lifecycle.name}\` was not released from \`${state}\`; it stays parked and is tried again: ${row.reason}`;
    kernel.telemetry.log.warn({ ...fields, ...errorFields(error) }, text);
  }
  if (counted.size > 0) await noteFailures(kernel, parked, counted);
}

function limitOf({ what }: ReleaseFailure): number {
  return what === "failed" ? maxFailures : maxRefusals;
}

function isAbout({ state }: ParkedState, { code, details }: PawlError): boolean {
  return code !== "transition_refused" || details.state === state;
}

function failureOf({ id, visit, error }: Failed): ReleaseFailure {
  const { blockers } = error.details as { blockers?: readonly Blocker[] };
  const isRefusal = error.code === "transition_refused" && blockers !== undefined;
  const reason = isRefusal ? blockers.map((one) => one.reason).join("; ") : error.message;
  return {
    instanceId: id,
    visit,
    what: isRefusal ? "refused" : "failed",
    reason: cleanText(reason, 500),
    errorText: isRefusal ? null : JSON.stringify(describeError(error)),
  };
}

/** Writes the notes, dead letters and alerts through the commit of their instances. */
async function noteFailures(kernel: Kernel, parked: ParkedState, counted: ReadonlyMap<string, Counted>): Promise<void> {
  const rows = await readInstances(kernel.db, [...counted.keys()]);
  const givenUp = new Set<string>();
  const decide = async (db: Executor, updates: readonly InstanceUpdate[]): Promise<void> => {
    await applyDueFirst(db, updates);
    for (const update of updates) {
      const failure = counted.get(update.row.id)!;
      if (update.error !== undefined || update.instance.visit !== failure.visit) continue;
      update.decide(() => note(update, parked, failure));
      if (isGivenUp(failure)) givenUp.add(update.row.id);
    }
  };
  const { written } = await sweep(kernel, rows, decide);
  const ended = [...givenUp].filter((id) => written.has(id));
  if (ended.length > 0) await endReleases(kernel.db, ended);
}

function isGivenUp({ what, attempts }: Counted): boolean {
  return what === "failed" && attempts >= maxFailures;
}

function note(update: InstanceUpdate, { event, state }: ParkedState, failure: Counted): void {
  const { what, attempts, reason, blockers, visit, errorText } = failure;
  const error = errorText === null ? null : (JSON.parse(errorText) as { name: string; message: string });
  const detail = { event, source: "release", reason, ...(error === null ? { blockers } : { error }) };
  const requestId = update.newId();
  if (what === "failed") update.noteFailure({ requestId, attempt: attempts, detail });
  else update.note("refused", { ...detail, attempts }, requestId);
  const cause = `release:${update.row.id}:${visit}`;
  if (isGivenUp(failure)) {
    update.failures.giveUp("event_failed", {
      id: update.newId(),
      instanceId: update.row.id,
      lifecycle: update.lifecycle.name,
      kind: "instance",
      origin: state,
      reason: releaseFailed,
      errorText,
      attempts,
      payloadText: null,
      detailsText: JSON.stringify({ event, source: "release" }),
      workText: null,
      cause,
      version: update.instance.version,
      lease: null,
    });
  } else if (what === "refused" && attempts >= maxRefusals) {
    const key = update.instance.key;
    const name = key === null ? `${update.lifecycle.name} ${update.row.id}` : `${update.lifecycle.name} "${key}"`;
    update.failures.addAlert({
      cause,
      kind: "release_refused",
      message: asSentence(`${name} refused its release from ${state} ${attempts} times: ${reason}`),
      details: { reason, state, event, attempts },
    });
  }
}
