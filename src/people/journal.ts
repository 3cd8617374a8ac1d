import type { Executor } from "../store/port/db.ts";
import { type MoveRow, readMoves } from "../views/move/history.ts";

/**
 * A move of an assignment or a sample, without its payload: that of a label reveals whether a gold sample was labeled
 * correctly, which its labeler must not know.
 */
export interface WorkMove {
  readonly version: number;
  readonly event: string;
  /** Null for the start. */
  readonly from: string | null;
  readonly to: string;
  readonly at: Date;
  /** The source: a `call`, a `worker`, a `timer`, a `callback`, or `pawl` itself. */
  readonly source: MoveRow["source"];
  readonly actor: string | null;
  readonly reason: string | null;
}

const maxMoves = 100_000;

/** Lists all moves of an assignment or a sample, in order. */
export async function readJournal(db: Executor, id: string): Promise<WorkMove[]> {
  const moves = await readMoves(db, id, 0, maxMoves);
  return moves.map(({ version, event, from_state, to_state, at_ms, source, actor, reason }) => ({
    version,
    event,
    from: from_state,
    to: to_state,
    at: new Date(at_ms),
    source,
    actor,
    reason,
  }));
}
