import { type FlipMessage, insertFlipMessage } from "../move/messages.ts";
import { type Executor, part, sql, textArray } from "../port/db.ts";

/** A breaker as the database has it. */
export interface BreakerRow {
  readonly name: string;
  readonly state: "closed" | "open" | "half_open";
  /** The number of its state changes: an update applies at this number, or not at all. */
  readonly flip: number;
  readonly since_ms: number;
  /** When it lets a first probe through; null unless it opened by itself. */
  readonly until_ms: number | null;
  /** The token of the last probe without an outcome. */
  readonly probe_token: number | null;
  /** Whether that probe still runs, as far as is known. */
  readonly is_probing: boolean;
  readonly probes_done: number;
  readonly probes_good: number;
  readonly forced: "open" | "closed" | null;
  readonly reason: string | null;
  readonly actor: string | null;
  readonly now_ms: number;
}

const breakerColumns = part`
  breaker.name, breaker.state, breaker.flip, pawl.ms(breaker.since) as since_ms, pawl.ms(breaker.open_until) as until_ms,
  breaker.probe_token::float8 as probe_token, breaker.probes_done, breaker.probes_good, breaker.forced, breaker.reason,
  breaker.actor, pawl.ms(clock.now) as now_ms`;

/** The existing ones of these breakers. A probe that was seen to have ended stays ended: no token comes twice. */
export function readBreakers(db: Executor, names: readonly string[]): Promise<BreakerRow[]> {
  return db.rows<BreakerRow>(sql`
    with clock as materialized (select pawl.now() as now)
    select ${breakerColumns}, probe.runs is true as is_probing
    from clock, unnest((select ${textArray(names)}::text)::text[]) as wanted(name)
    cross join lateral (select * from pawl.breakers as each where each.name = wanted.name offset 0) as breaker
    left join lateral (
      select true as runs from pawl.tasks as task
      where task.id = breaker.probe_task and task.token = breaker.probe_token and task.worker is not null
      limit 1
    ) as probe on true`);
}

/** Inserts breakers, closed; existing ones are not changed. */
export async function declareBreakers(db: Executor, names: readonly string[]): Promise<void> {
  await db.rows(sql`
    insert into pawl.breakers (name, since)
    select fresh.name, pawl.now() from unnest((select ${textArray(names)}::text)::text[]) as fresh(name)
    order by fresh.name
    on conflict (name) do nothing`);
}

/** What one process counted in one slice of time. */
export interface CallCount {
  readonly breaker: string;
  readonly flip: number;
  readonly atMs: number;
  readonly good: number;
  readonly failed: number;
  readonly retryAtMs: number | null;
}

/** Writes all that a process has counted in these slices: written twice, it is the same. */
export async function putCalls(db: Executor, process: string, counts: readonly CallCount[]): Promise<void> {
  await db.rows(sql`
    insert into pawl.breaker_counts as known (breaker, flip, at, process, good, failed, retry_at)
    select given.breaker, given.flip, pawl.at(given.at_ms), ${process}::uuid, given.good, given.failed, pawl.at(given.retry_ms)
    from unnest(
      (select ${textArray(counts.map((one) => one.breaker))}::text)::text[],
      (select ${textArray(counts.map((one) => one.flip))}::text)::int[],
      (select ${textArray(counts.map((one) => one.atMs))}::text)::float8[],
      (select ${textArray(counts.map((one) => one.good))}::text)::int[],
      (select ${textArray(counts.map((one) => one.failed))}::text)::int[],
      (select ${textArray(counts.map((one) => one.retryAtMs))}::text)::float8[]
    ) as given(breaker, flip, at_ms, good, failed, retry_ms)
    on conflict (breaker, flip, at, process) do update
    set good = excluded.good, failed = excluded.failed, retry_at = excluded.retry_at`);
}

/** The calls of one breaker, of all processes, since its last flip and within its window. */
export interface Calls {
  readonly name: string;
  readonly good: number;
  readonly failed: number;
  /** How long the dependency requests no calls, from now; null if it does not. */
  readonly retry_ms: number | null;
}

export function readCalls(
  db: Executor,
  wanted: readonly { readonly name: string; readonly flip: number; readonly windowMs: number }[],
): Promise<Calls[]> {
  return db.rows<Calls>(sql`
    with clock as materialized (select pawl.now() as now)
    select wanted.name, calls.good, calls.failed, pawl.ms(calls.retry_at) - pawl.ms(clock.now) as retry_ms
    from clock, unnest(
      (select ${textArray(wanted.map((one) => one.name))}::text)::text[],
      (select ${textArray(wanted.map((one) => one.flip))}::text)::int[],
      (select ${textArray(wanted.map((one) => one.windowMs))}::text)::float8[]
    ) as wanted(name, flip, window_ms)
    cross join lateral (
      select coalesce(sum(each.good), 0)::float8 as good, coalesce(sum(each.failed), 0)::float8 as failed,
        max(each.retry_at) as retry_at
      from pawl.breaker_counts as each
      where each.breaker = wanted.name and each.flip = wanted.flip
        and each.at > clock.now - wanted.window_ms * interval '1 millisecond'
        -- A clock that was set back blocks no breaker for long.
        and each.at < clock.now + wanted.window_ms * interval '1 millisecond'
    ) as calls`);
}

/** Deletes calls that no window includes any more. */
export async function pruneCalls(
  db: Executor,
  windows: readonly { readonly name: string; readonly windowMs: number }[],
): Promise<void> {
  await db.rows(sql`
    with clock as materialized (select pawl.now() as now),
    past as materialized (
      select old.breaker, old.flip, old.at, old.process
      from clock, unnest(
        (select ${textArray(windows.map((one) => one.name))}::text)::text[],
        (select ${textArray(windows.map((one) => one.windowMs))}::text)::float8[]
      ) as kept(name, window_ms)
      cross join lateral (
        select * from pawl.breaker_counts as each
        where each.breaker = kept.name and each.at <= clock.now - kept.window_ms * interval '1 millisecond'
        for update skip locked
      ) as old
    )
    delete from pawl.breaker_counts as calls using past
    where (calls.breaker, calls.flip, calls.at, calls.process) = (past.breaker, past.flip, past.at, past.process)`);
}

/** A change of state, based on what was read. */
export interface Flip {
  readonly name: string;
  /** The number of the last flip when this one was decided on. */
  readonly after: number;
  readonly to: BreakerRow["state"];
  readonly cause: string;
  /** Null: it stays open until a person changes that, or it is not open. */
  readonly openForMs: number | null;
  readonly forced: BreakerRow["forced"];
  readonly good: number;
  readonly failed: number;
  readonly reason: string | null;
  readonly actor: string | null;
  readonly message: FlipMessage;
}

/**
 * Of all that flip a breaker at the same moment, one does; the others are given nothing back. The flip is noted and
 * published in the same statement, under the lock of the breaker's row, so that both are in order.
 */
export async function flipBreaker(db: Executor, flip: Flip): Promise<BreakerRow | undefined> {
  const [row] = await db.rows<BreakerRow>(sql`
    with clock as materialized (select pawl.now() as now),
    held as materialized (
      select breaker.name, breaker.state from pawl.breakers as breaker
      where breaker.name = ${flip.name}::text and breaker.flip = ${flip.after}::int
      for no key update
    ),
    flipped as (
      update pawl.breakers as breaker
      set state = ${flip.to}::text, flip = breaker.flip + 1, since = clock.now,
        open_until = clock.now + ${flip.openForMs}::float8 * interval '1 millisecond',
        probe_task = null, probe_token = null, probes_done = 0, probes_good = 0,
        forced = ${flip.forced}::text, reason = ${flip.reason}::text, actor = ${flip.actor}::text
      from held, clock where breaker.name = held.name
      returning breaker.*, held.state as from_state
    ),
    noted as (
      insert into pawl.breaker_flips
        (breaker, flip, from_state, to_state, cause, good, failed, open_until, reason, actor, at)
      select flipped.name, flipped.flip, flipped.from_state, flipped.state, ${flip.cause}::text, ${flip.good}::int,
        ${flip.failed}::int, flipped.open_until, flipped.reason, flipped.actor, flipped.since
      from flipped
      returning *
    ),
    published as (${insertFlipMessage(flip.message)}),
    forgotten as (
      delete from pawl.breaker_flips as old using flipped
      where old.breaker = flipped.name and old.flip <= flipped.flip - 1000
    )
    select ${breakerColumns}, false as is_probing from clock, flipped as breaker`);
  return row;
}

/** Extends the pause of a dependency, as requested by it. */
export async function extendBreaker(
  db: Executor,
  { name, flip, untilMs }: { name: string; flip: number; untilMs: number },
): Promise<void> {
  await db.rows(sql`
    update pawl.breakers
    set open_until = greatest(open_until, pawl.at(${untilMs}::float8))
    where name = ${name}::text and flip = ${flip}::int and open_until is not null`);
}

/** A task as the probe of a half-open breaker. */
export interface ProbeRow {
  readonly name: string;
  readonly flip: number;
  readonly taskId: string;
  readonly token: number;
}

/** Makes a task that runs the probe, if the last known one has ended and no other has begun meanwhile. */
export async function markProbe(db: Executor, probe: ProbeRow, seenToken: number | null): Promise<boolean> {
  const marked = await db.rows(sql`
    update pawl.breakers
    set probe_task = ${probe.taskId}::uuid, probe_token = ${probe.token}::bigint
    where name = ${probe.name}::text and flip = ${probe.flip}::int and state = 'half_open'
      and probe_token is not distinct from ${seenToken}::bigint
    returning 1 as marked`);
  return marked.length > 0;
}

/** Ends a probe, and records its outcome, if any; does nothing if it is no longer the probe. */
export async function settleProbe(
  db: Executor,
  probe: ProbeRow,
  { done, good }: { readonly done: boolean; readonly good: boolean },
): Promise<BreakerRow | undefined> {
  const [row] = await db.rows<BreakerRow>(sql`
    with clock as materialized (select pawl.now() as now),
    settled as (
      update pawl.breakers
      set probe_task = null, probe_token = null, probes_done = probes_done + ${done}::boolean::int,
        probes_good = probes_good + ${good}::boolean::int
      where name = ${probe.name}::text and flip = ${probe.flip}::int and probe_task = ${probe.taskId}::uuid
        and probe_token = ${probe.token}::bigint
      returning *
    )
    select ${breakerColumns}, false as is_probing from clock, settled as breaker`);
  return row;
}
