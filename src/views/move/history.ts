import { type Executor, sql } from "../../store/port/db.ts";

/** A move, as the journal holds it. */
export interface MoveRow {
  readonly version: number;
  readonly event: string;
  readonly from_state: string | null;
  readonly to_state: string;
  readonly definition: number;
  readonly at_ms: number;
  readonly source: "call" | "worker" | "timer" | "callback" | "pawl";
  readonly actor: string | null;
  readonly reason: string | null;
  readonly payload: unknown;
  readonly patch: Record<string, unknown> | null;
  readonly cleared: string[] | null;
  readonly task_id: string | null;
  readonly token: number | null;
  /** The token of the next step, if it was leased with the move. */
  readonly granted: number | null;
}

export function readMoves(db: Executor, id: string, afterVersion: number, limit: number): Promise<MoveRow[]> {
  return db.rows<MoveRow>(sql`
    select version, event, from_state, to_state, definition, pawl.ms(at) as at_ms, source, actor, reason, payload, patch,
      to_json(cleared) as cleared, task_id::text as task_id, token::float8 as token, granted::float8 as granted
    from pawl.journal
    where instance_id = ${id}::uuid and version > ${afterVersion}::int
    order by version limit ${limit}::int`);
}

/** Attempts that did not move the instance. */
export interface AttemptRow {
  readonly what: "claimed" | "failed" | "lapsed" | "released" | "deferred" | "refused" | "asked";
  readonly at_ms: number;
  readonly lane: string | null;
  readonly attempt: number | null;
  readonly worker: string | null;
  readonly token: number;
  readonly detail: unknown;
}

/** In order: a claim precedes its end, even within one millisecond. */
export function readAttempts(db: Executor, id: string, limit: number): Promise<AttemptRow[]> {
  return db.rows<AttemptRow>(sql`
    select what, pawl.ms(at) as at_ms, lane, attempt, worker, token::float8 as token, detail
    from pawl.attempts where instance_id = ${id}::uuid
    order by at, coalesce(position, token), token, what <> 'claimed' limit ${limit}::int`);
}
