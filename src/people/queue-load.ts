import type { Executor } from "../store/port/db.ts";
import { type Metrics, metricsOf } from "./metrics.ts";
import { sumOfQueue } from "./views/labeler-hours.ts";
import { readQueueLoads } from "./views/queue-loads.ts";

/** The backlog and the metrics of a queue. */
export interface QueueLoad {
  readonly queue: string;
  /** Labels that can be assigned now; at most 100,000 are counted. */
  readonly waiting: number;
  /** Open assignments. */
  readonly inHand: number;
  /** Late labels that await a lead's decision. */
  readonly late: number;
  readonly metrics: Metrics;
}

const mostCounted = 100_000;

export async function queueLoads(db: Executor, queues: readonly string[]): Promise<QueueLoad[]> {
  const loads: QueueLoad[] = [];
  for (const { in_hand, ...row } of await readQueueLoads(db, queues, mostCounted)) {
    const sums = await sumOfQueue(db, { queue: row.queue, labeler: null, fromMs: null, toMs: null });
    loads.push({ ...row, inHand: in_hand, metrics: metricsOf(sums) });
  }
  return loads;
}
