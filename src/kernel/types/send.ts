import type { PawlError } from "../../base/errors.ts";
import type { LifecycleModel } from "../../definition/model.ts";
import type { Ref } from "../refs.ts";
import type { Occasion } from "./delivery.ts";
import type { Snapshot } from "./snapshot.ts";

/** A result that a person accepts: a late one, or one that came in time and that no state has accepted. */
export interface AcceptedCallback {
  readonly callbackId: string;
  readonly wasWaiting: boolean;
}

/** An event for an instance. */
export interface Send {
  readonly lifecycle: LifecycleModel;
  readonly ref: Ref;
  readonly event: string;
  readonly payload: unknown;
  readonly actor: string | null;
  readonly reason: string | null;
  readonly expectedVersion: number | undefined;
  readonly idempotency: { readonly key: string; readonly hash: string } | undefined;
  /** An event for later, kept as a timer. */
  readonly delay: { readonly afterMs: number | null; readonly atMs: number | null } | undefined;
  /** Made once for the call: the mark by which its move is found again after a lost reply. */
  readonly requestId: string;
  /** A change of its data. */
  readonly patch?: Readonly<Record<string, unknown>> | undefined;
  /** Its deadline starts over. */
  readonly renewsDeadline?: boolean;
  /** The late result that is accepted with it. */
  readonly late?: AcceptedCallback & { readonly event: string };
  /** The origin of the move. @default a call */
  readonly source?: "call" | "timer" | "pawl";
  /** The visit or run that it belongs to: after its end, the event is refused. */
  readonly during?: Occasion;
  /** The sender may have sent it before: its move is searched for first. */
  readonly mayBeKnown?: boolean;
}

export type Sent =
  | { readonly ok: true; readonly instance: Snapshot }
  | { readonly ok: false; readonly error: PawlError };
