import { isPawlError } from "../../base/errors.ts";
import { decide } from "../../definition/decide/decide.ts";
import { lockInstances, readInstances } from "../../store/move/instances.ts";
import { readMovesOfTasks } from "../../store/move/journal.ts";
import type { Executor, Tx } from "../../store/port/db.ts";
import { readEndedAttempts } from "../../store/tasks/attempts.ts";
import { readLeasedTasks } from "../../store/tasks/tasks.ts";
import { logFailure } from "../../telemetry/log.ts";
import { countReports } from "../breakers/calls.ts";
import { keepLateResults } from "../callbacks/late-results.ts";
import { commit } from "../commit/commit.ts";
import { InstanceUpdate } from "../commit/instance-update.ts";
import { asPawlError, isDefinitionFault, refusedError } from "../errors.ts";
import { deliver } from "../family/deliver.ts";
import { inTransaction, isForeign, type Kernel, lifecycleOf } from "../kernel.ts";
import { applyDueFirst } from "../move/apply-due.ts";
import { withoutFailedEvents } from "../move/failed-events.ts";
import { runHooks } from "../move/hooks.ts";
import { matchCallbacks } from "../move/match-callbacks.ts";
import { raiseFault } from "../recovery/alerts.ts";
import { deadLetterOfTask } from "../recovery/dead-letter.ts";
import { isRecovery, recoverAsTask } from "../recovery/recover.ts";
import { retryUntilKnown } from "../retry-unknown-outcome.ts";
import type { MoveOrigin } from "../types/move-origin.ts";
import type { Report, ReportResult } from "../types/outcome.ts";
import { attemptFailureOf } from "./attempt-failure.ts";
import { claimedTaskOf } from "./claimed-row.ts";
import { countOutcomes } from "./count-outcomes.ts";
import { deferFaultyStep, fail, planReport, refusedRecovery, returnDelivery, returnedTask } from "./outcomes.ts";
import { heldTaskIds, leaseBusy, PendingReport } from "./pending-report.ts";
import { endEachHooked, endTasks, returnAll, startsHooked } from "./report-without-move.ts";

const optimisticRounds = 3;
const unwritableFailurePauseMs = 60_000;

/**
 * Writes the outcomes of tasks, as many as possible in as few statements as possible. Decisions are based on what the
 * claim returned, and fenced by the lease: a worker that lost its lease changes nothing.
 */
export async function report(kernel: Kernel, reports: readonly Report[]): Promise<ReportResult[]> {
  const answers = await reportEach(kernel, reports);
  return answers.map((answer) => {
    if (typeof answer === "object") throw answer.error;
    return answer;
  });
}

/** A report that could not be written, and why. It may have been: the reply may be what was lost. */
export interface FailedReport {
  readonly error: unknown;
}

/** The same, each with an answer of its own: what stops a part of the batch hides nothing that was written before it. */
export async function reportEach(kernel: Kernel, reports: readonly Report[]): Promise<(ReportResult | FailedReport)[]> {
  const taskIds = new Set(reports.map(({ task }) => task.lease.taskId));
  if (taskIds.size < reports.length) return reportInTwo(kernel, reports);
  const batch = reports.map((one) => new PendingReport(one));
  for (const pending of batch) planReport(kernel, pending);
  if (kernel.faults !== undefined) await kernel.faults.at("report.before");
  const open = () => batch.filter((pending) => pending.result === undefined && pending.error === undefined);
  await part(
    open,
    (pending) => pending.move !== undefined,
    (list) => move(kernel, list),
  );
  handOverGranted(batch);
  await keepLateResults(kernel, batch);
  await part(
    open,
    (pending) => pending.report.outcome.kind === "deliver",
    (list) => deliverAll(kernel, list),
  );
  await part(open, startsHooked, (list) => endEachHooked(kernel, list));
  await part(
    open,
    (pending) => pending.returned !== undefined,
    (list) => returnAll(kernel, list),
  );
  await part(
    open,
    () => true,
    (list) => endTasks(kernel, list),
  );
  if (kernel.faults !== undefined) await kernel.faults.at("report.after");
  await afterReports(kernel, batch);
  return batch.map(({ result, error }) => result ?? { error: error });
}

/**
 * One batch may have one report per task. Two meet when a worker has claimed its own expired task again and both
 * attempts end at the same time: the one without a lease must not count as written with the other.
 */
async function reportInTwo(kernel: Kernel, reports: readonly Report[]): Promise<(ReportResult | FailedReport)[]> {
  const first = new Map<string, Report>();
  for (const one of reports) if (!first.has(one.task.lease.taskId)) first.set(one.task.lease.taskId, one);
  const isFirst = (one: Report) => first.get(one.task.lease.taskId) === one;
  const written = await reportEach(kernel, reports.filter(isFirst));
  const rest = await reportEach(
    kernel,
    reports.filter((one) => !isFirst(one)),
  );
  return reports.map((one) => (isFirst(one) ? written.shift()! : rest.shift()!));
}

/** One part of a batch. Its error concerns its own reports, and no others. */
async function part(
  open: () => readonly PendingReport[],
  isMeant: (pending: PendingReport) => boolean,
  write: (list: readonly PendingReport[]) => Promise<void>,
): Promise<void> {
  const list = open().filter(isMeant);
  if (list.length === 0) return;
  try {
    await write(list);
  } catch (error) {
    for (const pending of list) if (pending.result === undefined) pending.error = error;
  }
}

/** The next steps go to the worker before anything else can fail: they are leased to it already. */
function handOverGranted(batch: readonly PendingReport[]): void {
  for (const { result, granted, report } of batch)
    if (result === "written" && granted !== undefined) report.stay?.take(granted);
}

/** Counts, breakers and announcements of written reports. A failure here changes nothing about them. */
async function afterReports(kernel: Kernel, batch: readonly PendingReport[]): Promise<void> {
  const written = batch.filter((pending) => pending.result !== undefined);
  try {
    countOutcomes(kernel, written);
    await countReports(kernel, written);
    for (const { report: about, fault } of written)
      if (fault !== undefined) await raiseFault(kernel, about.task, fault);
  } catch (error) {
    logFailure(kernel.telemetry.log, error);
  }
}

async function deliverAll(kernel: Kernel, deliveries: readonly PendingReport[]): Promise<void> {
  await deliver(kernel, deliveries);
  if (kernel.faults !== undefined) await kernel.faults.at("report.delivered");
  for (const pending of deliveries) returnDelivery(kernel, pending, pending.delivered!);
}

async function move(kernel: Kernel, batch: readonly PendingReport[]): Promise<void> {
  const open = () => batch.filter((pending) => pending.result === undefined && pending.move !== undefined);
  for (let round = 0; round < optimisticRounds; round++) {
    const together = open().filter((pending) => !pending.needsTransaction);
    if (together.length === 0) break;
    const unsure = together.some((pending) => pending.mayBeWritten);
    await retryUntilKnown(kernel, () => moveTogether(kernel, together, round > 0), unsure);
  }
  for (const pending of open()) await moveAlone(kernel, pending);
}

/** A hook that throws is an attempt that failed; if even the failure cannot be written, it is tried again in a while. */
async function moveAlone(kernel: Kernel, pending: PendingReport): Promise<void> {
  for (let failures = 0; pending.result === undefined && pending.move !== undefined; failures++) {
    try {
      await retryUntilKnown(kernel, () => moveInTransaction(kernel, pending), pending.mayBeWritten);
      return;
    } catch (error) {
      if (asPawlError(error).fault === "environment") throw error;
      const { task } = pending.report;
      const failure = refusedRecovery(pending, error) ?? attemptFailureOf(task, { kind: "failed", error });
      pending.move = undefined;
      if (failures === 0) fail(kernel, pending, failure);
      else pending.returned = returnedTask(task, "failed", unwritableFailurePauseMs, false, failure.payload);
    }
  }
}

async function moveInTransaction(kernel: Kernel, pending: PendingReport): Promise<void> {
  let result: ReportResult | undefined;
  try {
    await withoutFailedEvents((failedTimers) =>
      inTransaction(kernel, async (tx) => {
        await moveLocked(kernel, tx, pending, failedTimers);
        result = pending.result;
        pending.result = undefined; // It counts once the transaction is committed.
      }),
    );
  } catch (error) {
    pending.granted = undefined;
    if (isPawlError(error, "outcome_unknown")) pending.mayBeWritten = true;
    throw error;
  }
  pending.result = result;
}

async function moveTogether(kernel: Kernel, batch: readonly PendingReport[], readAgain: boolean): Promise<void> {
  // The claim has reported waiting callbacks, but not read them.
  const again = readAgain || batch.some(({ mayBeWritten, report }) => mayBeWritten || report.task.row.inbox > 0);
  const moves = again ? await reloadMoves(kernel, kernel.db, batch) : movesAsClaimed(kernel, batch);
  const free: Move[] = [];
  for (const move of moves) {
    const { update, pending } = move;
    if (pending.result !== undefined) continue;
    decideMove(kernel, update, pending);
    if (pending.move === undefined) continue;
    update.decide(() => matchCallbacks(update));
    if (!update.changes && update.error === undefined) pending.result = "lease_lost";
    else if (update.error !== undefined || update.hooked.length > 0) pending.needsTransaction = true;
    else free.push(move);
  }
  if (free.length === 0) return;
  let written: Map<string, number>;
  try {
    written = await commit(
      kernel,
      kernel.db,
      free.map(({ update }) => update),
    );
  } catch (error) {
    if (isPawlError(error, "outcome_unknown")) for (const { pending } of free) pending.mayBeWritten = true;
    if (asPawlError(error).fault === "environment") throw error;
    // One that the database refuses is not to keep its neighbours from being taken down.
    for (const { pending } of free) pending.needsTransaction = true;
    return;
  }
  for (const { update, pending } of free) if (written.has(update.row.id)) finish(kernel, update, pending);
}

async function moveLocked(
  kernel: Kernel,
  tx: Tx,
  pending: PendingReport,
  failedTimers: ReadonlyMap<string, unknown>,
): Promise<void> {
  await lockInstances(tx, [pending.report.task.row.id]);
  const [move] = await reloadMoves(kernel, tx, [pending], failedTimers);
  if (move === undefined || pending.result !== undefined) return;
  const { update } = move;
  update.markLocked();
  decideMove(kernel, update, pending);
  if (pending.move === undefined) return;
  update.decide(() => matchCallbacks(update));
  if (update.error !== undefined) throw update.error;
  await runHooks(kernel, tx, [update]);
  const written = await commit(kernel, tx, [update]);
  if (written.has(update.row.id)) finish(kernel, update, pending);
  else if (pending.move.kind === "attempt_failed" && pending.move.what === "lapsed") pending.result = "lease_lost";
  else throw leaseBusy();
}

/** A report and the update that it makes. */
interface Move {
  readonly update: InstanceUpdate;
  readonly pending: PendingReport;
}

function movesAsClaimed(kernel: Kernel, batch: readonly PendingReport[]): Move[] {
  return batch.map((pending) => {
    const { lifecycle, row } = pending.report.task;
    return { update: new InstanceUpdate(lifecycle, row, kernel.newId), pending };
  });
}

/** Reads the instances again, for those whose lease still holds, and applies what is due first. */
async function reloadMoves(
  kernel: Kernel,
  db: Executor,
  batch: readonly PendingReport[],
  failedTimers?: ReadonlyMap<string, unknown>,
): Promise<Move[]> {
  const ids = batch.map(({ report }) => report.task.row.id);
  const rows = new Map((await readInstances(db, ids)).map((row) => [row.id, row]));
  const held = await heldTaskIds(db, batch);
  // Last of all: an earlier try of ours that ended the visit or the lease between these reads is found by now.
  await findWrittenReports(kernel, db, batch);
  const open = batch.filter((pending) => pending.result === undefined);
  const moves: Move[] = [];
  for (const pending of open) {
    const row = rows.get(pending.report.task.row.id);
    if (row === undefined || !held.has(pending.lease.taskId) || isForeign(kernel, row)) pending.result = "lease_lost";
    else moves.push({ update: new InstanceUpdate(lifecycleOf(kernel, row), row, kernel.newId), pending });
  }
  if (failedTimers !== undefined) for (const { update } of moves) update.failedTimers = failedTimers;
  await applyDueFirst(
    db,
    moves.map(({ update }) => update),
  );
  return moves;
}

async function findWrittenReports(kernel: Kernel, db: Executor, batch: readonly PendingReport[]): Promise<void> {
  const unsure = batch.filter((pending) => pending.mayBeWritten && pending.result === undefined);
  if (unsure.length === 0) return;
  const leases = unsure.map(({ report, lease }) => ({ id: report.task.row.id, ...lease }));
  const moves = await readMovesOfTasks(
    db,
    unsure.map(({ report }, index) => ({ ...leases[index]!, afterVersion: report.task.row.version })),
  );
  // A recovery that failed permanently moved nothing, and left a note.
  const ended = unsure.some(({ report }) => isRecovery(report.task)) ? await readEndedAttempts(db, leases) : [];
  const made = new Set([...moves, ...ended].map((one) => one.task_id));
  for (const pending of unsure) if (made.has(pending.lease.taskId)) pending.result = "written";
  await findGranted(kernel, db, unsure, moves);
}

/** The next steps that were leased with moves whose replies were lost, if they are still there. */
async function findGranted(
  kernel: Kernel,
  db: Executor,
  batch: readonly PendingReport[],
  moves: Awaited<ReturnType<typeof readMovesOfTasks>>,
): Promise<void> {
  const leases = moves.flatMap(({ task_id: taskId, granted: token }) => (token === null ? [] : [{ taskId, token }]));
  if (leases.length === 0 || batch.every(({ report }) => report.stay === undefined)) return;
  const granted = new Map((await readLeasedTasks(db, leases)).map((row) => [row.task_id, row]));
  for (const pending of batch) {
    const row = granted.get(pending.lease.taskId);
    const task = row === undefined ? [] : claimedTaskOf(kernel, row);
    if (!Array.isArray(task)) pending.granted = task;
  }
}

function decideMove(kernel: Kernel, update: InstanceUpdate, pending: PendingReport): void {
  const { task } = pending.report;
  const { move } = pending;
  // Something due ended the visit: the step's result is too late.
  if (update.instance.visit !== task.visit || update.instance.outcome !== null || move === undefined) return;
  const lease = { ...pending.lease, lapsed: move.kind === "attempt_failed" && move.what === "lapsed" };
  const origin: MoveOrigin = { source: "worker", requestId: null, lease };
  update.decide(() => {
    if (move.kind === "event") {
      const event = {
        name: move.event,
        payload: move.payload,
        patch: move.patch,
        actor: null,
        reason: null,
        endsStep: true,
      };
      const decided = decide(update.lifecycle, update.instance, event, update.row.now_ms);
      if (decided.kind === "refused") throw refusedError(update, { event: move.event }, decided);
      update.add(decided, origin, move, pending.report.stay?.grant);
    } else if (move.kind === "recover") {
      const refusal = recoverAsTask(update, move, origin, pending.report.stay?.grant);
      if (refusal !== undefined) throw refusedError(update, { event: "recover" }, refusal);
    } else if (isRecovery(task)) {
      update.abandonRecovery(task, deadLetterOfTask(kernel.newId(), task, move), move);
    } else {
      const event = { name: "fail", payload: move.payload, actor: null, reason: move.payload.reason, endsStep: true };
      const decided = decide(update.lifecycle, update.instance, event, update.row.now_ms);
      if (decided.kind === "refused") throw refusedError(update, { event: "fail" }, decided);
      update.add(decided, origin);
    }
  });
  // A refused recovery, or a refused failure, is decided once more on its own, without other updates.
  if (update.error === undefined || move.kind !== "event") return;
  if (isDefinitionFault(update.error)) {
    deferFaultyStep(pending, update.error);
    return;
  }
  // A guard was against it, or the data: another attempt may have another result.
  pending.move = undefined;
  fail(kernel, pending, attemptFailureOf(task, { kind: "failed", error: update.error }));
}

/** Written: with the report, or with what was due instead of it. */
function finish(kernel: Kernel, update: InstanceUpdate, pending: PendingReport): void {
  pending.result = update.isFenced ? "written" : "lease_lost";
  pending.leftDeadLetter = update.deadLetters.length > 0;
  pending.recovers = update.recovers;
  kernel.signals.hint(update.instance.id);
  // The next step, leased to the worker that made the move: a claim like any other, without the claiming.
  pending.granted = update.grantedTask;
  for (const lane of update.lanes) kernel.signals.hint(lane);
}
