import type { InstanceModel } from "../../definition/decide/instance.ts";
import type { FailureColumn } from "../../store/move/instances.ts";

/** The last failure of an instance. */
export interface FailureOf extends FailureColumn {
  readonly atMs: number;
}

/** An instance as a caller is shown it. */
export interface Snapshot {
  readonly model: InstanceModel;
  readonly movedAtMs: number;
  readonly closedAtMs: number | null;
  /** While it is failed, or when it has ended so. */
  readonly failure: FailureOf | null;
}
