import type { StuckReason } from "../explain/explanation.ts";

/** Instances that are stuck for the same reason in the same place. */
export interface StuckGroup {
  readonly reason: StuckReason;
  readonly lifecycle: string;
  /** The lane of the tasks that wait, such as `essay@1/grading`; null where no task does. */
  readonly lane: string | null;
  /** The state of the instances; null for after-effects and deliveries, whose instances may be in any. */
  readonly state: string | null;
  /** The queue of the samples that wait; null where none do. */
  readonly queue: string | null;
  /** How many wait. Not counted beyond 10,000. */
  readonly count: number;
  /** Whether there may be more than were counted. */
  readonly more: boolean;
  /** Since when the first of them is stuck. */
  readonly since: Date;
  /** What waits, why, and what to do, in plain English. */
  readonly sentence: string;
  /** Those that have waited longest. */
  readonly instances: readonly StuckInstance[];
}

/** A stuck instance. `pawl.explain` says more. */
export interface StuckInstance {
  readonly id: string;
  readonly lifecycle: string;
  readonly key: string | null;
  readonly state: string;
  readonly since: Date;
}
