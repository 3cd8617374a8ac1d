-- Work that the engine gave up on, for a person to decide. Creates one table only; safe while workers run.

create table pawl.dead_letters (
  id          uuid primary key,
  instance_id uuid not null,
  lifecycle   text collate "C" not null,
  -- A step's failure moved its instance; a failed effect leaves it where it is.
  kind        text collate "C" not null check (kind in ('step', 'effect')),
  -- Where it failed: the state of a step, the event of an effect.
  origin      text collate "C" not null,
  reason      text not null,
  error       jsonb,
  attempts    int not null,
  payload     jsonb,
  task_id     uuid not null,
  token       bigint not null,
  status      text collate "C" not null default 'open' check (status in ('open', 'requeued', 'discarded', 'archived')),
  created_at  timestamptz not null,
  decided_at  timestamptz,
  constraint dead_letters_once unique (task_id, token),
  constraint dead_letters_decided check ((status = 'open') = (decided_at is null))
);

create index dead_letters_open on pawl.dead_letters (lifecycle, id) where status = 'open';
create index dead_letters_of_instance on pawl.dead_letters (instance_id);

create function pawl.instances_removed_dead_letters() returns trigger language plpgsql as $$
begin
  delete from pawl.dead_letters as letter using gone where letter.instance_id = gone.id;
  return null;
end $$;

create trigger instances_removed_dead_letters after delete on pawl.instances referencing old table as gone
  for each statement execute function pawl.instances_removed_dead_letters();
