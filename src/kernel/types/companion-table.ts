import type { Decision } from "../../definition/decide/move.ts";
import type { CompanionStarts } from "../../store/move/start-instances.ts";
import type { Part } from "../../store/port/db.ts";

/**
 * Rows of a slice that belong to instances of one lifecycle, such as the slots of assignments. They are written in the
 * very statement that writes the move, so the two never differ, whatever makes the move: a call, a timer, a batch, a
 * user's own transaction.
 */
export interface CompanionTable {
  /** For instances that start. */
  starting(decisions: readonly Decision[]): CompanionStarts;
  /** The rows for moved instances, each with its decisions in their order. */
  moving(updates: readonly (readonly Decision[])[]): Part;
}
