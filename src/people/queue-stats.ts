import type { Executor } from "../store/port/db.ts";
import { type Metrics, metricsOf } from "./metrics.ts";
import { sumOfQueue } from "./views/labeler-hours.ts";
import { readQueueStats } from "./views/queue-stats.ts";

/** The backlog and the metrics of a queue. */
export interface QueueStats {
  readonly queue: string;
  /** Labels that can be assigned now; at most 100,000 are counted. */
  readonly waiting: number;
  /** Open assignments. */
  readonly assigned: number;
  /** Late labels that await a lead's decision. */
  readonly late: number;
  readonly metrics: Metrics;
}

const maxCounted = 100_000;

export async function queueStatsOf(db: Executor, queues: readonly string[]): Promise<QueueStats[]> {
  const stats: QueueStats[] = [];
  for (const row of await readQueueStats(db, queues, maxCounted)) {
    const sums = await sumOfQueue(db, { queue: row.queue, labeler: null, fromMs: null, toMs: null });
    stats.push({ ...row, metrics: metricsOf(sums) });
  }
  return stats;
}
