import { type LapsedTask, readLapsedLeases } from "../../store/tasks/tasks.ts";
import { asPawlError } from "../errors.ts";
import type { Kernel } from "../kernel.ts";
import type { Report } from "../types/outcome.ts";
import { claimedTaskOf } from "./claimed-row.ts";
import { reportEach } from "./report.ts";

/** The tasks that were returned, and those that could not be, each with its error. */
export interface Lapsed {
  readonly returned: number;
  readonly failures: readonly { readonly id: string; readonly error: unknown }[];
}

/**
 * Returns the tasks of silent workers, unless an outage kept all workers from renewing. A lapse is an outcome like any
 * other: the predicate is checked again. One that cannot be written is passed over for a while, so that it keeps none
 * behind it from being returned.
 */
export async function reportLapsed(kernel: Kernel, lanes: readonly string[], limit: number): Promise<Lapsed> {
  const lapsed = await lapsedLeases(kernel, lanes, limit);
  const nowMs = kernel.clock.nowMs();
  if (kernel.faults !== undefined) await kernel.faults.at("lapse.read");
  const reports: Report[] = [];
  for (const row of lapsed) {
    const task = claimedTaskOf(kernel, row);
    // Only a process with its definition can report it.
    if (Array.isArray(task)) kernel.unwritableLapses.failed(row.task_id, nowMs);
    else reports.push({ task, outcome: { kind: "lapsed", unspent: unspentReason(kernel, row) } });
  }
  if (reports.length === 0) return { returned: 0, failures: [] };
  let returned = 0;
  const failures: { id: string; error: unknown }[] = [];
  for (const [at, answer] of (await reportEach(kernel, reports)).entries()) {
    const one = reports[at]!;
    // What the database refuses fails its whole batch.
    const result = typeof answer === "object" ? await reportAlone(kernel, one, answer.error) : answer;
    const { taskId } = one.task.lease;
    if (typeof result === "object") {
      failures.push({ id: one.task.row.id, error: result.error });
      kernel.unwritableLapses.failed(taskId, nowMs);
      continue;
    }
    kernel.unwritableLapses.succeeded(taskId);
    if (result === "written") returned += 1;
  }
  return { returned, failures };
}

async function reportAlone(kernel: Kernel, one: Report, error: unknown) {
  if (asPawlError(error).fault === "environment") throw error;
  return (await reportEach(kernel, [one]))[0]!;
}

/** Why a lapse spends no attempt: no worker could renew, or the step had not begun. */
function unspentReason(
  kernel: Kernel,
  { leased_until_ms, begun }: LapsedTask,
): "database_away" | "not_started" | undefined {
  if (kernel.expiry.wasGap(leased_until_ms)) return "database_away";
  return begun ? undefined : "not_started";
}

async function lapsedLeases(kernel: Kernel, lanes: readonly string[], limit: number): Promise<LapsedTask[]> {
  const { db, clock, expiry, unwritableLapses } = kernel;
  const resting = unwritableLapses.resting(clock.nowMs());
  const askedMs = performance.now();
  const rows = await readLapsedLeases(db, lanes, resting, limit).catch((error: unknown) => {
    expiry.failed(error);
    throw error;
  });
  const { now_ms: nowMs, clock_ms: clockMs, started_ms } = rows[0]!;
  clock.observe(nowMs);
  // An embedded database was started by this process: earlier holders of leases are dead.
  const startedMs = db.kind === "pglite" ? null : started_ms;
  if (!expiry.observe({ nowMs, clockMs, startedMs }, askedMs)) return [];
  const lapsed = rows.filter((row) => row.task_id !== null);
  return lapsed.length === 0 || expiry.committed(nowMs, await commitMs(kernel)) ? lapsed : [];
}

/** How long a commit takes that changes nothing. */
async function commitMs({ db, expiry }: Kernel): Promise<number> {
  const sentMs = performance.now();
  await db.confirm?.().catch((error: unknown) => {
    expiry.failed(error);
    throw error;
  });
  return performance.now() - sentMs;
}
