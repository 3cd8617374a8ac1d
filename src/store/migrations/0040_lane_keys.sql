-- Keys of tasks: what a state's tasks take turns by, and what its limits and rates count by. Limits that operators have changed.
-- Adds columns without a default to pawl.tasks, and builds two indexes on it, which blocks writes to it as long as one scan
-- of it takes.
-- Additive: no definition of processes of the version before has keys, and the index by gate serves them as the one before did.
select pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);

alter table pawl.tasks add column lane_key text collate "C", add column weight smallint;
alter table pawl.tasks
  add constraint tasks_keys_fit_the_index check (octet_length(lane_key) between 1 and 1000) not valid,
  add constraint tasks_weight_check check (weight between 1 and 100) not valid;

-- The ring of keys that wait in a lane, and their tasks in order.
create index tasks_turns on pawl.tasks (queue, lane_key, priority, id)
  where queue is not null and due_at is null and lane_key is not null;

drop index pawl.tasks_gated;
create index tasks_gated on pawl.tasks (gate, lane_key) where gate is not null;

-- The limits of a state that replace those of its definition, and those before them. Null: as defined.
create table pawl.lane_limits (
  id          bigint generated always as identity primary key,
  gate        text collate "C" not null,
  limit_all   int check (limit_all > 0),
  limit_each  int check (limit_each > 0),
  rate_all    text,
  rate_each   text,
  changed_at  timestamptz not null,
  actor       text,
  reason      text,
  replaced_at timestamptz
);

create unique index lane_limits_current on pawl.lane_limits (gate) where replaced_at is null;

-- A limit that was lowered holds for every claim from the moment at which that was committed, whatever the process of the
-- claim has read.
create or replace function pawl.gate_take(
  gate_name text, of_lifecycle text, in_states text[], most int, rate int, window_start timestamptz, window_end timestamptz
) returns int language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  room int := 0;
  most_now int;
begin
  if pg_try_advisory_xact_lock(7297, hashtext(gate_name)) then
    select least(most, (
      select known.limit_all from pawl.lane_limits as known where known.gate = gate_name and known.replaced_at is null
    )) into most_now;
    select pawl.gate_left(gate_name, of_lifecycle, in_states, most_now, rate, window_start, window_end) into room;
  end if;
  return room;
end $$;

-- Up to `most` ready tasks of a state, locked, by the turns of their keys: a ring of the keys that wait, found by a loose index
-- scan that begins after the key that was served last. Each key gets `weight * quantum` tasks, no more than its own limit and
-- rate leave, and then the next has its turn. Where the state has limits or rates, this holds its lock, as gate_take does: who
-- does not get the lock gets nothing. The function is volatile, so its statements see what was committed before the lock was had.
-- Of several lanes of a state (of its versions) the first that has tasks is served. `credit` is what the key served last may
-- still take before the next one. At most `far` keys are read; the next call continues after them. `wait_ms`: nothing was
-- taken, and the first of the keys that wait for their rate may go on then, or the lock may be free.
create function pawl.take_turns(
  gate_name text, of_lifecycle text, in_states text[], of_lanes text[], after_key text, key_credit int, most int, quantum int,
  limit_all int, rate_all int, window_start timestamptz, window_end timestamptz,
  limit_each int, rate_each int, each_start timestamptz, each_end timestamptz, far int,
  out ids uuid[], out keys text[], out after text, out credit int, out wait_ms float8
) language plpgsql volatile
set enable_seqscan = off set enable_bitmapscan = off set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_variable
declare
  of_lane text; counted text[]; limit_now int; each_now int;
  turns text[]; weights int[]; rooms int[]; quotas int[]; weight_sum bigint; more uuid[]; more_keys text[];
  frees timestamptz; first_free timestamptz; gap int; before int := 0; step_count int; round int; leg_now int;
  from_key text; until_key text; quantum_now int; room_now int; last_quota int;
begin
  ids := '{}'; keys := '{}'; after := after_key; credit := key_credit;
  if most <= 0 then return; end if;
  if num_nonnulls(limit_all, rate_all, limit_each, rate_each) > 0 then
    if not pg_try_advisory_xact_lock(7297, hashtext(gate_name)) then wait_ms := 10; return; end if;
    select least(limit_all, known.limit_all), case when limit_each is not null then least(limit_each, known.limit_each) end
    into limit_now, each_now
    from (select) as one left join pawl.lane_limits as known on known.gate = gate_name and known.replaced_at is null;
    if num_nonnulls(limit_now, rate_all) > 0 then
      select least(most, pawl.gate_left(gate_name, of_lifecycle, in_states, limit_now, rate_all, window_start, window_end))
      into most;
    end if;
    if most <= 0 then return; end if;
    select array_agg(known.name || '@' || known.version || '/' || state.name) into counted
    from pawl.lifecycles as known cross join unnest(in_states) as state(name) where known.name = of_lifecycle;
  end if;
  credit := 0;
  foreach of_lane in array of_lanes loop
    exit when cardinality(ids) > 0;
    gap := most; before := 0; round := 0; quantum_now := quantum; leg_now := 1; from_key := after_key; until_key := U&'\+10FFFF';
    -- The rest of the turn of the key that was served last.
    if key_credit > 0 and after_key <> '' then
      select least(key_credit, gap,
        case when each_now is not null then each_now - (
          select count(*)::int from (
            select from unnest(counted) as lane(name) cross join lateral (
              select from pawl.tasks as held where held.gate = lane.name and held.lane_key = after_key limit each_now
            ) as one limit each_now
          ) as running
        ) end,
        case when rate_each is not null then rate_each - (
          select coalesce(sum(begun.steps), 0)::int from pawl.begun as begun
          where begun.gate = gate_name || chr(1) || after_key and begun.at > each_start and begun.at <= each_end
        ) end) into room_now;
      if room_now > 0 then
        select array_agg(task.id) into more from (
          select each.id from pawl.tasks as each
          where each.queue = of_lane and each.due_at is null and each.lane_key = after_key
          order by each.priority, each.id limit room_now for update skip locked
        ) as task;
        ids := coalesce(more, '{}'); before := cardinality(ids); gap := most - before;
        keys := array_fill(after_key, array[before]);
        if gap <= 0 then credit := key_credit - before; end if;
      end if;
    end if;
    -- The ring: from the key after the last that was served to the end, then from the beginning to that one.
    while gap > 0 and leg_now <= 2 and far > 0 loop
      with recursive walk(n, leg, turn, until, weight, room, frees, filled) as (
        select 0, leg_now, from_key collate "C", until_key collate "C", 0, 0, null::timestamptz, 0::bigint
        union all
        select walk.n + 1, case when next.turn is null then walk.leg + 1 else walk.leg end, coalesce(next.turn, ''),
          case when next.turn is null then after_key collate "C" else walk.until end, coalesce(next.weight, 0), held.room,
          held.frees, walk.filled + case when next.turn is null then 0 else greatest(0, least(next.weight * quantum_now, held.room)) end
        from walk
        left join lateral (
          select each.lane_key as turn, coalesce(each.weight, 1)::int as weight from pawl.tasks as each
          where each.queue = of_lane and each.due_at is null and each.lane_key > walk.turn and each.lane_key <= walk.until
          order by each.lane_key, each.priority, each.id limit 1
        ) as next on true
        cross join lateral (
          select least(1000000,
            case when each_now is not null then each_now - (
              select count(*)::int from (
                select from unnest(counted) as lane(name) cross join lateral (
                  select from pawl.tasks as held where held.gate = lane.name and held.lane_key = next.turn limit each_now
                ) as one limit each_now
              ) as running
            ) end,
            case when rate_each is not null then rate_each - spent.steps end)
            - case when next.turn = after_key then before else 0 end as room,
            case when spent.steps >= rate_each then spent.first_at end as frees
          from (
            select coalesce(sum(begun.steps), 0)::int as steps, min(begun.at) as first_at from pawl.begun as begun
            where rate_each is not null and begun.gate = gate_name || chr(1) || next.turn
              and begun.at > each_start and begun.at <= each_end
          ) as spent
          offset 0
        ) as held
        where walk.leg <= 2 and walk.filled < gap and walk.n < far
      )
      select array_agg(walk.turn order by walk.n) filter (where walk.weight > 0 and walk.room > 0),
        array_agg(walk.weight order by walk.n) filter (where walk.weight > 0 and walk.room > 0),
        array_agg(walk.room order by walk.n) filter (where walk.weight > 0 and walk.room > 0),
        sum(walk.weight) filter (where walk.room > 0), max(walk.leg), max(walk.n), (array_agg(walk.turn order by walk.n desc))[1],
        (array_agg(walk.until order by walk.n desc))[1], min(walk.frees)
      into turns, weights, rooms, weight_sum, leg_now, step_count, from_key, until_key, frees from walk;
      round := round + 1; far := far - step_count; first_free := least(first_free, frees);
      -- A ring shorter than the batch goes round more than once.
      select array_agg(least(one.room, case when leg_now > 2 and round = 1
        then ceil(one.weight * gap::float8 / weight_sum)::int else one.weight * quantum_now end) order by one.place)
      into quotas from unnest(turns, weights, rooms) with ordinality as one(turn, weight, room, place);
      select array_agg(task.id order by task.place), array_agg(task.turn order by task.place) into more, more_keys from (
        select next.id, given.turn, row_number() over () as place
        from unnest(turns, quotas) as given(turn, quota)
        cross join lateral (
          select each.id from pawl.tasks as each
          where each.queue = of_lane and each.due_at is null and each.lane_key = given.turn
          order by each.priority, each.id
          limit given.quota offset case when given.turn = after_key then before else 0 end for update skip locked
        ) as next limit gap
      ) as task;
      ids := ids || coalesce(more, '{}'); keys := keys || coalesce(more_keys, '{}');
      gap := most - cardinality(ids); quantum_now := 1;
      if more is null then
        if leg_now <= 2 then after := from_key; end if;
      elsif gap > 0 and leg_now <= 2 then after := from_key;
      else
        after := more_keys[cardinality(more_keys)];
        if gap <= 0 then
          select given.quota into last_quota from unnest(turns, quotas) as given(turn, quota) where given.turn = after;
          credit := greatest(0, last_quota - (select count(*)::int from unnest(more_keys) as one(turn) where one.turn = after));
        end if;
      end if;
    end loop;
    -- What the others of a short ring left goes to those who have more.
    if round = 1 and leg_now > 2 and gap > 0 and turns is not null then
      select array_agg(task.id order by task.place), array_agg(task.turn order by task.place) into more, more_keys from (
        select next.id, rich.turn, row_number() over () as place
        from (
          select given.*, sum(given.weight) over () as weights,
            case when given.turn = after_key then before else 0 end + given.quota as passed
          from unnest(turns, weights, quotas, rooms) as given(turn, weight, quota, room)
          where given.quota < given.room and exists (
            select from pawl.tasks as each
            where each.queue = of_lane and each.due_at is null and each.lane_key = given.turn
            order by each.priority, each.id offset case when given.turn = after_key then before else 0 end + given.quota limit 1
          )
        ) as rich
        cross join lateral (
          select each.id from pawl.tasks as each
          where each.queue = of_lane and each.due_at is null and each.lane_key = rich.turn
          order by each.priority, each.id
          limit least(rich.room - rich.quota, ceil(rich.weight * gap::float8 / rich.weights)::int) offset rich.passed
          for update skip locked
        ) as next limit gap
      ) as task;
      ids := ids || coalesce(more, '{}'); keys := keys || coalesce(more_keys, '{}');
      gap := most - cardinality(ids);
    end if;
    -- Tasks from before the state declared keys: the oldest of their lane.
    if gap > 0 then
      select array_agg(task.id) into more from (
        select each.id from (
          select early.id from (
            select head.id, head.lane_key from pawl.tasks as head
            where head.queue = of_lane and head.due_at is null order by head.priority, head.id limit 100
          ) as early where early.lane_key is null
        ) as early cross join lateral (
          select one.id from pawl.tasks as one
          where one.id = early.id and one.queue = of_lane and one.due_at is null and one.lane_key is null
          for update skip locked
        ) as each limit gap
      ) as task;
      ids := ids || coalesce(more, '{}'); keys := keys || array_fill(null::text, array[cardinality(coalesce(more, '{}'))]);
    end if;
  end loop;
  if cardinality(ids) = 0 then wait_ms := greatest(1, pawl.ms(first_free) - pawl.ms(each_start)); end if;
end $$;
