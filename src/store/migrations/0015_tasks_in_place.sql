-- A task's row is written again with every move of its instance. So that such a write stays within the row's page, and
-- no index hears of it, no index knows the columns that a step which follows another one changes: its lane above all.

alter table pawl.tasks
  drop constraint tasks_are_ready_scheduled_or_running,
  add column gate text collate "C";

-- The lane of everything that waits, be it for a worker or for its time. `gate` is the lane of what runs, where that is
-- counted: behind a limit.
update pawl.tasks set queue = lane where due_at is not null;
update pawl.tasks set gate = lane where worker is not null;

alter table pawl.tasks
  add constraint tasks_are_ready_scheduled_or_running
    check (num_nonnulls(queue, worker) = 1 and num_nonnulls(due_at, worker) < 2),
  add constraint tasks_gate_is_the_lane check (gate = lane),
  add constraint tasks_behind_gates_run check (gate is null or worker is not null);

drop index pawl.tasks_ready, pawl.tasks_scheduled, pawl.tasks_running;
create index tasks_ready on pawl.tasks (queue, priority, id) where queue is not null and due_at is null;
create index tasks_scheduled on pawl.tasks (queue, due_at, id) where due_at is not null;
create index tasks_running on pawl.tasks (leased_until, id) where worker is not null;
create index tasks_gated on pawl.tasks (gate) where gate is not null;

create or replace function pawl.gate_left(
  gate_name text, of_lifecycle text, in_states text[], most int, rate int, window_start timestamptz, window_end timestamptz
) returns int language sql stable set enable_seqscan = off as $$
  select greatest(0, least(
    case when most is not null then most - (
      select count(*)::int from (
        select from pawl.lifecycles as known
        cross join unnest(in_states) as state(name)
        cross join lateral (
          select from pawl.tasks as task where task.gate = known.name || '@' || known.version || '/' || state.name
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
