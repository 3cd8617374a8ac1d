import { type Executor, part, sql, textArray } from "../port/db.ts";

/** A moment at which an event is sent to an instance. One with a `visit` goes when that visit ends. */
export interface TimerRow {
  readonly instanceId: string;
  readonly id: string;
  readonly kind: "timeout" | "deadline" | "send";
  readonly visit: number | null;
  /** Counted from the moment of writing; or, when null, at `atMs`. */
  readonly afterMs: number | null;
  readonly atMs: number | null;
  readonly event: string;
  readonly payloadText: string | null;
  readonly actor: string | null;
  readonly reason: string | null;
  /** Deliveries of its event that have failed so far. */
  readonly attempts: number;
  /** The mark of the call that sent it; null: the timer's own id. */
  readonly requestId: string | null;
}

/** The timers of those instances that `written` holds. A part of the statements that commit. */
export function insertTimers(rows: readonly TimerRow[]) {
  return part`
    insert into pawl.timers (instance_id, id, kind, visit, due_at, event, payload, actor, reason, attempts, request_id)
    select timer.instance_id, timer.id, timer.kind, timer.visit,
      coalesce(clock.now + timer.after_ms * interval '1 millisecond', pawl.at(timer.at_ms)), timer.event,
      timer.payload::jsonb, timer.actor, timer.reason, timer.attempts, timer.request_id
    from clock, unnest(
      (select ${textArray(rows.map((row) => row.instanceId))}::text)::uuid[],
      (select ${textArray(rows.map((row) => row.id))}::text)::uuid[],
      (select ${textArray(rows.map((row) => row.kind))}::text)::text[],
      (select ${textArray(rows.map((row) => row.visit))}::text)::int[],
      (select ${textArray(rows.map((row) => row.afterMs))}::text)::float8[],
      (select ${textArray(rows.map((row) => row.atMs))}::text)::float8[],
      (select ${textArray(rows.map((row) => row.event))}::text)::text[],
      (select ${textArray(rows.map((row) => row.payloadText))}::text)::text[],
      (select ${textArray(rows.map((row) => row.actor))}::text)::text[],
      (select ${textArray(rows.map((row) => row.reason))}::text)::text[],
      (select ${textArray(rows.map((row) => row.attempts))}::text)::int[],
      (select ${textArray(rows.map((row) => row.requestId))}::text)::uuid[]
    ) as timer(instance_id, id, kind, visit, after_ms, at_ms, event, payload, actor, reason, attempts, request_id)
    where (timer.instance_id in (select id from written)) is true
    on conflict do nothing`;
}

/** A due timer. */
export interface DueTimer {
  readonly instance_id: string;
  readonly id: string;
  readonly kind: "timeout" | "deadline" | "send";
  readonly visit: number | null;
  readonly due_ms: number;
  readonly event: string;
  readonly payload: unknown;
  /** Nothing was sent along, or something, be it null. */
  readonly has_payload: boolean;
  readonly actor: string | null;
  readonly reason: string | null;
  readonly attempts: number;
  readonly request_id: string;
}

/** The timers of these instances that are due at the given moment, in the order in which they fell due. */
export function readDueTimers(db: Executor, due: readonly { id: string; asOfMs: number }[]): Promise<DueTimer[]> {
  return db.rows<DueTimer>(sql`
    select timer.instance_id::text as instance_id, timer.id::text as id, timer.kind, timer.visit,
      pawl.ms(timer.due_at) as due_ms, timer.event, timer.payload, timer.payload is not null as has_payload, timer.actor, timer.reason,
      timer.attempts, coalesce(timer.request_id, timer.id)::text as request_id
    from unnest(
      (select ${textArray(due.map((one) => one.id))}::text)::uuid[],
      (select ${textArray(due.map((one) => one.asOfMs))}::text)::float8[]
    ) as due(id, as_of_ms)
    cross join lateral (
      select * from pawl.timers as each
      where each.instance_id = due.id and each.due_at <= pawl.at(due.as_of_ms)
      offset 0
    ) as timer
    order by timer.instance_id, timer.due_at, timer.id`);
}

/** Those of these visits that have an event of Pawl's own to be retried: no other event of a visit is a `send`. */
export function readRetries(
  db: Executor,
  visits: readonly { id: string; visit: number }[],
): Promise<{ instance_id: string }[]> {
  return db.rows(sql`
    select wanted.id::text as instance_id
    from unnest(
      (select ${textArray(visits.map((one) => one.id))}::text)::uuid[],
      (select ${textArray(visits.map((one) => one.visit))}::text)::int[]
    ) as wanted(id, visit)
    where exists (
      select from pawl.timers as timer
      where timer.instance_id = wanted.id and timer.kind = 'send' and timer.visit = wanted.visit
      offset 0
    )`);
}
