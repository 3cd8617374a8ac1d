import { type Executor, type Part, part, sql, textArray } from "../port/db.ts";
import { freeOfProbes, type GateRow, type ProbePlace, probing, type RateRow } from "./gates.ts";
import { type ClaimedTaskRow, claimedFew, type Holder, leaseFew } from "./tasks.ts";

/** A gate whose tasks have keys: they take turns, and each key may have a limit and a rate of its own. */
export interface TurnGateRow extends GateRow {
  readonly limitEach: number | null;
  readonly rateEach: RateRow | null;
  /** The key that was served last, and what it may still take before the next one. */
  readonly turn: Turn;
}

/** Where the ring of a gate continues. */
export interface Turn {
  /** `""`: at its beginning. */
  readonly after: string;
  readonly credit: number;
}

/** Where the ring of a gate continues after a claim. */
export interface NextTurn extends Turn {
  readonly gate: string;
  /** Nothing was claimed, and a key that waits for its rate may go on then: milliseconds from now. */
  readonly waitMs: number | null;
}

export interface TurnsClaim extends Holder {
  readonly gates: readonly TurnGateRow[];
  readonly limit: number;
}

/** The most keys that one claim reads: the next one continues after them. */
const far = 2_000;
/** From this many tasks on, a key takes several in a turn: fewer keys are read for a batch. */
const largeBatch = 200;
const largeQuantum = 4;

/** The gates as rows, with the windows in which starts count. */
function turnGates(gates: readonly TurnGateRow[]): Part {
  return part`(
    select given.*, clock.now - (given.per_ms + given.slice_ms - 1) * interval '1 millisecond' as window_start,
      clock.now + given.per_ms * interval '1 millisecond' as window_end,
      clock.now - (given.each_per_ms + given.each_slice_ms - 1) * interval '1 millisecond' as each_start,
      clock.now + given.each_per_ms * interval '1 millisecond' as each_end
    from clock, unnest(
      (select ${textArray(gates.map((gate) => gate.name))}::text)::text[],
      (select ${textArray(gates.map((gate) => gate.lifecycle))}::text)::text[],
      (select ${textArray(gates.map((gate) => textArray(gate.states)))}::text)::text[],
      (select ${textArray(gates.map((gate) => textArray(gate.lanes)))}::text)::text[],
      (select ${textArray(gates.map((gate) => gate.limit))}::text)::int[],
      (select ${textArray(gates.map((gate) => gate.rate?.steps))}::text)::int[],
      (select ${textArray(gates.map((gate) => gate.rate?.perMs ?? 0))}::text)::float8[],
      (select ${textArray(gates.map((gate) => gate.rate?.sliceMs ?? 1))}::text)::float8[],
      (select ${textArray(gates.map((gate) => gate.limitEach))}::text)::int[],
      (select ${textArray(gates.map((gate) => gate.rateEach?.steps))}::text)::int[],
      (select ${textArray(gates.map((gate) => gate.rateEach?.perMs ?? 0))}::text)::float8[],
      (select ${textArray(gates.map((gate) => gate.rateEach?.sliceMs ?? 1))}::text)::float8[],
      (select ${textArray(gates.map((gate) => gate.turn.after))}::text)::text[],
      (select ${textArray(gates.map((gate) => gate.turn.credit))}::text)::int[]
    ) with ordinality as given(
      name, lifecycle, states, lanes, most, rate, per_ms, slice_ms, limit_each, rate_each, each_per_ms, each_slice_ms,
      after_key, key_credit, place
    )
  )`;
}

/**
 * Tasks of `turn_gate`, one gate after the other, as many as are left of the limit: `few`, leased; a part of the claims that
 * take turns. Recursion passes what is left, so that no gate locks tasks that the claim does not take.
 */
function throughTurns(claim: TurnsClaim): Part {
  const limited = claim.gates.filter(isLimited).flatMap((gate) => gate.lanes);
  return part`
    took(place, name, lanes, ids, keys, after, credit, wait_ms, room) as (
      select 0::bigint, ''::text, '{}'::text, '{}'::uuid[], '{}'::text[], ''::text, 0, null::float8, ${claim.limit}::int
      union all
      select gate.place, gate.name, gate.lanes, turn.ids, turn.keys, turn.after, turn.credit, turn.wait_ms,
        took.room - cardinality(turn.ids)
      from took
      cross join lateral (select * from turn_gate as each where each.place = took.place + 1 offset 0) as gate
      cross join lateral pawl.take_turns(
        gate.name, gate.lifecycle, gate.states::text[], gate.lanes::text[], gate.after_key, gate.key_credit, took.room,
        ${claim.limit >= largeBatch ? largeQuantum : 1}::int, gate.most, gate.rate, gate.window_start, gate.window_end,
        gate.limit_each, gate.rate_each, gate.each_start, gate.each_end, ${far}::int
      ) as turn
    ),
    taken as materialized (
      select one.id, one.key from took cross join lateral unnest(took.ids, took.keys) as one(id, key)
    ),
    few as materialized (
      select few.id, few.place from unnest((select array_agg(taken.id order by taken.id) from taken)) with ordinality as few(id, place)
      limit (select ${claim.limit}::int)
    ),
    ${leaseFew(claim, part`case when task.lane = any ((select ${textArray(limited)}::text)::text[]) then task.lane end`)},
    begun as (
      insert into pawl.begun as begun (gate, at, steps)
      select one.gate, one.at, count(*)
      from (
        select gate.name as gate, pawl.at(floor(pawl.ms(clock.now) / gate.slice_ms) * gate.slice_ms) as at
        from clock, claimed, turn_gate as gate
        where gate.rate is not null and claimed.lane = any (gate.lanes::text[])
        union all
        select gate.name || chr(1) || taken.key, pawl.at(floor(pawl.ms(clock.now) / gate.each_slice_ms) * gate.each_slice_ms)
        from clock, claimed, taken, turn_gate as gate
        where gate.rate_each is not null and claimed.lane = any (gate.lanes::text[]) and taken.id = claimed.id
          and taken.key is not null
      ) as one
      group by one.gate, one.at
      order by one.gate
      on conflict (gate, at) do update set steps = begun.steps + excluded.steps
    )`;
}

function isLimited({ limit, rate, limitEach, rateEach }: TurnGateRow): boolean {
  return (limit ?? rate ?? limitEach ?? rateEach) !== null;
}

/**
 * Leases ready tasks by the turns of their keys, as many as the limits of their gates and of their keys let through. The count
 * is exact for the same reason as that of `claimGated`. Returns also where each ring continues.
 */
export async function claimTurns(
  db: Executor,
  claim: TurnsClaim,
): Promise<{ readonly tasks: ClaimedTaskRow[]; readonly turns: NextTurn[] }> {
  type Row = NextTurnRow & (ClaimedTaskRow | { readonly task_id: null });
  const rows = await db.rows<Row>(sql`
    with recursive clock as materialized (select pawl.now() as now),
    turn_gate as materialized (select * from ${turnGates(claim.gates)} as gate),
    ${throughTurns(claim)},
    tasks as materialized (${claimedFew})
    select took.name as turn_gate, took.after as turn_after, took.credit as turn_credit, took.wait_ms as turn_wait_ms, tasks.*
    from took left join tasks on tasks.lane = any (took.lanes::text[])
    where took.place > 0
    order by took.place, tasks.priority, tasks.task_id`);
  const turns = new Map<string, NextTurn>();
  for (const row of rows)
    turns.set(row.turn_gate, {
      gate: row.turn_gate,
      after: row.turn_after,
      credit: row.turn_credit,
      waitMs: row.turn_wait_ms,
    });
  return {
    tasks: rows.filter((row): row is NextTurnRow & ClaimedTaskRow => row.task_id !== null),
    turns: [...turns.values()],
  };
}

/** Leases one task as the probe of a half-open breaker, as `claimProbe` does, from lanes whose tasks have keys. */
export function claimTurnProbe(db: Executor, place: ProbePlace, claim: TurnsClaim): Promise<ClaimedTaskRow[]> {
  return db.rows<ClaimedTaskRow>(sql`
    with recursive clock as materialized (select pawl.now() as now),
    ${freeOfProbes(place, claim.gates)}
    turn_gate as materialized (select gate.* from free cross join ${turnGates(claim.gates)} as gate),
    ${throughTurns(claim)},
    ${probing}
    ${claimedFew}`);
}

/** What a key has of its gate: how many of its steps run, how many began, and when its rate lets the next one begin. */
export interface KeyUse {
  readonly running: number;
  readonly begun: number;
  readonly wait_ms: number | null;
}

/** Reads without a lock, and counts no more than the limit. */
export async function readKeyUse(db: Executor, gate: TurnGateRow, key: string): Promise<KeyUse> {
  const [row] = await db.rows<KeyUse>(sql`
    with clock as materialized (select pawl.now() as now),
    gate as materialized (select * from ${turnGates([gate])} as gate)
    select running.tasks as running, begun.steps as begun,
      case when begun.steps >= gate.rate_each then pawl.ms(begun.first_at) - pawl.ms(gate.each_start) end as wait_ms
    from gate
    cross join lateral (
      select count(*)::int as tasks from (
        select from pawl.lifecycles as known
        cross join unnest(gate.states::text[]) as state(name)
        cross join lateral (
          select from pawl.tasks as held
          where held.gate = known.name || '@' || known.version || '/' || state.name and held.lane_key = ${key}::text
        ) as held
        where known.name = gate.lifecycle limit coalesce(gate.limit_each, 0)
      ) as few
    ) as running
    cross join lateral (
      select coalesce(sum(each.steps), 0)::int as steps, min(each.at) as first_at from pawl.begun as each
      where each.gate = gate.name || chr(1) || ${key}::text and each.at > gate.each_start and each.at <= gate.each_end
    ) as begun`);
  return row!;
}

/** Removes beginnings that no window reaches any more: of gates, and of the keys of those that count them. */
export async function pruneBegun(db: Executor, gates: readonly TurnGateRow[]): Promise<void> {
  await db.rows(sql`
    with clock as materialized (select pawl.now() as now),
    gate as materialized (select * from ${turnGates(gates)} as gate),
    of_gates as (
      delete from pawl.begun as begun using gate
      where begun.gate = gate.name and begun.at <= gate.window_start
    ),
    of_keys as (
      delete from pawl.begun as begun using gate
      where gate.rate_each is not null and begun.gate > gate.name || chr(1) and begun.gate < gate.name || chr(2)
        and begun.at <= gate.each_start
    )
    select from clock`);
}

interface NextTurnRow {
  readonly turn_gate: string;
  readonly turn_after: string;
  readonly turn_credit: number;
  readonly turn_wait_ms: number | null;
}
