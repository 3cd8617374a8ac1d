import { type Executor, type Part, part, sql, textArray } from "../port/db.ts";

/** Work that failed permanently, with the reason. */
export interface DeadLetterRow {
  readonly id: string;
  readonly instanceId: string;
  readonly lifecycle: string;
  readonly kind: "instance" | "effect";
  /** The state of a failed instance, or the event of an effect. */
  readonly origin: string;
  readonly reason: string;
  readonly errorText: string | null;
  readonly attempts: number;
  readonly payloadText: string | null;
  /** What led to it. */
  readonly detailsText: string | null;
  /** The data needed to run an effect after all. */
  readonly workText: string | null;
  /** Identifies it: the same dead letter is never written twice. */
  readonly cause: string;
  /** The last move of the instance at that time. */
  readonly version: number;
  /** The task whose last attempt it was, if it was one. */
  readonly lease: { readonly taskId: string; readonly token: number } | null;
}

/** The instance, task or message that the dead letter is written with. */
const ofInstance = part`letter.instance_id`;
const ofTask = part`letter.task_id`;

/** The dead letters of those instances that `written` has. A part of the statements that end work with a failure. */
export function insertDeadLetters(rows: readonly DeadLetterRow[]) {
  return lettersOf(rows, ofInstance);
}

/** The same of those tasks that `written` holds: an instance may have several, and some of them may have passed on. */
export function insertTaskLetters(rows: readonly DeadLetterRow[]) {
  return lettersOf(rows, ofTask);
}

function lettersOf(rows: readonly DeadLetterRow[], whose: Part) {
  return part`
    insert into pawl.dead_letters (
      id, instance_id, lifecycle, kind, origin, reason, error, attempts, payload, details, work, cause, version, task_id, token,
      created_at
    )
    select letter.id, letter.instance_id, letter.lifecycle, letter.kind, letter.origin, letter.reason, letter.error::jsonb,
      letter.attempts, letter.payload::jsonb, letter.details::jsonb, letter.work::jsonb, letter.cause, letter.version,
      letter.task_id, letter.token, clock.now
    from clock, unnest(
      (select ${textArray(rows.map((row) => row.id))}::text)::uuid[],
      (select ${textArray(rows.map((row) => row.instanceId))}::text)::uuid[],
      (select ${textArray(rows.map((row) => row.lifecycle))}::text)::text[],
      (select ${textArray(rows.map((row) => row.kind))}::text)::text[],
      (select ${textArray(rows.map((row) => row.origin))}::text)::text[],
      (select ${textArray(rows.map((row) => row.reason))}::text)::text[],
      (select ${textArray(rows.map((row) => row.errorText))}::text)::text[],
      (select ${textArray(rows.map((row) => row.attempts))}::text)::int[],
      (select ${textArray(rows.map((row) => row.payloadText))}::text)::text[],
      (select ${textArray(rows.map((row) => row.detailsText))}::text)::text[],
      (select ${textArray(rows.map((row) => row.workText))}::text)::text[],
      (select ${textArray(rows.map((row) => row.cause))}::text)::text[],
      (select ${textArray(rows.map((row) => row.version))}::text)::int[],
      (select ${textArray(rows.map((row) => row.lease?.taskId))}::text)::uuid[],
      (select ${textArray(rows.map((row) => row.lease?.token))}::text)::bigint[]
    ) as letter(
      id, instance_id, lifecycle, kind, origin, reason, error, attempts, payload, details, work, cause, version, task_id, token
    )
    where (${whose} in (select id from written)) is true
    on conflict do nothing`;
}

/** A failed instance continues, or is discarded: its dead letter is decided with that move. */
export interface LetterDecision {
  readonly instanceId: string;
  /** Letters about the instance itself, about events for a visit that has ended, or about all events for an ended run. */
  readonly about: "instance" | "visit" | "run";
  readonly status: "requeued" | "discarded";
  readonly actor: string | null;
  readonly reason: string | null;
}

/** Decides the open dead letters about those instances that `written` has. A part of the statement that moves. */
export function decideLetters(rows: readonly LetterDecision[]) {
  return part`
    update pawl.dead_letters as letter
    set status = open.status, decided_at = clock.now, decided_by = open.actor, decision = open.reason
    from clock, (
      select each.id, decided.status, decided.actor, decided.reason
      from unnest(
        (select ${textArray(rows.map((row) => row.instanceId))}::text)::uuid[],
        (select ${textArray(rows.map((row) => row.about))}::text)::text[],
        (select ${textArray(rows.map((row) => row.status))}::text)::text[],
        (select ${textArray(rows.map((row) => row.actor))}::text)::text[],
        (select ${textArray(rows.map((row) => row.reason))}::text)::text[]
      ) as decided(instance_id, about, status, actor, reason)
      cross join lateral (
        select about.id from pawl.dead_letters as about
        where about.instance_id = decided.instance_id and about.status = 'open' and case decided.about
          when 'instance' then about.kind = 'instance'
          when 'visit' then about.kind = 'effect' and about.work #>> '{delivery,letters,0,during,visit}' is not null
          else about.kind = 'effect' and about.work #> '{delivery,letters,0,during}' is not null
        end
        offset 0
      ) as each
      where (decided.instance_id in (select id from written)) is true
      limit (select ${rows.length * 1_000}::int)
    ) as open
    where letter.id = open.id`;
}

/** The actor of a decision about a dead letter, and the reason. */
export interface Decider {
  readonly actor: string | null;
  readonly reason: string | null;
}

/** Puts the task of a failed effect into its lane again; false if the letter is no longer open. */
export async function requeueEffect(
  db: Executor,
  letterId: string,
  task: { readonly id: string; readonly lane: string },
  { actor, reason }: Decider,
): Promise<boolean> {
  const rows = await db.rows(sql`
    with letter as (
      update pawl.dead_letters
      set status = 'requeued', decided_at = pawl.now(), decided_by = ${actor}::text, decision = ${reason}::text
      where id = ${letterId}::uuid and status = 'open' and kind = 'effect'
      returning instance_id, work, version
    )
    insert into pawl.tasks (id, instance_id, kind, lane, priority, queue, visit, work, since)
    select ${task.id}::uuid, letter.instance_id, 'effect', ${task.lane}::text, 0, ${task.lane}::text,
      coalesce((letter.work ->> 'version')::int, letter.version), letter.work, pawl.now()
    from letter
    returning id::text as id`);
  return rows.length > 0;
}

/** Discards a dead letter; false if it is no longer open. */
export async function markDiscarded(db: Executor, letterId: string, { actor, reason }: Decider): Promise<boolean> {
  const rows = await db.rows(sql`
    update pawl.dead_letters
    set status = 'discarded', decided_at = pawl.now(), decided_by = ${actor}::text, decision = ${reason}::text
    where id = ${letterId}::uuid and status = 'open'
    returning id::text as id`);
  return rows.length > 0;
}
