import { broken, PawlError } from "../base/errors.ts";
import type { AnyLifecycle } from "../definition/language/public-types.ts";
import { suggest } from "../definition/read/fault.ts";
import { readTiming } from "../definition/schedule/schedule.ts";
import { ticksOf } from "../definition/schedule/ticks.ts";
import { inTransaction, type Kernel } from "../kernel/kernel.ts";
import { planStart, startAll } from "../kernel/move/start.ts";
import type { Started } from "../kernel/types/start.ts";
import { startOf } from "./run-schedules.ts";
import { declareSchedules, markPaused, markRan, markResumed, readSchedules } from "./store/schedules.ts";

/** Pauses a schedule. Ticks that become due during the pause are skipped. */
export async function pauseSchedule(
  kernel: Kernel,
  name: string,
  by: { actor: string | null; reason: string | null },
): Promise<void> {
  if (await markPaused(kernel.db, name, by)) return;
  await registerSchedule(kernel, name);
  await markPaused(kernel.db, name, by);
}

/** Resumes a schedule with its next tick from now, by its stored timing, which may differ from that of this process. */
export async function resumeSchedule(kernel: Kernel, name: string): Promise<void> {
  for (let round = 0; round < 3; round++) {
    const [row] = await readSchedules(kernel.db, [name]);
    if (row!.timing === null) return registerSchedule(kernel, name);
    if (!row!.is_paused) return;
    const timing = readTiming(row!.timing);
    if (timing === undefined) {
      throw new PawlError(
        "option_invalid",
        `Schedule \`${name}\` has the timing "${row!.timing}", which this version of Pawl cannot read. Resume it with the version that declares it.`,
      );
    }
    const nextMs = ticksOf(timing).after(row!.now_ms) ?? null;
    if (await markResumed(kernel.db, { name, timing: row!.timing, nextMs })) return;
  }
  throw new PawlError("busy", `Contention on schedule \`${name}\`. Try again.`);
}

/** Runs a schedule now, in addition to its ticks; also while it is paused. */
export async function runScheduleNow(
  kernel: Kernel,
  name: string,
): Promise<{ lifecycle: AnyLifecycle; started: Started }> {
  const [row] = await readSchedules(kernel.db, [name]);
  const entry = kernel.timetable.entries.get(name) ?? unknown(kernel, name, row!.timing !== null);
  if (row!.timing === null) await registerSchedule(kernel, name);
  const planned = planStart(kernel, startOf(kernel, entry.schedule, row!.now_ms));
  const started = await inTransaction(kernel, async (tx) => {
    const [answer] = await startAll(kernel, tx, [planned]);
    if (answer === undefined) throw broken("A start has no answer.");
    if (!answer.ok) throw answer.error;
    const result = answer.created ? "started" : "existed";
    const { id } = answer.instance.model;
    await markRan(tx, { name, atMs: row!.now_ms, result, instanceId: id, error: null });
    return answer;
  });
  if (planned.row.step !== null) kernel.signals.hint(planned.row.step.lane);
  return { lifecycle: entry.schedule.start, started };
}

/** A schedule that is declared but not yet registered. */
async function registerSchedule(kernel: Kernel, name: string): Promise<void> {
  const { schedule, timing, ticks } = kernel.timetable.entries.get(name) ?? unknown(kernel, name, false);
  const [row] = await readSchedules(kernel.db, [name]);
  const nextMs = ticks.after(row!.now_ms) ?? null;
  await declareSchedules(kernel.db, [
    { name, lifecycle: schedule.start.name, timing, nextMs, knownTiming: row!.timing },
  ]);
}

function unknown(kernel: Kernel, name: string, isKept: boolean): never {
  const remedy = isKept
    ? "It exists in the database, but is not registered in this process. Add it to createPawl({ schedules: […] })."
    : suggest(name, kernel.timetable.entries.keys());
  throw new PawlError("schedule_unknown", `Schedule \`${name}\` is not registered in this process. ${remedy}`, {
    schedule: name,
  });
}
