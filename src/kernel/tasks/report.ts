import { isPawlError } from "../../base/errors.ts";
import { decide } from "../../definition/decide/decide.ts";
import { lockInstances, readInstances } from "../../store/move/instances.ts";
import { readMovesOfTasks } from "../../store/move/journal.ts";
import type { Executor, Tx } from "../../store/port/db.ts";
import { readSetbacks } from "../../store/tasks/attempts.ts";
import { type LapsedTask, readLapsedLeases, readLeasedTasks } from "../../store/tasks/tasks.ts";
import { logFailure } from "../../telemetry/log.ts";
import { judge } from "../breakers/calls.ts";
import { keepLateResults } from "../callbacks/late-results.ts";
import { commit } from "../commit/commit.ts";
import { Course } from "../commit/instance-update.ts";
import { asPawlError, isDefinitionFault, refusedError } from "../errors.ts";
import { deliver } from "../family/deliver.ts";
import { inTransaction, isNewer, type Kernel, lifecycleOf } from "../kernel.ts";
import { catchUp } from "../move/apply-due.ts";
import { withoutFailedEvents } from "../move/failed-events.ts";
import { runHooks } from "../move/hooks.ts";
import { match } from "../move/match-callbacks.ts";
import { raiseFault } from "../recovery/alerts.ts";
import { letterOfTask } from "../recovery/dead-letter.ts";
import { isRecovery, recoverAsTask } from "../recovery/recover.ts";
import { untilAnswered } from "../retry-unknown-outcome.ts";
import type { Maker } from "../types/move-origin.ts";
import type { Report, Reported } from "../types/outcome.ts";
import { failingOf } from "./attempt-failure.ts";
import { takenOf } from "./claim.ts";
import { tally } from "./count-outcomes.ts";
import { fail, putOff, refusedRecovery, setAside, setbackOf, sort } from "./outcomes.ts";
import { Filing, heldOf, leaseBusy } from "./pending-report.ts";
import { end, setBack } from "./report-without-move.ts";

const optimisticRounds = 3;
const unwritableFailurePauseMs = 60_000;

/**
 * Takes down what workers did with their tasks, as many as there are in as few statements as can be. Decisions are made
 * on what the claim returned, and fenced by the lease: a worker that lost its lease changes nothing.
 */
export async function report(kernel: Kernel, reports: readonly Report[]): Promise<Reported[]> {
  const answers = await reportEach(kernel, reports);
  return answers.map((answer) => {
    if (typeof answer === "object") throw answer.error;
    return answer;
  });
}

/** A report that could not be written, and why. It may have been: the reply can be what was lost. */
export interface Unwritten {
  readonly error: unknown;
}

/** The same, each with an answer of its own: what stops a part of the batch hides nothing that was written before it. */
export async function reportEach(kernel: Kernel, reports: readonly Report[]): Promise<(Reported | Unwritten)[]> {
  const taskIds = new Set(reports.map(({ taken }) => taken.lease.taskId));
  if (taskIds.size < reports.length) return reportApart(kernel, reports);
  const filings = reports.map((one) => new Filing(one));
  for (const filing of filings) sort(kernel, filing);
  if (kernel.faults !== undefined) await kernel.faults.at("report.before");
  const open = () => filings.filter((filing) => filing.result === undefined && filing.obstacle === undefined);
  await part(
    open,
    (filing) => filing.move !== undefined,
    (list) => move(kernel, list),
  );
  handOver(filings);
  await keepLateResults(kernel, filings);
  await part(
    open,
    (filing) => filing.report.outcome.kind === "deliver",
    (list) => bringAll(kernel, list),
  );
  await part(
    open,
    (filing) => filing.setback !== undefined,
    (list) => setBack(kernel, list),
  );
  await part(
    open,
    () => true,
    (list) => end(kernel, list),
  );
  if (kernel.faults !== undefined) await kernel.faults.at("report.after");
  await conclude(kernel, filings);
  return filings.map(({ result, obstacle }) => result ?? { error: obstacle });
}

/**
 * One batch has room for one report of a task. Two come together when a worker has claimed its own expired task again and
 * both attempts end at the same time: the one without a lease must not pass for written with the other.
 */
async function reportApart(kernel: Kernel, reports: readonly Report[]): Promise<(Reported | Unwritten)[]> {
  const newest = new Map<string, Report>();
  for (const one of reports) {
    const { taskId, token } = one.taken.lease;
    if (token > (newest.get(taskId)?.taken.lease.token ?? 0)) newest.set(taskId, one);
  }
  const isNewest = (one: Report) => newest.get(one.taken.lease.taskId) === one;
  const written = await reportEach(kernel, reports.filter(isNewest));
  const older = await reportEach(
    kernel,
    reports.filter((one) => !isNewest(one)),
  );
  return reports.map((one) => (isNewest(one) ? written.shift()! : older.shift()!));
}

/** One part of a batch. What it fails of keeps those reports from being written that it was about, and no others. */
async function part(
  open: () => readonly Filing[],
  isMeant: (filing: Filing) => boolean,
  write: (list: readonly Filing[]) => Promise<void>,
): Promise<void> {
  const list = open().filter(isMeant);
  if (list.length === 0) return;
  try {
    await write(list);
  } catch (error) {
    for (const filing of list) if (filing.result === undefined) filing.obstacle = error;
  }
}

/** The next steps go to the worker before anything else can fail: they are leased to it already. */
function handOver(filings: readonly Filing[]): void {
  for (const { result, granted, report } of filings)
    if (result === "written" && granted !== undefined) report.stay?.take(granted);
}

/** What is counted, judged and announced once reports are written. That it fails changes nothing about them. */
async function conclude(kernel: Kernel, filings: readonly Filing[]): Promise<void> {
  const written = filings.filter((filing) => filing.result !== undefined);
  try {
    tally(kernel, written);
    await judge(kernel, written);
    for (const { report: about, fault } of written)
      if (fault !== undefined) await raiseFault(kernel, about.taken, fault);
  } catch (error) {
    logFailure(kernel.telemetry.log, error);
  }
}

/**
 * Gives back the tasks of silent workers, unless nobody could speak. A lapse is an outcome like any other: the predicate is
 * looked at again.
 */
export async function reportLapsed(kernel: Kernel, lanes: readonly string[], limit: number): Promise<number> {
  const lapsed = await lapsedLeases(kernel, lanes, limit);
  if (kernel.faults !== undefined) await kernel.faults.at("lapse.read");
  if (lapsed.length === 0) return 0;
  const results = await report(
    kernel,
    lapsed.flatMap((task) => {
      const taken = takenOf(kernel, task);
      return Array.isArray(taken)
        ? []
        : [{ taken, outcome: { kind: "lapsed" as const, unspent: unspent(kernel, task) } }];
    }),
  );
  return results.filter((result) => result === "written").length;
}

/** Why a lapse spends no attempt: nobody could renew, or the step had not begun. */
function unspent(kernel: Kernel, { leased_until_ms, begun }: LapsedTask): "database_away" | "not_started" | undefined {
  if (kernel.expiry.wasGap(leased_until_ms)) return "database_away";
  return begun ? undefined : "not_started";
}

async function lapsedLeases(kernel: Kernel, lanes: readonly string[], limit: number): Promise<LapsedTask[]> {
  const { db, expiry } = kernel;
  const askedMs = performance.now();
  const rows = await readLapsedLeases(db, lanes, limit).catch((error: unknown) => {
    expiry.failed(error);
    throw error;
  });
  const { now_ms: nowMs, clock_ms: clockMs, started_ms } = rows[0]!;
  // An embedded database was started by this process: whoever held a lease before is gone.
  const startedMs = db.kind === "pglite" ? null : started_ms;
  if (!expiry.observe({ nowMs, clockMs, startedMs }, askedMs)) return [];
  return rows.filter((row) => row.task_id !== null);
}

async function bringAll(kernel: Kernel, deliveries: readonly Filing[]): Promise<void> {
  await deliver(kernel, deliveries);
  if (kernel.faults !== undefined) await kernel.faults.at("report.delivered");
  for (const filing of deliveries) putOff(kernel, filing, filing.delivered!);
}

async function move(kernel: Kernel, filings: readonly Filing[]): Promise<void> {
  const open = () => filings.filter((filing) => filing.result === undefined && filing.move !== undefined);
  for (let round = 0; round < optimisticRounds; round++) {
    const together = open().filter((filing) => !filing.alone);
    if (together.length === 0) break;
    const unsure = together.some((filing) => filing.unsure);
    await untilAnswered(() => moveTogether(kernel, together, round > 0), unsure);
  }
  for (const filing of open()) await moveAlone(kernel, filing);
}

/** A hook that throws is an attempt that failed; if even the failure cannot be written, it is tried again in a while. */
async function moveAlone(kernel: Kernel, filing: Filing): Promise<void> {
  for (let failures = 0; filing.result === undefined && filing.move !== undefined; failures++) {
    try {
      await untilAnswered(() => moveInTransaction(kernel, filing), filing.unsure);
      return;
    } catch (error) {
      if (asPawlError(error).fault === "environment") throw error;
      const { taken } = filing.report;
      const failing = refusedRecovery(filing, error) ?? failingOf(taken, { kind: "failed", error });
      filing.move = undefined;
      if (failures === 0) fail(kernel, filing, failing);
      else filing.setback = setbackOf(taken, "failed", unwritableFailurePauseMs, false, failing.payload);
    }
  }
}

async function moveInTransaction(kernel: Kernel, filing: Filing): Promise<void> {
  let result: Reported | undefined;
  try {
    await withoutFailedEvents((failedTimers) =>
      inTransaction(kernel, async (tx) => {
        await moveLocked(kernel, tx, filing, failedTimers);
        result = filing.result;
        filing.result = undefined; // It counts once the transaction is committed.
      }),
    );
  } catch (error) {
    filing.granted = undefined;
    if (isPawlError(error, "outcome_unknown")) filing.unsure = true;
    throw error;
  }
  filing.result = result;
}

async function moveTogether(kernel: Kernel, filings: readonly Filing[], readAgain: boolean): Promise<void> {
  // The claim has told of callbacks that wait: they are not with it.
  const again = readAgain || filings.some(({ unsure, report }) => unsure || report.taken.row.inbox > 0);
  const moves = again ? await movesAnew(kernel, kernel.db, filings) : movesAsClaimed(kernel, filings);
  const free: Move[] = [];
  for (const move of moves) {
    const { course, filing } = move;
    if (filing.result !== undefined) continue;
    decideMove(kernel, course, filing);
    if (filing.move === undefined) continue;
    course.attempt(() => match(course));
    if (!course.changes && course.failure === undefined) filing.result = "lease_lost";
    else if (course.failure !== undefined || course.hooked.length > 0) filing.alone = true;
    else free.push(move);
  }
  if (free.length === 0) return;
  let written: Map<string, number>;
  try {
    written = await commit(
      kernel,
      kernel.db,
      free.map(({ course }) => course),
    );
  } catch (error) {
    if (isPawlError(error, "outcome_unknown")) for (const { filing } of free) filing.unsure = true;
    if (asPawlError(error).fault === "environment") throw error;
    // One that the database refuses is not to keep its neighbours from being taken down.
    for (const { filing } of free) filing.alone = true;
    return;
  }
  for (const { course, filing } of free) if (written.has(course.row.id)) finish(kernel, course, filing);
}

async function moveLocked(
  kernel: Kernel,
  tx: Tx,
  filing: Filing,
  failedTimers: ReadonlyMap<string, unknown>,
): Promise<void> {
  await lockInstances(tx, [filing.report.taken.row.id]);
  const [move] = await movesAnew(kernel, tx, [filing], failedTimers);
  if (move === undefined || filing.result !== undefined) return;
  const { course } = move;
  course.hold();
  decideMove(kernel, course, filing);
  if (filing.move === undefined) return;
  course.attempt(() => match(course));
  if (course.failure !== undefined) throw course.failure;
  await runHooks(kernel, tx, [course]);
  const written = await commit(kernel, tx, [course]);
  if (written.has(course.row.id)) finish(kernel, course, filing);
  else if (filing.move.kind === "failing" && filing.move.what === "lapsed") filing.result = "lease_lost";
  else throw leaseBusy();
}

/** A report and what it makes of its instance. */
interface Move {
  readonly course: Course;
  readonly filing: Filing;
}

function movesAsClaimed(kernel: Kernel, filings: readonly Filing[]): Move[] {
  return filings.map((filing) => {
    const { lifecycle, row } = filing.report.taken;
    return { course: new Course(lifecycle, row, kernel.newId), filing };
  });
}

/** Reads the instances anew, for those whose lease still holds, and lets what is due come first. */
async function movesAnew(
  kernel: Kernel,
  db: Executor,
  filings: readonly Filing[],
  failedTimers?: ReadonlyMap<string, unknown>,
): Promise<Move[]> {
  const ids = filings.map(({ report }) => report.taken.row.id);
  const rows = new Map((await readInstances(db, ids)).map((row) => [row.id, row]));
  const held = await heldOf(db, filings);
  // Last of all: an earlier try of ours that ended the visit or the lease between these looks is found by now.
  await settleLostReplies(kernel, db, filings);
  const open = filings.filter((filing) => filing.result === undefined);
  const moves: Move[] = [];
  for (const filing of open) {
    const row = rows.get(filing.report.taken.row.id);
    if (row === undefined || !held.has(filing.lease.taskId) || isNewer(kernel, row)) filing.result = "lease_lost";
    else moves.push({ course: new Course(lifecycleOf(kernel, row), row, kernel.newId), filing });
  }
  if (failedTimers !== undefined) for (const { course } of moves) course.failedTimers = failedTimers;
  await catchUp(
    db,
    moves.map(({ course }) => course),
  );
  return moves;
}

async function settleLostReplies(kernel: Kernel, db: Executor, filings: readonly Filing[]): Promise<void> {
  const unsure = filings.filter((filing) => filing.unsure && filing.result === undefined);
  if (unsure.length === 0) return;
  const leases = unsure.map(({ report, lease }) => ({ id: report.taken.row.id, ...lease }));
  const moves = await readMovesOfTasks(
    db,
    unsure.map(({ report }, index) => ({ ...leases[index]!, afterVersion: report.taken.row.version })),
  );
  // A recovery that was given up moved nothing, and left word.
  const ended = unsure.some(({ report }) => isRecovery(report.taken)) ? await readSetbacks(db, leases) : [];
  const made = new Set([...moves, ...ended].map((one) => one.task_id));
  for (const filing of unsure) if (made.has(filing.lease.taskId)) filing.result = "written";
  await findGranted(kernel, db, unsure, moves);
}

/** The next steps that came leased with moves whose replies were lost, where they still are. */
async function findGranted(
  kernel: Kernel,
  db: Executor,
  filings: readonly Filing[],
  moves: Awaited<ReturnType<typeof readMovesOfTasks>>,
): Promise<void> {
  const leases = moves.flatMap(({ task_id: taskId, granted: token }) => (token === null ? [] : [{ taskId, token }]));
  if (leases.length === 0 || filings.every(({ report }) => report.stay === undefined)) return;
  const granted = new Map((await readLeasedTasks(db, leases)).map((task) => [task.task_id, task]));
  for (const filing of filings) {
    const task = granted.get(filing.lease.taskId);
    const taken = task === undefined ? [] : takenOf(kernel, task);
    if (!Array.isArray(taken)) filing.granted = taken;
  }
}

function decideMove(kernel: Kernel, course: Course, filing: Filing): void {
  const { taken } = filing.report;
  const { move } = filing;
  // What was due ended the visit: the step's result has come too late.
  if (course.instance.visit !== taken.visit || course.instance.outcome !== null || move === undefined) return;
  const lease = { ...filing.lease, lapsed: move.kind === "failing" && move.what === "lapsed" };
  const maker: Maker = { source: "worker", requestId: null, lease };
  course.attempt(() => {
    if (move.kind === "event") {
      const event = {
        name: move.event,
        payload: move.payload,
        patch: move.patch,
        actor: null,
        reason: null,
        endsStep: true,
      };
      const decided = decide(course.lifecycle, course.instance, event, course.row.now_ms);
      if (decided.kind === "refused") throw refusedError(course, { event: move.event }, decided);
      course.add(decided, maker, move, filing.report.stay?.grant);
    } else if (move.kind === "recover") {
      const refusal = recoverAsTask(course, move, maker, filing.report.stay?.grant);
      if (refusal !== undefined) throw refusedError(course, { event: "recover" }, refusal);
    } else if (isRecovery(taken)) {
      course.abandonRecovery(taken, letterOfTask(kernel.newId(), taken, move), move);
    } else {
      const event = { name: "fail", payload: move.payload, actor: null, reason: move.payload.reason, endsStep: true };
      const decided = decide(course.lifecycle, course.instance, event, course.row.now_ms);
      if (decided.kind === "refused") throw refusedError(course, { event: "fail" }, decided);
      course.add(decided, maker);
    }
  });
  // A recovery that is refused, or a failure that is, is decided once more on its own, where nobody is in the way.
  if (course.failure === undefined || move.kind !== "event") return;
  if (isDefinitionFault(course.failure)) {
    setAside(filing, course.failure);
    return;
  }
  // A guard was against it, or the data: another attempt may have another result.
  filing.move = undefined;
  fail(kernel, filing, failingOf(taken, { kind: "failed", error: course.failure }));
}

/** Written: with the report in it, or with what was due instead of it. */
function finish(kernel: Kernel, course: Course, filing: Filing): void {
  filing.result = course.fenced ? "written" : "lease_lost";
  filing.isBuried = course.buries;
  filing.recovers = course.recovers;
  kernel.signals.hint(course.instance.id);
  // The next step, leased to the worker that made the move: a claim like any other, without the claiming.
  filing.granted = course.grantedTask;
  for (const lane of course.lanes) kernel.signals.hint(lane);
}
