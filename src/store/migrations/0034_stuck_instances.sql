-- Stuck instances: indexes by which they are found among a million open ones, and the causes that people were alerted to.
-- The indexes hold rare rows only: refused timeouts, steps that contradict their definition, parked instances that go on
-- refusing. No index is written by a step that goes well.
-- Locks pawl.attempts and pawl.release_failures against writes while they are read once; creates a table. Processes of the
-- version before go on.

create index attempts_refused on pawl.attempts (at) where what = 'refused' and detail ->> 'visit' is not null;
create index attempts_faulty on pawl.attempts (at) where what = 'deferred' and detail ->> 'reason' = 'definition';
create index release_failures_refused on pawl.release_failures (lifecycle, state, instance_id)
  where what = 'refused' and attempts >= 10;

-- One row for each cause of an alert that lasts: the same cause alerts again only after it was gone for a while.
create table pawl.stuck_causes (
  cause      text collate "C" primary key,
  lifecycle  text collate "C" not null,
  alerted_at timestamptz not null,
  seen_at    timestamptz not null
);
