import {
  countWaiting,
  endPauses,
  noteTime,
  recordTime,
  restartRetries,
  type SeenTime,
  shortenLeases,
} from "../../store/clock.ts";
import type { Tx } from "../../store/port/db.ts";
import { inTransaction, type Kernel } from "../kernel.ts";
import { raiseAlertIn } from "../recovery/alerts.ts";

/** A clock that was set back by less than this will catch up by itself. */
const toleranceMs = 60_000;

/** What was written while the clock was ahead, and what was corrected. */
interface Corrected {
  readonly retries: number;
  readonly leases: number;
  readonly pauses: number;
  /** Instances whose timers were not changed. */
  readonly waiting: number;
}

/**
 * Stores the database's time. If its clock is behind an earlier reading, it was set back: then Pawl's own retries,
 * pauses and leases do not wait for the time in between, and an alert lists what does (ADR 0023). Returns whether it
 * was.
 */
export async function watchClock(kernel: Kernel): Promise<boolean> {
  const seen = await noteTime(kernel.db);
  if (seen.high_ms - seen.now_ms <= toleranceMs) return false;
  return inTransaction(kernel, async (tx) => {
    const taken = await recordTime(tx, toleranceMs);
    if (taken === undefined) return false;
    await reportSetBack(kernel, tx, taken, await correct(tx, taken));
    return true;
  });
}

async function correct(tx: Tx, back: SeenTime): Promise<Corrected> {
  const retries = await restartRetries(tx);
  const leases = await shortenLeases(tx, back);
  const pauses = await endPauses(tx);
  const { instances: waiting } = await countWaiting(tx);
  return { retries, leases, pauses, waiting };
}

async function reportSetBack(kernel: Kernel, tx: Tx, back: SeenTime, corrected: Corrected): Promise<void> {
  const [was, now] = [back.high_ms, back.now_ms].map((ms) => new Date(ms).toISOString());
  const seconds = Math.round((back.high_ms - back.now_ms) / 1_000);
  const { retries, leases, pauses, waiting } = corrected;
  const message =
    `The database's clock was set back by ${seconds} s, from ${was} to ${now}. ${retries} retries, ${pauses} pauses and ` +
    `${leases} leases were corrected. Timeouts, deadlines, delayed events and token expiries were not: ${waiting} instances ` +
    "that moved before that wait for up to as much longer. Check the time synchronization of the database server.";
  const details = { was, now, seconds, ...corrected };
  await raiseAlertIn(kernel, tx, { kind: "clock_set_back", cause: `clock_set_back:${was}:${now}`, message, details });
  kernel.telemetry.log.warn(details, message);
}
