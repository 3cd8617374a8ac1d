import { type Executor, sql } from "../port/db.ts";

/** Lanes that are closed by an operator: of a lifecycle, or of a part of it. */
export interface PauseRow {
  readonly lifecycle: string;
  /** `''` all of it, `/state` a state, `:after` its after-effects. */
  readonly part: string;
  readonly since_ms: number;
  readonly reason: string;
  readonly actor: string | null;
}

/** The pauses that hold now. */
export function readPauses(db: Executor): Promise<PauseRow[]> {
  return db.rows<PauseRow>(sql`
    select lifecycle, part, pawl.ms(paused_at) as since_ms, reason, paused_by as actor
    from pawl.pauses where resumed_at is null`);
}

/** Pauses; an existing pause gets the newer reason, and keeps its start. */
export async function putPause(db: Executor, pause: Omit<PauseRow, "since_ms">): Promise<PauseRow> {
  const [row] = await db.rows<PauseRow>(sql`
    insert into pawl.pauses as pause (lifecycle, part, paused_at, reason, paused_by)
    values (${pause.lifecycle}::text, ${pause.part}::text, pawl.now(), ${pause.reason}::text, ${pause.actor}::text)
    on conflict (lifecycle, part) where resumed_at is null
    do update set reason = excluded.reason, paused_by = excluded.paused_by
    returning pause.lifecycle, pause.part, pawl.ms(pause.paused_at) as since_ms, pause.reason, pause.paused_by as actor`);
  return row!;
}

/** Ends the pauses of a part of a lifecycle, or of all its parts for null. Returns those that it ended. */
export function endPauses(
  db: Executor,
  end: { lifecycle: string; part: string | null; actor: string | null; reason: string | null },
): Promise<{ part: string }[]> {
  return db.rows(sql`
    update pawl.pauses as pause
    set resumed_at = greatest(pawl.now(), pause.paused_at), resumed_by = ${end.actor}::text, resume_reason = ${end.reason}::text
    where pause.lifecycle = ${end.lifecycle}::text and pause.resumed_at is null
      and pause.part = coalesce(${end.part}::text, pause.part)
    returning pause.part`);
}
