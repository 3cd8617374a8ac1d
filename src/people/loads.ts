import type { Executor } from "../store/port/db.ts";
import { type Metrics, metricsOf } from "./metrics.ts";
import { sumOfQueue } from "./views/labeler-hours.ts";
import { readQueueLoads } from "./views/queue-loads.ts";

/** How much lies in a queue, and how its work has gone so far. */
export interface QueueLoad {
  readonly queue: string;
  /** Labels that somebody could begin; a hundred thousand at most are counted. */
  readonly waiting: number;
  /** Assignments that lie on somebody's desk. */
  readonly inHand: number;
  /** Labels that came late and wait for a lead's word. */
  readonly late: number;
  readonly metrics: Metrics;
}

const mostCounted = 100_000;

export async function loadsOf(db: Executor, queues: readonly string[]): Promise<QueueLoad[]> {
  const loads: QueueLoad[] = [];
  for (const { in_hand, ...row } of await readQueueLoads(db, queues, mostCounted)) {
    const sums = await sumOfQueue(db, { queue: row.queue, labeler: null, fromMs: null, toMs: null });
    loads.push({ ...row, inHand: in_hand, metrics: metricsOf(sums) });
  }
  return loads;
}
