import type { PawlError } from "../../base/errors.ts";
import type { LifecycleModel } from "../../definition/model.ts";
import type { Ref } from "../refs.ts";

/** An event that a step sends to another instance: checked when it is requested, delivered with the outcome. */
export interface PlannedSend {
  readonly lifecycle: LifecycleModel;
  readonly outgoing: OutgoingEvent;
  /** The event as it is stored. */
  readonly text: string;
}

/** One event for one instance. Its id marks the move that it makes, so that it makes one only. */
export interface OutgoingEvent {
  readonly id: string;
  readonly to: Ref | { readonly child: string };
  readonly event: string;
  readonly payload?: unknown;
  /** It is delivered so much later than it would be: its instance keeps it as an event for later. */
  readonly afterMs?: number;
  /** It is refused once its instance has left this visit, or this run if it belongs to no visit. */
  readonly during?: Occasion;
  /** The stored callback that failed permanently, and is to be retried instead of sending the event. */
  readonly callback?: { readonly id: string; readonly attempts: number };
}

/** The run, and usually the visit, of an instance to which an event belongs. */
export interface Occasion {
  readonly run: number;
  readonly visit: number | null;
}

/** The events of a task for the instances of one lifecycle, in their order; or the end of a run, for its children. */
export interface Delivery {
  readonly lifecycle: string;
  /** The sender's run, for those of its children that are named by their keys. */
  readonly run: number;
  readonly letters?: readonly OutgoingEvent[];
}

/** The outcome of a delivery. */
export interface Delivered {
  /** Letters that their instance refused. */
  readonly refused: { readonly outgoing: OutgoingEvent; readonly instance: string; readonly blockers: unknown }[];
  /** Events that can never arrive. */
  readonly undelivered: { readonly outgoing: OutgoingEvent; readonly error: PawlError }[];
  /** Transient errors: it is retried, and no attempt is spent. */
  later: PawlError | undefined;
  /** Errors that a person has to fix: it is retried as often as an after-effect is. */
  failed: PawlError | undefined;
}
