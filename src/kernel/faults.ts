/**
 * Places where a test can make a process crash, throw or wait. In production there are no faults, and a place costs one
 * comparison with undefined.
 */
export const faultPoints = [
  "start.before",
  "start.after",
  "commit.before",
  "commit.after",
  "transaction.locked",
  "transaction.hooked",
  "transaction.written",
  "transaction.committed",
  "claim.before",
  "claim.after",
  "report.before",
  "report.delivered",
  "report.after",
  "run.before",
  "run.after",
  "renew.before",
  "promote.before",
  "promote.after",
  "fire.before",
  "fire.after",
  "lapse.read",
  "receive.stored",
  "schedule.read",
  "schedule.taken",
  "schedule.started",
  "schedule.committed",
  "check.read",
  "relay.afterLock",
  "relay.afterPublish",
  "relay.afterConfirm",
  "relay.afterMark",
  "prune.before",
  "prune.after",
] as const;

export type FaultPoint = (typeof faultPoints)[number];

export interface Faults {
  at(point: FaultPoint): Promise<void>;
}
