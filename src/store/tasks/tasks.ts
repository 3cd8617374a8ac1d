import { newToken } from "../../base/ids.ts";
import { type InstanceRow, instanceColumns } from "../move/instances.ts";
import { type Executor, type Part, part, sql, textArray } from "../port/db.ts";
import { type DeadLetterRow, insertTaskLetters } from "../recovery/dead-letters.ts";

/** An after-effect: work of its own that a move leaves behind. */
export interface EffectRow {
  readonly id: string;
  readonly instanceId: string;
  readonly lane: string;
  readonly priority: number;
  readonly visit: number;
  readonly workText: string;
}

/** The effects of those instances that `written` holds. A part of the statements that commit. */
export function insertEffects(rows: readonly EffectRow[]) {
  return part`
    insert into pawl.tasks (id, instance_id, kind, lane, priority, queue, visit, work, since)
    select effect.id, effect.instance_id, 'effect', effect.lane, effect.priority, effect.lane, effect.visit,
      effect.work::jsonb, clock.now
    from clock, unnest(
      (select ${textArray(rows.map((row) => row.id))}::text)::uuid[],
      (select ${textArray(rows.map((row) => row.instanceId))}::text)::uuid[],
      (select ${textArray(rows.map((row) => row.lane))}::text)::text[],
      (select ${textArray(rows.map((row) => row.priority))}::text)::int[],
      (select ${textArray(rows.map((row) => row.visit))}::text)::int[],
      (select ${textArray(rows.map((row) => row.workText))}::text)::text[]
    ) as effect(id, instance_id, lane, priority, visit, work)
    where (effect.instance_id in (select id from written)) is true`;
}

/** The same on their own, inside the transaction that writes their instances. */
export async function putEffects(tx: Executor, rows: readonly EffectRow[]): Promise<void> {
  await tx.rows(sql`
    with clock as materialized (select pawl.now() as now),
    written as materialized (
      select one.id from unnest((select ${textArray(rows.map((row) => row.instanceId))}::text)::uuid[]) as one(id)
    ),
    followed as (${insertEffects(rows)})
    select from clock`);
}

/** Who a task is leased to, and for how long. */
export interface Holder {
  readonly worker: string;
  readonly leaseMs: number;
  /** How many of them begin with the claim, all by default; the others are held, and marked once they have begun. */
  readonly begins?: number;
}

export interface Claim extends Holder {
  readonly lanes: readonly string[];
  /** The most that is claimed in all. */
  readonly limit: number;
  /** The most from one lane. */
  readonly share: number;
  /** Where in a lane to start the search. A hint: the caller searches the complete lane now and then. */
  readonly after?: ReadonlyMap<string, Place>;
}

/** A place in a lane: its tasks are in the order of priority and id. */
interface Place {
  readonly priority: number;
  readonly id: string;
}

const beforeAll: Place = { priority: -2_147_483_648, id: "00000000-0000-0000-0000-000000000000" };

/** A leased task with its instance at the time of the claim. */
export interface ClaimedTaskRow extends InstanceRow {
  readonly task_id: string;
  readonly kind: "step" | "effect";
  readonly lane: string;
  readonly token: number;
  readonly attempt: number;
  readonly priority: number;
  readonly task_visit: number;
  readonly work: unknown;
  /** The payload of the event that led into a step's state. */
  readonly payload?: unknown;
  readonly has_payload?: boolean;
  /** False while it waits for a slot of its worker. */
  readonly begun?: boolean;
}

/**
 * Leases up to `limit` ready tasks to one worker, one index probe per lane; workers skip each other's rows instead of
 * waiting. The list is materialized: as a subquery, a plan may run it again and claim more than the limit. `few` is the
 * same list in a form that the planner estimates as short, whatever the statistics of full lanes. The attempt is spent
 * here, so that a step that kills its worker still comes to an end.
 */
export function claimTasks(db: Executor, claim: Claim): Promise<ClaimedTaskRow[]> {
  const places = claim.lanes.map((lane) => claim.after?.get(lane) ?? beforeAll);
  return db.rows<ClaimedTaskRow>(sql`
    with clock as materialized (select pawl.now() as now),
    ready as materialized (
      select task.id
      from unnest(
        (select ${textArray(claim.lanes)}::text)::text[],
        (select ${textArray(places.map((place) => place.priority))}::text)::int[],
        (select ${textArray(places.map((place) => place.id))}::text)::uuid[]
      ) as lane(name, after_priority, after_id)
      cross join lateral (
        select each.id from pawl.tasks as each
        where each.queue = lane.name and each.due_at is null and (each.priority, each.id) > (lane.after_priority, lane.after_id)
        order by each.priority, each.id
        limit ${claim.share}::int for update skip locked
      ) as task
      limit ${claim.limit}::int
    ),
    few as materialized (
      select few.id, few.place from unnest((select array_agg(ready.id) from ready)) with ordinality as few(id, place)
      limit (select ${claim.limit}::int)
    ),
    ${leaseFew(claim, part`null`)}
    ${claimedFew}`);
}

/** How often a task may lapse before it has begun: a step that kills its worker at once would never come to an end. */
const maxSpared = 3;

const allBegin = 2_147_483_647;

/** The tasks of `few`, leased: a part of every claim. `gate` is where they count while they run. */
export function leaseFew({ worker, leaseMs, begins = allBegin }: Holder, gate: Part) {
  return part`
    claimed as (
      update pawl.tasks as task
      set queue = null, gate = ${gate}, worker = ${worker}::text, attempt = task.attempt + 1,
        token = ${newToken()}::bigint + few.place,
        begun = few.place <= ${begins}::int or task.spared >= ${maxSpared}::int,
        leased_until = clock.now + ${leaseMs}::float8 * interval '1 millisecond', since = clock.now
      from few, clock
      where task.id = few.id
      returning task.id, task.instance_id, task.kind, task.lane, task.priority, task.token, task.attempt, task.visit, task.work, task.begun
    ),
    noted as (
      insert into pawl.attempts (instance_id, task_id, token, what, at, lane, attempt, worker, visit)
      select claimed.instance_id, claimed.id, claimed.token, 'claimed', clock.now, claimed.lane, claimed.attempt, ${worker}::text,
        claimed.visit
      from claimed, clock
    )`;
}

/** The columns that every claim returns. */
export const claimedFew = part`
    select claimed.id::text as task_id, claimed.kind, claimed.lane, claimed.token::float8 as token, claimed.attempt, claimed.priority,
      claimed.visit as task_visit, claimed.work, claimed.begun, entry.payload, entry.payload is not null as has_payload, ${instanceColumns}
    from clock, claimed
    cross join lateral (
      select * from pawl.instances as each where each.id = claimed.instance_id offset 0
    ) as instance
    left join lateral (
      select move.payload from pawl.journal as move
      where claimed.kind = 'step' and move.instance_id = claimed.instance_id and move.version = claimed.visit
      offset 0
    ) as entry on true
    order by claimed.priority, claimed.id`;

/** The right to a task: held by the worker whose token is in the task's row. */
export interface Lease {
  readonly taskId: string;
  readonly token: number;
}

/** The leases that a renewal did not extend. */
export interface Renewal {
  /** Another holder, or the end of the visit, was seen: they will never hold again. */
  readonly lost: Lease[];
  /** They hold as far as is known, and their rows are locked by other transactions: try again soon. */
  readonly skipped: Lease[];
}

/**
 * Extends leases by an explicit list; "all of mine" would keep alive what was claimed in a lost reply. A row that
 * another transaction has locked is skipped, so that one of them cannot keep all others from being extended; whether
 * its lease holds is then read without a lock. The lock is the weakest that an update needs: what a step writes while
 * it runs (`once`, `callbackToken`) does not conflict with it.
 */
export async function renewLeases(db: Executor, leases: readonly Lease[], leaseMs: number): Promise<Renewal> {
  const rows = await db.rows<{ place: number; held: boolean }>(sql`
    with lease as materialized (
      select lease.id, lease.token, lease.place
      from unnest(
        (select ${textArray(leases.map((lease) => lease.taskId))}::text)::uuid[],
        (select ${textArray(leases.map((lease) => lease.token))}::text)::bigint[]
      ) with ordinality as lease(id, token, place)
      limit (select ${leases.length}::int)
    ),
    free as materialized (
      select task.id
      from lease cross join lateral (
        select each.id from pawl.tasks as each
        where each.id = lease.id and each.token = lease.token and each.worker is not null
        for no key update skip locked
      ) as task
      limit (select ${leases.length}::int)
    ),
    renewed as (
      update pawl.tasks as task
      set leased_until = pawl.now() + ${leaseMs}::float8 * interval '1 millisecond'
      from free where task.id = free.id
      returning task.id
    )
    select lease.place::int as place, held.id is not null as held
    from lease left join lateral (
      select each.id from pawl.tasks as each
      where each.id = lease.id and each.token = lease.token and each.worker is not null
      offset 0
    ) as held on true
    where (lease.id in (select id from renewed)) is not true`);
  const meant = (isHeld: boolean) => rows.filter(({ held }) => held === isHeld).map(({ place }) => leases[place - 1]!);
  return { lost: meant(false), skipped: meant(true) };
}

/** Marks leased tasks as begun: from now on a lapse spends their attempt. Returns the marked ones. */
export function markBegun(db: Executor, leases: readonly Lease[]): Promise<{ task_id: string }[]> {
  return db.rows<{ task_id: string }>(sql`
    with held as materialized (
      select task.id
      from unnest(
        (select ${textArray(leases.map((lease) => lease.taskId))}::text)::uuid[],
        (select ${textArray(leases.map((lease) => lease.token))}::text)::bigint[]
      ) as lease(id, token)
      cross join lateral (
        select each.id from pawl.tasks as each
        where each.id = lease.id and each.token = lease.token and each.worker is not null
        for no key update skip locked
      ) as task
      limit (select ${leases.length}::int)
    )
    update pawl.tasks as task set begun = true
    from held where task.id = held.id
    returning task.id::text as task_id`);
}

/** Puts due scheduled tasks into their lanes. Returns how many, and of which lanes. */
export function promoteTasks(
  db: Executor,
  lanes: readonly string[],
  limit: number,
): Promise<{ lane: string; tasks: number }[]> {
  return db.rows<{ lane: string; tasks: number }>(sql`
    with clock as materialized (select pawl.now() as now),
    due as materialized (
      select task.id
      from clock, unnest((select ${textArray(lanes)}::text)::text[]) as lane(name)
      cross join lateral (
        select each.id from pawl.tasks as each
        where each.queue = lane.name and each.due_at is not null and each.due_at <= clock.now
        order by each.due_at, each.id
        limit ${limit}::int for update skip locked
      ) as task
      limit ${limit}::int
    ),
    few as materialized (
      select few.id from unnest((select array_agg(due.id) from due)) as few(id) limit (select ${limit}::int)
    ),
    promoted as (
      update pawl.tasks as task
      set due_at = null, since = clock.now
      from few, clock where task.id = few.id
      returning task.lane
    )
    select lane, count(*)::int as tasks from promoted group by lane`);
}

/** The outcome of an attempt that did not move its instance. */
export interface ReturnedTask extends Lease {
  readonly what: "failed" | "lapsed" | "released" | "deferred";
  /** Null: ready again at once. */
  readonly retryAfterMs: number | null;
  /** A drain, a deferral and an open breaker give the attempt back. */
  readonly refund: boolean;
  readonly detailText: string | null;
}

/**
 * Puts leased tasks back, to run again at once or later, and records why. Fenced by (task, token). For a lapsed lease
 * the predicate is checked again: a worker that renewed meanwhile keeps its task.
 */
export function returnTasks(
  db: Executor,
  tasks: readonly ReturnedTask[],
): Promise<{ task_id: string; lane: string }[]> {
  return db.rows<{ task_id: string; lane: string }>(sql`
    with clock as materialized (select pawl.now() as now),
    held as materialized (
      select task.id, task.token, returned.what, returned.retry_ms, returned.refund, returned.detail, task.instance_id, task.lane,
        task.attempt, task.worker
      from clock, unnest(
        (select ${textArray(tasks.map((one) => one.taskId))}::text)::uuid[],
        (select ${textArray(tasks.map((one) => one.token))}::text)::bigint[],
        (select ${textArray(tasks.map((one) => one.what))}::text)::text[],
        (select ${textArray(tasks.map((one) => one.retryAfterMs))}::text)::float8[],
        (select ${textArray(tasks.map((one) => one.refund))}::text)::boolean[],
        (select ${textArray(tasks.map((one) => one.detailText))}::text)::text[]
      ) as returned(id, token, what, retry_ms, refund, detail)
      cross join lateral (
        select each.id, each.token, each.instance_id, each.lane, each.attempt, each.worker from pawl.tasks as each
        where each.id = returned.id and each.token = returned.token and each.worker is not null
          and (returned.what <> 'lapsed' or each.leased_until <= clock.now)
        for update skip locked
      ) as task
      limit (select ${tasks.length}::int)
    ),
    put_back as (
      update pawl.tasks as task
      set worker = null, leased_until = null, gate = null, queue = task.lane, since = clock.now,
        token = 0,
        attempt = task.attempt - case when held.refund then 1 else 0 end,
        spared = task.spared + case when held.what = 'lapsed' and not task.begun then 1 else 0 end,
        due_at = clock.now + held.retry_ms * interval '1 millisecond'
      from held, clock where task.id = held.id
      returning task.id as task_id, task.lane
    ),
    noted as (
      insert into pawl.attempts (instance_id, task_id, token, what, at, lane, attempt, worker, detail)
      select held.instance_id, held.id, held.token, held.what, clock.now, held.lane, held.attempt, held.worker, held.detail::jsonb
      from held, clock
      where (held.id in (select task_id from put_back)) is true
    )
    select task_id::text as task_id, lane from put_back`);
}

/**
 * Deletes effects that are done, or that failed permanently, with a record of why and a dead letter. Fenced by (task,
 * token); for a lapsed lease the predicate is checked again.
 */
export function endEffects(
  db: Executor,
  ends: readonly (Lease & { failure: string | null; lapsed: boolean })[],
  deadLetters: readonly DeadLetterRow[],
): Promise<{ task_id: string }[]> {
  return db.rows<{ task_id: string }>(sql`
    with clock as materialized (select pawl.now() as now),
    held as materialized (
      select task.id, task.token, ending.failure, task.instance_id, task.lane, task.attempt, task.worker
      from unnest(
        (select ${textArray(ends.map((one) => one.taskId))}::text)::uuid[],
        (select ${textArray(ends.map((one) => one.token))}::text)::bigint[],
        (select ${textArray(ends.map((one) => one.failure))}::text)::text[],
        (select ${textArray(ends.map((one) => one.lapsed))}::text)::boolean[]
      ) as ending(id, token, failure, lapsed)
      cross join lateral (
        select each.id, each.token, each.instance_id, each.lane, each.attempt, each.worker from pawl.tasks as each
        where each.id = ending.id and each.token = ending.token and each.kind = 'effect'
          and (not ending.lapsed or each.leased_until <= pawl.now())
        for update skip locked
      ) as task
      limit (select ${ends.length}::int)
    ),
    ended as (delete from pawl.tasks as task using held where task.id = held.id returning task.id),
    noted as (
      insert into pawl.attempts (instance_id, task_id, token, what, at, lane, attempt, worker, detail)
      select held.instance_id, held.id, held.token, 'failed', clock.now, held.lane, held.attempt, held.worker, held.failure::jsonb
      from held, clock where held.failure is not null
    ),
    written as (select ended.id from ended),
    buried as (${insertTaskLetters(deadLetters)})
    select id::text as task_id from ended`);
}

/** A lease that ran out. */
export interface LapsedTask extends ClaimedTaskRow {
  readonly leased_until_ms: number;
  readonly begun: boolean;
}

/** The result of a search for lapsed leases, with or without any: the time, and since when the server runs. */
export interface LapseRow {
  readonly clock_ms: number;
  readonly now_ms: number;
  readonly started_ms: number;
}

/**
 * Lapsed leases in lanes that this process knows, without those of `passed` tasks: candidates only, which are checked again
 * before they are reported.
 */
export function readLapsedLeases(
  db: Executor,
  lanes: readonly string[],
  passed: readonly string[],
  limit: number,
): Promise<(LapseRow & (LapsedTask | { readonly task_id: null }))[]> {
  return db.rows(sql`
    with clock as materialized (select pawl.now() as now)
    select pawl.ms(clock_timestamp()) as clock_ms, pawl.ms(pg_postmaster_start_time()) as started_ms,
      task.id::text as task_id, task.kind, task.lane, task.token::float8 as token, task.attempt, task.priority,
      task.visit as task_visit, task.work, pawl.ms(task.leased_until) as leased_until_ms, task.begun, ${instanceColumns}
    from clock left join lateral (
      select * from pawl.tasks as each
      where each.lane = any ((select ${textArray(lanes)}::text)::text[])
        and each.worker is not null and each.leased_until <= clock.now
        and each.id <> all ((select ${textArray(passed)}::text)::uuid[])
      order by each.leased_until, each.id
      limit ${limit}::int
    ) as task on true
    left join lateral (
      select * from pawl.instances as each where each.id = task.instance_id offset 0
    ) as instance on true`);
}

/** The tasks under these leases, as a claim gives them, as far as the leases still hold. */
export function readLeasedTasks(db: Executor, leases: readonly Lease[]): Promise<ClaimedTaskRow[]> {
  return db.rows<ClaimedTaskRow>(sql`
    with clock as materialized (select pawl.now() as now)
    select task.id::text as task_id, task.kind, task.lane, task.token::float8 as token, task.attempt, task.priority,
      task.visit as task_visit, task.work, entry.payload, entry.payload is not null as has_payload, ${instanceColumns}
    from clock, unnest(
      (select ${textArray(leases.map((lease) => lease.taskId))}::text)::uuid[],
      (select ${textArray(leases.map((lease) => lease.token))}::text)::bigint[]
    ) as lease(id, token)
    cross join lateral (
      select * from pawl.tasks as each
      where each.id = lease.id and each.token = lease.token and each.worker is not null
      offset 0
    ) as task
    cross join lateral (
      select * from pawl.instances as each where each.id = task.instance_id offset 0
    ) as instance
    left join lateral (
      select move.payload from pawl.journal as move
      where move.instance_id = task.instance_id and move.version = task.visit
      offset 0
    ) as entry on true`);
}

/** Leases of a worker on tasks other than those that it knows. */
export function readUnknownLeases(
  db: Executor,
  { worker, known }: { worker: string; known: readonly string[] },
): Promise<{ task_id: string; token: number }[]> {
  return db.rows(sql`
    select task.id::text as task_id, task.token::float8 as token
    from pawl.tasks as task
    where task.leased_until is not null and task.worker = ${worker}::text
      and task.id <> all ((select ${textArray(known)}::text)::uuid[])`);
}

/** Which of these leases still hold. */
export function readHeldLeases(db: Executor, leases: readonly Lease[]): Promise<{ task_id: string }[]> {
  return db.rows(sql`
    select task.id::text as task_id
    from unnest(
      (select ${textArray(leases.map((lease) => lease.taskId))}::text)::uuid[],
      (select ${textArray(leases.map((lease) => lease.token))}::text)::bigint[]
    ) as lease(id, token)
    cross join lateral (
      select each.id from pawl.tasks as each
      where each.id = lease.id and each.token = lease.token and each.worker is not null
      offset 0
    ) as task`);
}
