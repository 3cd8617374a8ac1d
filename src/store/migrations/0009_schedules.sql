-- What is started at set times, and how far the sweeps for ended instances have come. Two new tables, and nothing is
-- locked but the catalogue.

create table pawl.schedules (
  name          text collate "C" primary key,
  lifecycle     text collate "C" not null,
  -- When it is due, in the words of its definition. A process that says otherwise does not run it.
  timing        text collate "C" not null,
  -- The tick that is run next: whoever moves it on runs it. Null when none is to come.
  next_at       timestamptz,
  -- The last sign of a process that declares it so.
  seen_at       timestamptz not null,
  paused_at     timestamptz,
  paused_by     text,
  paused_reason text,
  -- The tick that was run last, and what came of it.
  last_at       timestamptz,
  last_run_at   timestamptz,
  last_result   text collate "C" check (last_result in ('started', 'existed', 'failed')),
  last_instance uuid,
  last_error    text,
  constraint schedules_run_has_result check (num_nulls(last_at, last_run_at, last_result) in (0, 3)),
  constraint schedules_failure_has_error check ((last_result is not distinct from 'failed') = (last_error is not null))
);

-- Sweeps that one process at a time makes, in turns: whoever moves the moment on has the turn.
create table pawl.sweeps (
  lifecycle text collate "C" not null,
  state     text collate "C" not null,
  due_at    timestamptz not null,
  -- The id up to which the last turn looked.
  place     uuid not null default '00000000-0000-0000-0000-000000000000',
  primary key (lifecycle, state)
);
