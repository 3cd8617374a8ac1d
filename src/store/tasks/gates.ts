import { type Executor, part, sql, textArray } from "../port/db.ts";
import { type ClaimedTaskRow, claimedFew, type Holder, leaseFew } from "./tasks.ts";

/** What holds the lanes of a state back: how many steps may run at once, and how many may begin in a time. */
export interface GateRow {
  readonly name: string;
  readonly lifecycle: string;
  /** The state, and the names that it had. */
  readonly states: readonly string[];
  readonly lanes: readonly string[];
  readonly limit: number | null;
  readonly rate: RateRow | null;
}

/** How many steps may begin in any window of a length, and the resolution in which they are counted. */
export interface RateRow {
  readonly steps: number;
  readonly perMs: number;
  readonly sliceMs: number;
}

/** The state of a gate. */
export interface GateView {
  readonly name: string;
  /** How many more may begin now; 0 also while nothing is ready. */
  readonly room: number;
  /** When the rate lets the next one begin, in milliseconds from now; null if the rate does not limit it. */
  readonly wait_ms: number | null;
}

/**
 * The gates as rows, each with the window in which its starts count. A clock that was set back blocks none for long.
 */
function rowsOf(gates: readonly GateRow[]) {
  return part`(
    select given.*, clock.now - (given.per_ms + given.slice_ms - 1) * interval '1 millisecond' as window_start,
      clock.now + given.per_ms * interval '1 millisecond' as window_end
    from clock, unnest(
      (select ${textArray(gates.map((gate) => gate.name))}::text)::text[],
      (select ${textArray(gates.map((gate) => gate.lifecycle))}::text)::text[],
      (select ${textArray(gates.map((gate) => textArray(gate.states)))}::text)::text[],
      (select ${textArray(gates.map((gate) => textArray(gate.lanes)))}::text)::text[],
      (select ${textArray(gates.map((gate) => gate.limit))}::text)::int[],
      (select ${textArray(gates.map((gate) => gate.rate?.steps))}::text)::int[],
      (select ${textArray(gates.map((gate) => gate.rate?.perMs ?? 0))}::text)::float8[],
      (select ${textArray(gates.map((gate) => gate.rate?.sliceMs ?? 1))}::text)::float8[]
    ) as given(name, lifecycle, states, lanes, most, rate, per_ms, slice_ms)
  )`;
}

/** Which gates have ready tasks behind them and let them through. Reads without a lock: the claim checks again. */
export function readGates(db: Executor, gates: readonly GateRow[]): Promise<GateView[]> {
  return db.rows<GateView>(sql`
    with clock as materialized (select pawl.now() as now),
    gate as materialized (select * from ${rowsOf(gates)} as gate),
    stands as materialized (
      select gate.*, pawl.gate_left(
        gate.name, gate.lifecycle, gate.states::text[], gate.most, gate.rate, gate.window_start, gate.window_end) as room
      from gate
      where exists (
        select from unnest(gate.lanes::text[]) as lane(name)
        cross join lateral (select from pawl.tasks as each where each.queue = lane.name and each.due_at is null limit 1) as ready
      )
    )
    select stands.name, stands.room, pawl.ms(full_at.at) + stands.per_ms + stands.slice_ms - 1 - pawl.ms(clock.now) as wait_ms
    from clock, stands
    left join lateral (
      select window_of.at from (
        select begun.at, sum(begun.steps) over (order by begun.at desc) as steps
        from pawl.begun as begun
        where begun.gate = stands.name and begun.at > stands.window_start and begun.at <= stands.window_end
      ) as window_of
      where window_of.steps >= stands.rate
      order by window_of.at desc limit 1
    ) as full_at on stands.room = 0`);
}

/** Leases tasks behind the gates of `gate`, as many as each lets through: a part of the claims that check gates. */
function throughGates(claim: GatedClaim) {
  return part`
    let_through as materialized (
      select gate.*, least(${claim.limit}::int, pawl.gate_take(
        gate.name, gate.lifecycle, gate.states::text[], gate.most, gate.rate, gate.window_start, gate.window_end)) as room
      from gate
    ),
    ready as materialized (
      select task.id
      from let_through
      cross join lateral (
        select next.id
        from unnest(let_through.lanes::text[]) as lane(name)
        cross join lateral (
          select each.id from pawl.tasks as each
          where each.queue = lane.name and each.due_at is null
          order by each.priority, each.id
          limit let_through.room for update skip locked
        ) as next
        limit let_through.room
      ) as task
      limit ${claim.limit}::int
    ),
    few as materialized (
      select few.id, few.place from unnest((select array_agg(ready.id) from ready)) with ordinality as few(id, place)
      limit (select ${claim.limit}::int)
    ),
    ${leaseFew(claim, part`task.lane`)},
    begun as (
      insert into pawl.begun as begun (gate, at, steps)
      select gate.name, pawl.at(floor(pawl.ms(clock.now) / gate.slice_ms) * gate.slice_ms), count(*)
      from clock, claimed, gate
      where gate.rate is not null and claimed.lane = any (gate.lanes::text[])
      group by gate.name, gate.slice_ms, clock.now
      on conflict (gate, at) do update set steps = begun.steps + excluded.steps
    )`;
}

export interface GatedClaim extends Holder {
  readonly gates: readonly GateRow[];
  readonly limit: number;
}

/**
 * Leases ready tasks behind gates, as many as each lets through. The free capacity is computed in this very statement,
 * under the gate's lock and by a function that sees what was committed before the lock was granted; the tasks
 * themselves are checked again when they are locked. So the count is exact, and no lock is held over a round trip.
 */
export function claimGated(db: Executor, claim: GatedClaim): Promise<ClaimedTaskRow[]> {
  return db.rows<ClaimedTaskRow>(sql`
    with clock as materialized (select pawl.now() as now),
    gate as materialized (select * from ${rowsOf(claim.gates)} as gate),
    ${throughGates(claim)}
    ${claimedFew}`);
}

/** A half-open breaker that needs a probe, and the token of its last known probe, which has ended. */
export interface ProbePlace {
  readonly breaker: string;
  readonly flip: number;
  readonly seenToken: number | null;
}

/**
 * Leases one task as the probe of a half-open breaker, unless another has become its probe meanwhile: that is checked
 * under the lock of the breaker's row, which is skipped while another transaction has it.
 */
export function claimProbe(db: Executor, place: ProbePlace, claim: GatedClaim): Promise<ClaimedTaskRow[]> {
  return db.rows<ClaimedTaskRow>(sql`
    with clock as materialized (select pawl.now() as now),
    ${freeOfProbes(place, claim.gates)}
    gate as materialized (select gate.* from free cross join ${rowsOf(claim.gates)} as gate),
    ${throughGates(claim)},
    ${probing}
    ${claimedFew}`);
}

/** The breaker, if it still needs a probe. */
export function freeOfProbes(place: ProbePlace, gates: readonly GateRow[]) {
  return part`
    free as materialized (
      select breaker.name from pawl.breakers as breaker
      where breaker.name = ${place.breaker}::text and breaker.flip = ${place.flip}::int and breaker.state = 'half_open'
        and breaker.probe_token is not distinct from ${place.seenToken}::bigint
        -- Where nothing is ready, nothing is locked.
        and exists (
          select from unnest((select ${textArray(gates.flatMap((gate) => gate.lanes))}::text)::text[]) as lane(name)
          cross join lateral (select from pawl.tasks as each where each.queue = lane.name and each.due_at is null limit 1) as ready
        )
      for no key update skip locked
    ),`;
}

/** The claimed task becomes its probe. */
export const probing = part`
    probing as (
      update pawl.breakers as breaker
      set probe_task = claimed.id, probe_token = claimed.token
      from claimed, free where breaker.name = free.name
    )`;
