import type { PawlError } from "../../base/errors.ts";
import type { Decision } from "../../definition/decide/move.ts";
import type { LifecycleModel } from "../../definition/model.ts";
import type { NewInstance } from "../../store/move/start-instances.ts";
import type { TimerRow } from "../../store/move/timers.ts";
import type { Snapshot } from "./snapshot.ts";

/** An instance to start. */
export interface Start {
  readonly lifecycle: LifecycleModel;
  readonly key: string | null;
  readonly data: unknown;
  readonly actor: string | null;
  readonly reason: string | null;
  /** Null for a child, which starts with a move of its parent. */
  readonly requestId: string | null;
  /** Started by the clock, and not by a call. */
  readonly source?: "timer";
  /** The instance whose step starts it, and its name among the children of that run. */
  readonly parent?: NonNullable<NewInstance["parent"]>;
  /** When its first step is to run, and before which others; a job's own. */
  readonly first?:
    | { readonly afterMs: number | null; readonly atMs: number | null; readonly priority?: number | undefined }
    | undefined;
}

export type Started =
  | { readonly ok: true; readonly created: boolean; readonly instance: Snapshot }
  | { readonly ok: false; readonly error: PawlError };

/** A checked start: everything to write, from data as it was when the call was made. */
export interface PlannedStart {
  readonly start: Start;
  readonly decision: Decision;
  readonly row: NewInstance;
  readonly timers: readonly TimerRow[];
}

/** A child that a step or an effect starts: checked when it is requested, written with the outcome. */
export interface ChildStart {
  readonly planned: PlannedStart;
  /** Its place among those that were started without a key. */
  readonly place: number;
}
