import type { Decision } from "../../definition/decide/move.ts";
import type { CompanionStarts } from "../../store/move/start-instances.ts";
import type { Part } from "../../store/port/db.ts";

/**
 * Rows that another room keeps beside the instances of one of its lifecycles, such as the slots that assignments hold.
 * They are written in the very statement that writes the move, so the two never differ, whoever makes the move: a call, a
 * timer, a batch, a user's own transaction.
 */
export interface CompanionTable {
  /** For instances that start. */
  starting(decisions: readonly Decision[]): CompanionStarts;
  /** For instances that move, each with its decisions in their order: what is written with them. */
  moving(updates: readonly (readonly Decision[])[]): Part;
}
