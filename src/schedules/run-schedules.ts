import { messageOf, type PawlError } from "../base/errors.ts";
import { compute } from "../base/guard.ts";
import { cleanText } from "../base/json.ts";
import { checkedText } from "../base/text.ts";
import type { LifecycleModel } from "../definition/model.ts";
import type { AnySchedule } from "../definition/schedule/schedule.ts";
import type { Entry } from "../definition/schedule/timetable.ts";
import { asPawlError } from "../kernel/errors.ts";
import { inTransaction, type Kernel } from "../kernel/kernel.ts";
import { planStart, startAll } from "../kernel/move/start.ts";
import type { PlannedStart, Start, Started } from "../kernel/types/start.ts";
import { type DueTicks, dueTicks } from "../policy/due-ticks.ts";
import type { Tx } from "../store/port/db.ts";
import { claimTick, declareSchedules, markRan, type Ran, readSchedules, type ScheduleRow } from "./store/schedules.ts";

/** The result of one round of schedules. */
export interface ScheduleRound {
  /** The number of ticks that ran. */
  readonly ticks: number;
  readonly failures: readonly { readonly id: string; readonly error: unknown }[];
}

/** The number of ticks per transaction, and of transactions per round. */
const ticksAtOnce = 100;
const turnsAtMost = 10;
/** A clock that was set back by less than this will catch up by itself. */
const clockToleranceMs = 60_000;
const signEveryMs = 30_000;
/** A schedule without a heartbeat for this long has no owner: any process that declares it can take it over. */
export const abandonedAfterMs = 120_000;

/** Registers the schedules of this process, and runs their due ticks. */
export async function runSchedules(kernel: Kernel): Promise<ScheduleRound> {
  const { entries } = kernel.timetable;
  const failures: { id: string; error: unknown }[] = [];
  let ticks = 0;
  if (entries.size === 0) return { ticks, failures };
  const rows = await readSchedules(kernel.db, [...entries.keys()]);
  if (kernel.faults !== undefined) await kernel.faults.at("schedule.read");
  await declare(kernel, rows);
  for (const row of rows) {
    const entry = entries.get(row.name)!;
    // A schedule that was just registered has no due tick; one with another timing belongs to another process.
    if (row.timing !== entry.timing || row.is_paused || row.next_ms === null) continue;
    try {
      if (row.next_ms > row.now_ms) {
        await comeBack(kernel, entry, row.next_ms, row.now_ms);
        continue;
      }
      const ran = await runDue(kernel, entry, row.next_ms, row.now_ms);
      ticks += ran.ticks;
      if (ran.ticks > 0) logRun(kernel, row, ran.ticks);
      for (const error of ran.failures) failures.push({ id: row.name, error });
    } catch (error) {
      failures.push({ id: row.name, error });
    }
  }
  return { ticks, failures };
}

/**
 * If the database's clock was ahead for a while and is right again, the next tick is too far in the future. The
 * schedule continues from now instead; keys show which ticks have already run.
 */
async function comeBack(
  kernel: Kernel,
  { schedule, timing, ticks }: Entry,
  dueMs: number,
  nowMs: number,
): Promise<void> {
  const nextMs = ticks.after(nowMs);
  const skipped = ticks.after(nowMs + clockToleranceMs);
  if (nextMs === undefined || skipped === undefined || skipped >= dueMs) return;
  if (!(await claimTick(kernel.db, { name: schedule.name, timing, dueMs, nextMs }))) return;
  const [was, now] = [dueMs, nextMs].map((ms) => new Date(ms).toISOString());
  const message = `The next run of schedule ${schedule.name} was moved from ${was} to ${now}, because the database's clock was set back.`;
  kernel.telemetry.log.warn({ schedule: schedule.name }, message);
}

function logRun({ telemetry }: Kernel, { name, next_ms, now_ms }: ScheduleRow, ticks: number): void {
  telemetry.meters.ticked(name, ticks);
  telemetry.log.info({ schedule: name, ticks, lateMs: now_ms - next_ms! }, `Schedule ${name} ran.`);
}

/**
 * A process registers its timing at the start, and the last registration wins: that is the newest deploy, or the one
 * that was rolled back to. Later it only sends heartbeats, unless the owner stops sending them.
 */
async function declare(kernel: Kernel, rows: readonly ScheduleRow[]): Promise<void> {
  const declared = rows.flatMap((row) => {
    const { schedule, timing, ticks, isDeclared } = kernel.timetable.entries.get(row.name)!;
    const [lifecycle, silentMs] = [schedule.start.name, row.now_ms - (row.seen_ms ?? 0)];
    const same = row.timing === timing && row.lifecycle === lifecycle;
    const isOurs = same ? silentMs > signEveryMs : !isDeclared || silentMs > abandonedAfterMs;
    if (!isOurs) return [];
    const nextMs = row.timing === timing ? null : (ticks.after(row.now_ms) ?? null);
    return [{ name: row.name, lifecycle, timing, nextMs, knownTiming: row.timing }];
  });
  if (declared.length > 0) await declareSchedules(kernel.db, declared);
  for (const { name } of rows) kernel.timetable.entries.get(name)!.isDeclared = true;
}

async function runDue(
  kernel: Kernel,
  entry: Entry,
  dueMs: number,
  nowMs: number,
): Promise<{ ticks: number; failures: PawlError[] }> {
  const failures: PawlError[] = [];
  let ticks = 0;
  for (let turn = 0, firstMs: number | undefined = dueMs; turn < turnsAtMost; turn++) {
    if (firstMs === undefined || firstMs > nowMs) break;
    const due = dueTicks(entry.ticks, entry.schedule.missed, { firstMs, nowMs, most: ticksAtOnce });
    const runs = due.run.map((atMs) => planRun(kernel, entry.schedule, atMs));
    const taken = await runTurn(kernel, entry, firstMs, due, runs);
    if (!taken) break;
    ticks += runs.length;
    for (const { error } of runs) if (error !== undefined) failures.push(error);
    firstMs = due.nextMs;
  }
  return { ticks, failures };
}

/** A tick to run: what it starts, or why it cannot. */
interface Run {
  readonly atMs: number;
  planned?: PlannedStart;
  started?: Extract<Started, { ok: true }>;
  error?: PawlError;
}

function planRun(kernel: Kernel, schedule: AnySchedule, atMs: number): Run {
  try {
    return { atMs, planned: planStart(kernel, startOf(kernel, schedule, atMs)) };
  } catch (error) {
    return { atMs, error: asPawlError(error) };
  }
}

/** Returns what a schedule starts for a tick. */
export function startOf(kernel: Kernel, schedule: AnySchedule, atMs: number): Start {
  const tick = { schedule: schedule.name, at: new Date(atMs).toISOString() };
  const ask = (what: "key" | "data"): unknown => {
    return compute("hook_failed", `The \`${what}\` of the schedule \`${schedule.name}\``, () => schedule[what](tick));
  };
  return {
    lifecycle: schedule.start as LifecycleModel,
    key: checkedText(ask("key"), `The key of the schedule \`${schedule.name}\``, "key_invalid"),
    data: ask("data"),
    actor: null,
    reason: `schedule ${schedule.name}`,
    requestId: kernel.newId(),
    source: "timer",
  };
}

/**
 * Advances the schedule and starts what is due in one transaction: both happen once over all processes, or neither.
 * False if another process ran the tick. A tick that the database refuses permanently is spent, and its failure is
 * stored.
 */
async function runTurn(
  kernel: Kernel,
  entry: Entry,
  dueMs: number,
  { nextMs }: DueTicks,
  runs: readonly Run[],
): Promise<boolean> {
  const turn = { name: entry.schedule.name, timing: entry.timing, dueMs, nextMs: nextMs ?? null };
  const take = (starts: (tx: Tx) => Promise<void>) =>
    inTransaction(kernel, async (tx) => {
      if (!(await claimTick(tx, turn))) return false;
      if (kernel.faults !== undefined) await kernel.faults.at("schedule.taken");
      await starts(tx);
      const last = runs.at(-1);
      if (last !== undefined) await markRan(tx, ranOf(turn.name, last));
      if (kernel.faults !== undefined) await kernel.faults.at("schedule.started");
      return true;
    });
  let taken: boolean;
  try {
    taken = await take((tx) => start(kernel, tx, runs));
  } catch (thrown) {
    const error = asPawlError(thrown);
    if (error.fault === "environment" || error.fault === "internal") throw thrown;
    for (const run of runs) run.error ??= error;
    taken = await take(async () => {});
  }
  if (kernel.faults !== undefined) await kernel.faults.at("schedule.committed");
  if (taken) for (const { planned } of runs) if (planned?.row.step != null) kernel.signals.hint(planned.row.step.lane);
  return taken;
}

async function start(kernel: Kernel, tx: Tx, runs: readonly Run[]): Promise<void> {
  const ready = runs.filter((run) => run.planned !== undefined);
  const answers = await startAll(
    kernel,
    tx,
    ready.map((run) => run.planned!),
  );
  for (const [index, run] of ready.entries()) {
    const answer = answers[index]!;
    if (answer.ok) run.started = answer;
    else run.error = answer.error;
  }
}

function ranOf(name: string, { atMs, started, error }: Run): Ran {
  if (error !== undefined || started === undefined) {
    return { name, atMs, result: "failed", instanceId: null, error: cleanText(messageOf(error), 2_000) };
  }
  const result = started.created ? "started" : "existed";
  return { name, atMs, result, instanceId: started.instance.model.id, error: null };
}
