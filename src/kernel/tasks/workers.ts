import { pruneWorkers, putWorker, removeWorker, type WorkerRow } from "../../store/tasks/workers.ts";
import { readWorkers, type WorkerView } from "../../views/tasks/workers.ts";
import type { Kernel } from "../kernel.ts";

/** How often a worker gives a sign of life, and after how long without one it is shown as silent. */
export const beatEveryMs = 5_000;
const silentAfterMs = 3 * beatEveryMs;
const forgottenAfterMs = 3_600_000;

/** A worker, in this process or another, at its last heartbeat. */
export interface WorkerInfo {
  /** New at each start. */
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** The version of Pawl that it runs. */
  readonly pawl: string;
  readonly startedAt: Date;
  readonly heartbeatAt: Date;
  /** It has given no sign of life for fifteen seconds: it was killed, is cut off, or a step blocks its process. */
  readonly silent: boolean;
  /** It claims nothing more, and running steps may finish. */
  readonly stopping: boolean;
  /** What its loop does, and how many of its slots are in each of their states. */
  readonly state: string;
  readonly slots: Readonly<Record<string, number>>;
  readonly concurrency: number;
  /**
   * How many steps keep running though their signal was aborted a while ago; their slots were freed, up to
   * `concurrency`.
   */
  readonly stuck: number;
  /** How many tasks of which lanes it has. */
  readonly tasks: Readonly<Record<string, number>>;
  /** The lanes that it serves. */
  readonly lanes: readonly string[];
}

export function saveHeartbeat(kernel: Kernel, row: WorkerRow): Promise<void> {
  return putWorker(kernel.db, row);
}

export function deleteWorker(kernel: Kernel, id: string): Promise<void> {
  return removeWorker(kernel.db, id);
}

export async function listWorkers(kernel: Kernel): Promise<WorkerInfo[]> {
  const rows = await readWorkers(kernel.db);
  return rows.map(({ loop, started_ms, heartbeat_ms, silent_ms, ...row }) => ({
    ...row,
    state: loop,
    startedAt: new Date(started_ms),
    heartbeatAt: new Date(heartbeat_ms),
    silent: silent_ms > silentAfterMs,
  }));
}

/** Whether a worker claims tasks, as far as is known. */
export function isLive({ silent_ms, stopping }: WorkerView): boolean {
  return silent_ms <= silentAfterMs && !stopping;
}

/** Deletes workers that were silent for an hour. */
export function tidyWorkers(kernel: Kernel): Promise<void> {
  return pruneWorkers(kernel.db, forgottenAfterMs);
}
