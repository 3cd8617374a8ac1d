import type { FaultPoint } from "../../../src/kernel/faults.ts";

/** Whose death at a point is tried, each by a test with processes of its own. */
type Victim = "a caller" | "a worker" | "a parent" | "a relay" | "a keeper of schedules" | "a pruner";

/** Every point has a process that dies there: a new one does not compile without its line. */
const victims: Record<FaultPoint, Victim> = {
  "start.before": "a caller",
  "start.after": "a caller",
  "commit.before": "a caller",
  "commit.after": "a caller",
  "transaction.locked": "a caller",
  "transaction.hooked": "a caller",
  "transaction.written": "a caller",
  "transaction.committed": "a caller",
  "claim.before": "a caller",
  "claim.after": "a caller",
  "report.before": "a caller",
  "report.after": "a caller",
  "renew.before": "a caller",
  "promote.before": "a caller",
  "promote.after": "a caller",
  "receive.stored": "a caller",
  "fire.before": "a caller",
  "fire.after": "a caller",
  "lapse.read": "a caller",
  "run.before": "a worker",
  "run.after": "a worker",
  "report.delivered": "a parent",
  "check.read": "a parent",
  "relay.afterLock": "a relay",
  "relay.afterPublish": "a relay",
  "relay.afterConfirm": "a relay",
  "relay.afterMark": "a relay",
  "schedule.read": "a keeper of schedules",
  "schedule.taken": "a keeper of schedules",
  "schedule.started": "a keeper of schedules",
  "schedule.committed": "a keeper of schedules",
  "prune.before": "a pruner",
  "prune.after": "a pruner",
};

/** The points at which such a process dies. */
export function pointsMet(by: Victim): FaultPoint[] {
  return (Object.keys(victims) as FaultPoint[]).filter((point) => victims[point] === by);
}
