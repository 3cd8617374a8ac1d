-- The outbox as relays use it: messages of any aggregate in one order, shards of aggregates that a relay leases, pauses
-- after what failed. Rewrites pawl.messages, under an exclusive lock for as long as that takes; adds one empty column to
-- the journal and two tables.

-- An aggregate is an instance, or whatever a user's own transaction publishes about.
alter table pawl.messages
  drop constraint messages_order,
  drop constraint messages_status_check,
  drop constraint messages_published_is_processed,
  alter column aggregate_id type text collate "C" using aggregate_id::text,
  -- Of the move that it came with; null when it came with none.
  alter column version drop not null,
  alter column place drop not null,
  -- The order of an aggregate's messages. Taken while the instance's row is locked, so that it rises with the moves; only
  -- ever used to sort what is there to be sent, never as a place to go on from.
  add column position bigint,
  add column shard int generated always as ((hashtextextended(aggregate_type || '/' || aggregate_id, 0) & 63)::int) stored,
  -- Null: it may go. A moment: it failed, and is tried again then. Infinity: it is dead, or waits behind another one of
  -- its aggregate that is held up.
  add column next_attempt_at timestamptz,
  add constraint messages_status_check check (status in ('pending', 'published', 'dead', 'discarded')),
  add constraint messages_done_is_processed check ((status in ('published', 'discarded')) = (processed_at is not null)),
  add constraint messages_done_waits_for_nothing check (processed_at is null or next_attempt_at is null),
  add constraint messages_dead_is_held check (status <> 'dead' or next_attempt_at = 'infinity'),
  add constraint messages_version_has_place check ((version is null) = (place is null)),
  set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
       autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 2000);

update pawl.messages as message set position = ordered.position
from (select id, row_number() over (order by created_at, aggregate_id, version, place) as position from pawl.messages) as ordered
where ordered.id = message.id;
alter table pawl.messages alter column position set not null, alter column position add generated always as identity;
select setval(pg_get_serial_sequence('pawl.messages', 'position'), (select coalesce(max(position), 0) + 1 from pawl.messages), false);

-- Of a million messages a few are to be sent, and fewer are held up: these stay small.
create index messages_ready on pawl.messages (shard, position) where status = 'pending' and next_attempt_at is null;
create index messages_held on pawl.messages (aggregate_id, aggregate_type, position) where next_attempt_at is not null;
create index messages_due on pawl.messages (next_attempt_at) where next_attempt_at < 'infinity';

-- Whose turn it is to send the messages of a shard. The token rises with every lease, and fences what is said of them.
create table pawl.shards (
  shard        int primary key check (shard between 0 and 63),
  relay        text collate "C",
  token        bigint not null default 0,
  leased_until timestamptz,
  constraint shards_lease_has_end check ((relay is null) = (leased_until is null))
) with (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
insert into pawl.shards (shard) select * from generate_series(0, 63);

-- How many messages came with a move, so that a lost one is missed; and up to when those that were sent have been removed.
alter table pawl.journal add column messages int check (messages > 0);
create table pawl.pruned (
  what  text collate "C" primary key,
  up_to timestamptz not null
);

-- A message that was given up is a dead letter, too. Its task is the message, and there may be no instance.
alter table pawl.dead_letters
  drop constraint dead_letters_kind_check,
  add constraint dead_letters_kind_check check (kind in ('instance', 'effect', 'message')),
  alter column instance_id drop not null,
  add constraint dead_letters_work_has_instance check (kind = 'message' or instance_id is not null);

-- What is still to be sent outlives its instance.
create or replace function pawl.instances_removed() returns trigger language plpgsql as $$
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
  delete from pawl.messages as message using gone
  where message.aggregate_id = gone.id::text and message.aggregate_type = gone.lifecycle and message.processed_at is not null;
  delete from pawl.requests as request using gone where request.instance_id = gone.id;
  delete from pawl.attempts as attempt using gone where attempt.instance_id = gone.id;
  delete from pawl.journal as move using gone where move.instance_id = gone.id;
  insert into pawl.counts (lifecycle, state, delta) select lifecycle, state, -count(*) from gone group by lifecycle, state;
  return null;
end $$;
