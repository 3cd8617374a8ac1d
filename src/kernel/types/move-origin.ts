import type { JournalRow } from "../../store/move/journal.ts";
import type { Grant } from "../../store/move/written.ts";
import type { PlannedSend } from "./delivery.ts";
import type { ChildStart } from "./start.ts";

/** Who made a move, for the journal. */
export interface MoveOrigin {
  readonly source: JournalRow["source"];
  readonly requestId: string | null;
  readonly lease: { readonly taskId: string; readonly token: number; readonly lapsed?: boolean } | null;
}

/** A message that a step publishes with its outcome. */
export interface OutgoingMessage {
  readonly type: string;
  readonly payload: unknown;
}

/** The other outputs of a step, written with the move. */
export interface StepOutput {
  readonly messages?: readonly OutgoingMessage[];
  readonly starts?: readonly ChildStart[];
  readonly sends?: readonly PlannedSend[];
}

/** Whether the worker that makes a move gets the next step with it. */
export type GrantDecider = (step: { readonly lane: string; readonly priority: number }) => Omit<Grant, "token"> | null;
