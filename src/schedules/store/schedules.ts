import { type Executor, sql, textArray } from "../../store/port/db.ts";

/** A row of a schedule; all columns but the time are null if it does not exist. */
export interface ScheduleRow {
  readonly name: string;
  readonly lifecycle: string | null;
  readonly timing: string | null;
  readonly next_ms: number | null;
  readonly seen_ms: number | null;
  readonly is_paused: boolean;
  readonly now_ms: number;
}

export function readSchedules(db: Executor, names: readonly string[]): Promise<ScheduleRow[]> {
  return db.rows<ScheduleRow>(sql`
    with clock as materialized (select pawl.now() as now)
    select wanted.name, schedule.lifecycle, schedule.timing, pawl.ms(schedule.next_at) as next_ms,
      pawl.ms(schedule.seen_at) as seen_ms, schedule.paused_at is not null as is_paused, pawl.ms(clock.now) as now_ms
    from clock, unnest((select ${textArray(names)}::text)::text[]) as wanted(name)
    left join lateral (select * from pawl.schedules as each where each.name = wanted.name offset 0) as schedule on true`);
}

/** The registration of a schedule by a process. */
export interface Declared {
  readonly name: string;
  readonly lifecycle: string;
  readonly timing: string;
  /** Its next tick, if it is new or its timing has changed. */
  readonly nextMs: number | null;
  /** The stored timing at the time of the read: if it has changed, a newer process has registered. */
  readonly knownTiming: string | null;
}

/** Registers schedules, changes their timing, or records their heartbeat. */
export async function declareSchedules(db: Executor, declared: readonly Declared[]): Promise<void> {
  await db.rows(sql`
    insert into pawl.schedules as schedule (name, lifecycle, timing, next_at, seen_at)
    select fresh.name, fresh.lifecycle, fresh.timing, pawl.at(fresh.next_ms), pawl.now()
    from unnest(
      (select ${textArray(declared.map((one) => one.name))}::text)::text[],
      (select ${textArray(declared.map((one) => one.lifecycle))}::text)::text[],
      (select ${textArray(declared.map((one) => one.timing))}::text)::text[],
      (select ${textArray(declared.map((one) => one.nextMs))}::text)::float8[]
    ) as fresh(name, lifecycle, timing, next_ms)
    order by fresh.name
    on conflict (name) do update
    set lifecycle = excluded.lifecycle, timing = excluded.timing, seen_at = excluded.seen_at,
      next_at = case when schedule.timing = excluded.timing then schedule.next_at else excluded.next_at end
    where (schedule.name, schedule.timing) in (
      select known.name, known.timing from unnest(
        (select ${textArray(declared.map((one) => one.name))}::text)::text[],
        (select ${textArray(declared.map((one) => one.knownTiming))}::text)::text[]
      ) as known(name, timing)
    )`);
}

/** The tick to run, and the one after it. */
export interface Turn {
  readonly name: string;
  readonly timing: string;
  readonly dueMs: number;
  readonly nextMs: number | null;
}

/** Claims a due tick: of several concurrent claims one succeeds, and none waits. */
export async function claimTick(tx: Executor, turn: Turn): Promise<boolean> {
  const taken = await tx.rows(sql`
    with held as materialized (
      select schedule.name from pawl.schedules as schedule
      where schedule.name = ${turn.name}::text and schedule.timing = ${turn.timing}::text
        and schedule.next_at = pawl.at(${turn.dueMs}::float8) and schedule.paused_at is null
      for update skip locked
    )
    update pawl.schedules as schedule
    set next_at = pawl.at(${turn.nextMs}::float8), seen_at = pawl.now()
    from held where schedule.name = held.name
    returning 1 as taken`);
  return taken.length > 0;
}

/** The result of a tick. */
export interface Ran {
  readonly name: string;
  readonly atMs: number;
  readonly result: "started" | "existed" | "failed";
  readonly instanceId: string | null;
  readonly error: string | null;
}

export async function markRan(tx: Executor, ran: Ran): Promise<void> {
  await tx.rows(sql`
    update pawl.schedules
    set last_at = pawl.at(${ran.atMs}::float8), last_run_at = pawl.now(), last_result = ${ran.result}::text,
      last_instance = ${ran.instanceId}::uuid, last_error = ${ran.error}::text
    where name = ${ran.name}::text`);
}

/** Returns whether the schedule exists. A schedule that is already paused keeps its pause with its time and actor. */
export async function markPaused(
  db: Executor,
  name: string,
  by: { actor: string | null; reason: string | null },
): Promise<boolean> {
  const found = await db.rows(sql`
    update pawl.schedules
    set paused_by = case when paused_at is null then ${by.actor}::text else paused_by end,
      paused_reason = case when paused_at is null then ${by.reason}::text else paused_reason end,
      paused_at = coalesce(paused_at, pawl.now())
    where name = ${name}::text
    returning 1 as found`);
  return found.length > 0;
}

/** Resumes a schedule with this tick. False if it was not paused, or has another timing. */
export async function markResumed(
  db: Executor,
  resumed: { name: string; timing: string; nextMs: number | null },
): Promise<boolean> {
  const found = await db.rows(sql`
    update pawl.schedules
    set paused_at = null, paused_by = null, paused_reason = null, next_at = pawl.at(${resumed.nextMs}::float8)
    where name = ${resumed.name}::text and timing = ${resumed.timing}::text and paused_at is not null
    returning 1 as found`);
  return found.length > 0;
}
