import type { JournalRow } from "../../store/move/journal.ts";
import type { Grant } from "../../store/move/start-instances.ts";
import type { Sending } from "./delivery.ts";
import type { ChildStart } from "./start.ts";

/** Who made a move, for the journal. */
export interface Maker {
  readonly source: JournalRow["source"];
  readonly requestId: string | null;
  readonly lease: { readonly taskId: string; readonly token: number; readonly lapsed?: boolean } | null;
}

/** A message that a step publishes with its outcome. */
export interface Outgoing {
  readonly type: string;
  readonly payload: unknown;
}

/** What a step said beside its event: it is written with the move. */
export interface Said {
  readonly messages?: readonly Outgoing[];
  readonly starts?: readonly ChildStart[];
  readonly sends?: readonly Sending[];
}

/** Whether the worker that makes a move gets the next step with it. */
export type Granting = (step: { readonly lane: string; readonly priority: number }) => Grant | null;
