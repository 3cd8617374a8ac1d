import type { Lease } from "./tasks.ts";

/** Keeps leases alive while their tasks are in a worker's hands, and tells which were lost. */
export interface LeaseKeeper {
  keep(leases: readonly Lease[]): void;
  drop(taskIds: readonly string[]): void;
  stop(): Promise<void>;
}

export interface KeeperOptions {
  readonly leaseMs: number;
  readonly onLost: (taskIds: readonly string[]) => void;
  readonly onFailure: (error: unknown) => void;
}

/** How many times a lease is renewed before it could lapse. */
export const renewalsPerLease = 3;
