/** An instance as it was read. Times are milliseconds since 1970. */
export interface InstanceModel {
  readonly id: string;
  readonly lifecycle: string;
  /** The version of the definition that moved it last. */
  readonly definition: number;
  readonly key: string | null;
  /** The instance whose step started it. */
  readonly parent: { readonly lifecycle: string; readonly id: string } | null;
  readonly state: string;
  /** How many moves it has made: the number of its last journal row. */
  readonly version: number;
  /** The version of the move that entered its state. */
  readonly visit: number;
  /** 1 + the number of its restarts. */
  readonly run: number;
  readonly data: Readonly<Record<string, unknown>>;
  readonly deadlineAtMs: number | null;
  readonly failedFrom: string | null;
  readonly failedVisit: number | null;
  /** When its deadline fired, while it is failed by it. */
  readonly timedOutAtMs: number | null;
  readonly outcome: "success" | "failure" | "discarded" | null;
  readonly createdAtMs: number;
}
