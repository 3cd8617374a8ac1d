import type { OperationView } from "./views/operations.ts";

/** A bulk operation on dead letters or instances, and its progress. */
export interface Operation {
  readonly id: string;
  /** The kind of its items. */
  readonly subject: "dead_letters" | "instances";
  /** `requeue` is of dead letters, `send`, `recover` and `restart` of instances, `discard` of either. */
  readonly decision: "requeue" | "send" | "recover" | "restart" | "discard";
  readonly filter: Readonly<Record<string, unknown>>;
  /** The event that is sent to instances; null otherwise. */
  readonly event: string | null;
  readonly restart: boolean;
  readonly actor: string | null;
  readonly reason: string | null;
  /** The maximum number of items per second; null for no limit. */
  readonly rate: number | null;
  readonly status: "running" | "done" | "aborted";
  /** The number of items, at most 100,000, and how many of them are done. */
  readonly items: number;
  readonly done: number;
  /**
   * Counts by outcome: `requeued`, `sent`, `recovered`, `restarted`, `discarded`, `already_decided`, `gone`, or the code
   * of the error.
   */
  readonly outcomes: Readonly<Record<string, number>>;
  /** The first few items that were refused, with the reason. */
  readonly refusals: OperationView["refusals"];
  readonly createdAt: Date;
  readonly endedAt: Date | null;
  readonly abortedBy: string | null;
  readonly abortReason: string | null;
}

export function operationOf(row: OperationView): Operation {
  const { id, subject, decision, filter, restart, actor, reason, status, items, outcomes, refusals } = row;
  return {
    ...{ id, subject, decision, filter, restart, actor, reason, status, items, outcomes, refusals },
    event: row.event,
    rate: row.per_second,
    done: Object.values(outcomes).reduce((sum, some) => sum + some, 0),
    createdAt: new Date(row.created_ms),
    endedAt: row.ended_ms === null ? null : new Date(row.ended_ms),
    abortedBy: row.aborted_by,
    abortReason: row.abort_reason,
  };
}

/** The expected result of a bulk operation on instances. */
export interface OperationPreview {
  readonly instances: number;
  /** Counts by outcome: `sent`, `recovered`, `restarted`, `discarded`, or the code of the error. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** A few of each. */
  readonly sample: readonly {
    readonly id: string;
    readonly key: string | null;
    readonly state: string;
    readonly outcome: string;
    readonly note: string | null;
  }[];
}
