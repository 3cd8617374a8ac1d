import type { Tx } from "../../store/port/db.ts";
import type { TransactionLike } from "../../store/port/foreign-tx.ts";

/** What every call takes. */
export interface CallOptions {
  /** Your own transaction: the change is part of it, and takes effect when you commit. */
  readonly tx?: TransactionLike | Tx;
}

export interface StartCallOptions extends CallOptions {
  /** Who causes it; shown in the journal. */
  readonly actor?: string | undefined;
  readonly reason?: string | undefined;
}
