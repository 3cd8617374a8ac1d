-- The database refuses an illegal history, also from SQL written by hand. Triggers fire once a statement and look at the
-- whole batch; a foreign key a row cost a quarter of the speed. Creates functions and triggers only.

create function pawl.refuse() returns trigger language plpgsql as $$
begin
  raise exception 'pawl.% is append-only: % is refused.', tg_table_name, lower(tg_op) using errcode = 'PW001';
end $$;

create trigger journal_append_only before update or truncate on pawl.journal
  for each statement execute function pawl.refuse();
create trigger attempts_append_only before update or truncate on pawl.attempts
  for each statement execute function pawl.refuse();
create trigger instances_no_truncate before truncate on pawl.instances
  for each statement execute function pawl.refuse();

-- A move goes over a declared edge, from where the one before it ended, and its instance has made it.
create function pawl.journal_added() returns trigger language plpgsql as $$
declare stray record;
begin
  select move.* into stray
  from (select distinct lifecycle, definition, coalesce(from_state, '') as from_state, event, to_state from added) as move
  where not exists (
    select from pawl.edges as edge
    where edge.lifecycle = move.lifecycle and edge.version = move.definition and edge.from_state = move.from_state
      and edge.event = move.event and edge.to_state = move.to_state
  )
  limit 1;
  if found then
    raise exception 'Lifecycle % version % declares no edge % -> % by %.',
      stray.lifecycle, stray.definition, stray.from_state, stray.to_state, stray.event using errcode = 'PW002';
  end if;

  -- Probes by primary key that no planner can turn round (offset 0): a join of the two could become quadratic.
  select move.instance_id, move.version into stray
  from added as move
  left join lateral (
    select instance.version, instance.lifecycle from pawl.instances as instance
    where instance.id = move.instance_id
    offset 0
  ) as instance on true
  left join lateral (
    select journal.to_state from pawl.journal as journal
    where journal.instance_id = move.instance_id and journal.version = move.version - 1
    offset 0
  ) as earlier on true
  where instance.version is null or instance.version < move.version or instance.lifecycle <> move.lifecycle
    or earlier.to_state is distinct from move.from_state
  limit 1;
  if found then
    raise exception 'Instance % has not made the move % of this journal row.', stray.instance_id, stray.version
      using errcode = 'PW003';
  end if;
  return null;
end $$;

create trigger journal_added after insert on pawl.journal referencing new table as added
  for each statement execute function pawl.journal_added();

-- An instance stands where its journal leads: started or moved, its last move is there and ends in its state.
create function pawl.instances_moved() returns trigger language plpgsql as $$
declare stray record;
begin
  select instance.id, instance.state, instance.version into stray
  from moved as instance
  left join lateral (
    select journal.to_state from pawl.journal as journal
    where journal.instance_id = instance.id and journal.version = instance.version
    offset 0
  ) as move on true
  where move.to_state is distinct from instance.state
  limit 1;
  if found then
    raise exception 'Instance % cannot stand in % at version %: its journal does not lead there.',
      stray.id, stray.state, stray.version using errcode = 'PW003';
  end if;
  return null;
end $$;

create trigger instances_started after insert on pawl.instances referencing new table as moved
  for each statement execute function pawl.instances_moved();
create trigger instances_moved after update on pawl.instances referencing new table as moved
  for each statement execute function pawl.instances_moved();

-- Without a move only its timers may change. A row trigger, since its condition is looked at without a call.
create function pawl.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'Instance % cannot change at version % without a move in its journal.', old.id, old.version
    using errcode = 'PW003';
end $$;

create trigger instances_change_by_moves before update on pawl.instances
  for each row when (
    new.id is distinct from old.id or new.version < old.version or new.created_at is distinct from old.created_at
    or new.lifecycle is distinct from old.lifecycle or new.key is distinct from old.key
    or (new.version = old.version and (
      new.state is distinct from old.state or new.visit is distinct from old.visit or new.run is distinct from old.run
      or new.definition is distinct from old.definition or new.outcome is distinct from old.outcome
      or new.data is distinct from old.data or new.deadline_at is distinct from old.deadline_at
      or new.failed_from is distinct from old.failed_from or new.failed_visit is distinct from old.failed_visit
      or new.closed_at is distinct from old.closed_at or new.moved_at is distinct from old.moved_at
    ))
  ) execute function pawl.refuse_change();

-- An instance goes only when it has been closed for longer than its lifecycle keeps it, and takes its rows along.
create function pawl.instances_removed() returns trigger language plpgsql as $$
declare stray record;
begin
  select instance.id into stray
  from gone as instance
  left join pawl.lifecycles as lifecycle on lifecycle.name = instance.lifecycle and lifecycle.version = instance.definition
  where instance.closed_at is null or lifecycle.keep_closed is null
     or instance.closed_at + lifecycle.keep_closed > pawl.now()
  limit 1;
  if found then
    raise exception 'Instance % is open or still within its retention, and cannot be deleted.', stray.id using errcode = 'PW004';
  end if;
  delete from pawl.tasks as task using gone where task.id = gone.id;
  delete from pawl.tasks as task using gone where task.instance_id = gone.id and task.kind = 'effect';
  delete from pawl.timers as timer using gone where timer.instance_id = gone.id;
  delete from pawl.messages as message using gone where message.aggregate_id = gone.id;
  delete from pawl.requests as request using gone where request.instance_id = gone.id;
  delete from pawl.attempts as attempt using gone where attempt.instance_id = gone.id;
  delete from pawl.journal as move using gone where move.instance_id = gone.id;
  insert into pawl.counts (lifecycle, state, delta) select lifecycle, state, -count(*) from gone group by lifecycle, state;
  return null;
end $$;

create trigger instances_removed after delete on pawl.instances referencing old table as gone
  for each statement execute function pawl.instances_removed();

-- History goes only with its instance.
create function pawl.history_removed() returns trigger language plpgsql as $$
declare stray record;
begin
  select move.instance_id into stray from gone as move
  where exists (select from pawl.instances as instance where instance.id = move.instance_id)
  limit 1;
  if found then
    raise exception 'The history of instance % stays as long as the instance.', stray.instance_id using errcode = 'PW001';
  end if;
  return null;
end $$;

create trigger journal_removed after delete on pawl.journal referencing old table as gone
  for each statement execute function pawl.history_removed();
create trigger attempts_removed after delete on pawl.attempts referencing old table as gone
  for each statement execute function pawl.history_removed();
