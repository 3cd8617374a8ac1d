import type { PawlError } from "../../base/errors.ts";
import type { LifecycleModel } from "../../definition/model.ts";
import type { Ref } from "../refs.ts";
import type { Snapshot } from "./snapshot.ts";

/** A result that a person accepts: one that was kept as late, or one that came in time and that no state has taken. */
export interface AcceptedCallback {
  readonly callbackId: string;
  readonly wasWaiting: boolean;
}

/** An event on its way to an instance. */
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
  /** A change of the data that comes with it. */
  readonly patch?: Readonly<Record<string, unknown>> | undefined;
  /** Its time begins anew. */
  readonly renewsDeadline?: boolean;
  /** The late result that is accepted with it. */
  readonly late?: AcceptedCallback & { readonly event: string };
  /** Whose doing it is; a call's unless given. */
  readonly source?: "call" | "timer" | "pawl";
  /** Whoever sends it may have sent it before: its move is looked for first. */
  readonly mayBeKnown?: boolean;
}

export type Sent =
  | { readonly ok: true; readonly instance: Snapshot }
  | { readonly ok: false; readonly error: PawlError };
