-- Lanes that are paused, what limited and rated states have begun, and the workers that there are.
-- New tables and functions only; safe while anything runs.

-- Who closed which lanes and opened them again. A pause holds for every version of a lifecycle.
create table pawl.pauses (
  id            bigint generated always as identity primary key,
  lifecycle     text collate "C" not null,
  -- '' for all lanes of the lifecycle, '/state' for those of a state, ':after' for those of its after-effects.
  part          text collate "C" not null,
  paused_at     timestamptz not null,
  paused_by     text,
  reason        text not null,
  resumed_at    timestamptz,
  resumed_by    text,
  resume_reason text,
  constraint pauses_end_after_their_start check (resumed_at >= paused_at)
);

create unique index pauses_open on pawl.pauses (lifecycle, part) where resumed_at is null;

-- How many steps a state with a rate began at which moment. Rows that no window reaches are removed by maintenance.
create table pawl.begun (
  gate  text collate "C" not null,
  at    timestamptz not null,
  steps int not null check (steps > 0),
  primary key (gate, at)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- How many more steps may begin behind a gate: `most` less those that run, `rate` less those that began in the window.
-- What runs is counted in the lanes of all versions.
create function pawl.gate_left(
  gate_name text, of_lifecycle text, in_states text[], most int, rate int, window_start timestamptz, window_end timestamptz
) returns int language sql stable set enable_seqscan = off as $$
  select greatest(0, least(
    case when most is not null then most - (
      select count(*)::int from (
        select from pawl.lifecycles as known
        cross join unnest(in_states) as state(name)
        cross join lateral (
          select from pawl.tasks as task
          where task.lane = known.name || '@' || known.version || '/' || state.name and task.worker is not null
        ) as held
        where known.name = of_lifecycle
        limit most
      ) as running
    ) end,
    case when rate is not null then rate - (
      select coalesce(sum(begun.steps), 0)::int from pawl.begun as begun
      where begun.gate = gate_name and begun.at > window_start and begun.at <= window_end
    ) end
  ))
$$;

-- The same, for the one who claims: of many at a time, one is told a number, and it holds until that claim is committed.
-- The others are told none, and wait for nobody. The count is a statement of its own, after the lock: it sees all that
-- was claimed under the lock before, which the statement that asks does not.
create function pawl.gate_take(
  gate_name text, of_lifecycle text, in_states text[], most int, rate int, window_start timestamptz, window_end timestamptz
) returns int language plpgsql volatile as $$
declare
  room int := 0;
begin
  if pg_try_advisory_xact_lock(7297, hashtext(gate_name)) then
    select pawl.gate_left(gate_name, of_lifecycle, in_states, most, rate, window_start, window_end) into room;
  end if;
  return room;
end $$;

-- The workers that there are, as they last said. One that was stopped takes its row away; one that fell silent leaves it.
create table pawl.workers (
  id           text collate "C" primary key,
  host         text not null,
  pid          int not null,
  pawl         text not null,
  started_at   timestamptz not null,
  heartbeat_at timestamptz not null,
  loop         text not null,
  stopping     boolean not null,
  concurrency  int not null,
  -- How many slots are in each of their states.
  slots        jsonb not null,
  -- How many tasks of each lane it has in hand.
  tasks        jsonb not null,
  lanes        text[] not null
) with (fillfactor = 50);
