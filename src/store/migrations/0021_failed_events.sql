-- Events that could not be delivered: how often a delayed event or a timeout was tried, and which parked instances could not
-- be released, why, and when they are tried again.
-- Adds columns with defaults to pawl.timers, under an exclusive lock for a moment, and creates a table; processes of the
-- version before go on.

alter table pawl.timers
  -- Failed deliveries so far: the guard or the `before` hook of its event threw.
  add column attempts int not null default 0,
  -- The mark of the call that sent it, when it is not the timer's own id: a retry is a new row.
  add column request_id uuid;

create table pawl.release_failures (
  instance_id uuid primary key references pawl.instances on delete cascade,
  lifecycle   text collate "C" not null,
  state       text collate "C" not null,
  -- The visit of the parked state: what is told of an earlier one is void.
  visit       int not null,
  what        text collate "C" not null check (what in ('refused', 'failed')),
  attempts    int not null,
  reason      text not null,
  error       jsonb,
  first_at    timestamptz not null,
  last_at     timestamptz not null,
  -- Null once it is given up: a dead letter says so.
  retry_at    timestamptz
);
create index release_failures_due on pawl.release_failures (lifecycle, state, retry_at) where retry_at is not null;
