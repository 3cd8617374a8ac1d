import type { LifecycleModel } from "../../definition/model.ts";
import type { InstanceRow } from "../../store/move/instances.ts";
import type { Delivery } from "./delivery.ts";

/** A task that a worker holds, with its instance at the time of the claim. */
export interface ClaimedTask {
  readonly lease: { readonly taskId: string; readonly token: number };
  readonly kind: "step" | "effect";
  readonly lane: string;
  readonly attempt: number;
  readonly priority: number;
  readonly visit: number;
  /** The payload of the event that led into a step's state. */
  readonly payload?: unknown;
  /** The subject of an effect. */
  readonly work: EffectWork | null;
  /** The events to deliver; its row is the sender's, and its lifecycle the receivers'. */
  readonly delivery?: Delivery;
  readonly row: InstanceRow;
  readonly lifecycle: LifecycleModel;
  /** It was taken in advance: it spends its attempt once it is marked as begun. */
  readonly isAhead?: boolean;
  /** The half-open breaker whose probe it is, and since which flip. */
  readonly probe?: { readonly breaker: string; readonly flip: number };
}

/** The move that an after-effect follows. */
export interface EffectWork {
  readonly event: string;
  readonly from: string;
  readonly to: string;
  readonly payload: unknown;
  readonly actor: string | null;
  readonly version: number;
  readonly run: number;
}
