import { type Executor, part, sql, textArray } from "../port/db.ts";

/** One move, as it is stored in the journal. */
export interface JournalRow {
  readonly instanceId: string;
  readonly version: number;
  readonly lifecycle: string;
  readonly definition: number;
  readonly event: string;
  readonly from: string | null;
  readonly to: string;
  readonly source: "call" | "worker" | "timer" | "callback" | "pawl";
  readonly actor: string | null;
  readonly reason: string | null;
  readonly payloadText: string | null;
  readonly patchText: string | null;
  readonly cleared: readonly string[] | null;
  readonly requestId: string | null;
  readonly taskId: string | null;
  readonly token: number | null;
  /** The number of its messages; null for none. */
  readonly messages: number | null;
}

/**
 * Moves that instances made before their last one in the same commit: those of the instances that `written` holds. A part
 * of the statement that moves them.
 */
export function earlierMoves(rows: readonly JournalRow[]) {
  return part`
    select move.instance_id, move.version, move.lifecycle, move.definition, move.event, move.from_state, move.to_state,
      clock.now, move.source, move.actor, move.reason, move.payload::jsonb, move.patch::jsonb, move.cleared::text[],
      move.request_id, move.task_id, move.token, null::bigint, move.messages
    from clock, unnest(
      (select ${textArray(rows.map((row) => row.instanceId))}::text)::uuid[],
      (select ${textArray(rows.map((row) => row.version))}::text)::int[],
      (select ${textArray(rows.map((row) => row.lifecycle))}::text)::text[],
      (select ${textArray(rows.map((row) => row.definition))}::text)::int[],
      (select ${textArray(rows.map((row) => row.event))}::text)::text[],
      (select ${textArray(rows.map((row) => row.from))}::text)::text[],
      (select ${textArray(rows.map((row) => row.to))}::text)::text[],
      (select ${textArray(rows.map((row) => row.source))}::text)::text[],
      (select ${textArray(rows.map((row) => row.actor))}::text)::text[],
      (select ${textArray(rows.map((row) => row.reason))}::text)::text[],
      (select ${textArray(rows.map((row) => row.payloadText))}::text)::text[],
      (select ${textArray(rows.map((row) => row.patchText))}::text)::text[],
      (select ${textArray(rows.map((row) => keysText(row.cleared)))}::text)::text[],
      (select ${textArray(rows.map((row) => row.requestId))}::text)::uuid[],
      (select ${textArray(rows.map((row) => row.taskId))}::text)::uuid[],
      (select ${textArray(rows.map((row) => row.token))}::text)::bigint[],
      (select ${textArray(rows.map((row) => row.messages))}::text)::int[]
    ) as move(
      instance_id, version, lifecycle, definition, event, from_state, to_state, source, actor, reason,
      payload, patch, cleared, request_id, task_id, token, messages
    )
    where (move.instance_id in (select id from written)) is true`;
}

/** A list within a list: an array literal as an element of another. */
export function keysText(keys: readonly string[] | null): string | null {
  return keys === null ? null : textArray(keys);
}

/**
 * The moves that these requests made after a version, if any: so a lost reply is resolved. A delayed event has made
 * none, and is found while it waits, or where it was refused or failed at its time (`token` counts the failures); a
 * requested recovery is found in its note.
 */
export function readMovesOfRequests(
  db: Executor,
  asked: readonly { id: string; requestId: string; afterVersion: number }[],
): Promise<{ request_id: string; version: number }[]> {
  return db.rows(sql`
    select move.request_id::text as request_id, move.version
    from unnest(
      (select ${textArray(asked.map((one) => one.id))}::text)::uuid[],
      (select ${textArray(asked.map((one) => one.requestId))}::text)::uuid[],
      (select ${textArray(asked.map((one) => one.afterVersion))}::text)::int[]
    ) as asked(id, request_id, after_version)
    cross join lateral (
      select each.request_id, each.version from pawl.journal as each
      where each.instance_id = asked.id and each.version > asked.after_version and each.request_id = asked.request_id
      union all
      select timer.id, asked.after_version from pawl.timers as timer
      where timer.instance_id = asked.id and timer.id = asked.request_id
      union all
      select attempt.task_id, asked.after_version from pawl.attempts as attempt
      where attempt.instance_id = asked.id and attempt.task_id = asked.request_id
        and case attempt.what when 'failed' then attempt.token > 0 else attempt.what in ('refused', 'asked') end
      offset 0
    ) as move`);
}

/** The last move of each task under its token, if it made one: how a worker's lost reply is settled. */
export function readMovesOfTasks(
  db: Executor,
  asked: readonly { id: string; taskId: string; token: number; afterVersion: number }[],
): Promise<{ task_id: string; token: number; version: number; granted: number | null }[]> {
  return db.rows(sql`
    select move.task_id::text as task_id, move.token::float8 as token, move.version, move.granted::float8 as granted
    from unnest(
      (select ${textArray(asked.map((one) => one.id))}::text)::uuid[],
      (select ${textArray(asked.map((one) => one.taskId))}::text)::uuid[],
      (select ${textArray(asked.map((one) => one.token))}::text)::bigint[],
      (select ${textArray(asked.map((one) => one.afterVersion))}::text)::int[]
    ) as asked(id, task_id, token, after_version)
    cross join lateral (
      select each.task_id, each.token, each.version, each.granted from pawl.journal as each
      where each.instance_id = asked.id and each.version > asked.after_version
        and each.task_id = asked.task_id and each.token = asked.token
      offset 0
    ) as move`);
}

/** The payloads of the events that led instances into these visits. */
export function readEntryPayloads(
  db: Executor,
  visits: readonly { id: string; visit: number }[],
): Promise<{ id: string; payload: unknown; has_payload: boolean }[]> {
  return db.rows(sql`
    select visit.id::text as id, move.payload, move.payload is not null as has_payload
    from unnest(
      (select ${textArray(visits.map((one) => one.id))}::text)::uuid[],
      (select ${textArray(visits.map((one) => one.visit))}::text)::int[]
    ) as visit(id, version)
    cross join lateral (
      select each.payload from pawl.journal as each
      where each.instance_id = visit.id and each.version = visit.version
      offset 0
    ) as move`);
}

/** A failure or a restart in an instance's history. */
export interface FailureRow {
  readonly version: number;
  readonly event: string;
  readonly from_state: string | null;
  readonly to_state: string;
  readonly at_ms: number;
  readonly reason: string | null;
  readonly error: { readonly name: string; readonly message: string } | null;
}

const maxFailures = 2_000;

/** The failures and restarts of these instances up to a version, in their order, and the time. */
export function readFailures(
  db: Executor,
  asked: readonly { id: string; upToVersion: number }[],
): Promise<{ id: string; now_ms: number; failures: FailureRow[] }[]> {
  return db.rows(sql`
    select asked.id::text as id, pawl.ms(pawl.now()) as now_ms, coalesce(history.failures, '[]'::jsonb) as failures
    from unnest(
      (select ${textArray(asked.map((one) => one.id))}::text)::uuid[],
      (select ${textArray(asked.map((one) => one.upToVersion))}::text)::int[]
    ) as asked(id, version)
    cross join lateral (
      select jsonb_agg(jsonb_build_object(
        'version', move.version, 'event', move.event, 'from_state', move.from_state, 'to_state', move.to_state,
        'at_ms', pawl.ms(move.at), 'reason', coalesce(move.payload ->> 'reason', move.reason), 'error', move.payload -> 'error'
      ) order by move.version) as failures
      from (
        select each.version, each.event, each.from_state, each.to_state, each.at, each.reason,
          case when each.event = 'fail' then each.payload end as payload
        from pawl.journal as each
        where each.instance_id = asked.id and each.version <= asked.version
          and (each.to_state = 'failed' or each.event = 'restart')
        order by each.version desc limit ${maxFailures}::int
      ) as move
    ) as history`);
}

/** The history of an instance up to a version, to derive its state then. */
export interface PastMove {
  readonly version: number;
  readonly event: string;
  readonly to_state: string;
  readonly definition: number;
  readonly patch: Record<string, unknown> | null;
  readonly cleared: string[] | null;
  readonly at_ms: number;
}

export function readMovesUpTo(db: Executor, id: string, version: number): Promise<PastMove[]> {
  return db.rows<PastMove>(sql`
    select version, event, to_state, definition, patch, to_json(cleared) as cleared, pawl.ms(at) as at_ms
    from pawl.journal where instance_id = ${id}::uuid and version <= ${version}::int
    order by version`);
}

/** Whose doing it was that instances left the visit of a state, for those that did. */
export function readLeavings(
  db: Executor,
  asked: readonly { id: string; visit: number }[],
): Promise<{ id: string; source: string; reason: string | null }[]> {
  return db.rows(sql`
    select asked.id::text as id, move.source, move.reason
    from unnest(
      (select ${textArray(asked.map((one) => one.id))}::text)::uuid[],
      (select ${textArray(asked.map((one) => one.visit))}::text)::int[]
    ) as asked(id, visit)
    cross join lateral (
      select instance.visit from pawl.instances as instance where instance.id = asked.id offset 0
    ) as stands
    cross join lateral (
      select each.source, each.reason from pawl.journal as each
      where each.instance_id = asked.id and each.version > asked.visit
        and (each.to_state <> each.from_state or each.version = stands.visit)
      order by each.version limit 1
    ) as move`);
}
