-- Failures are counted from the journal and given up on for reasons of their own; people are told, once a cause.
-- Builds an index on the journal, which holds up writers until it is done, and rewrites nothing else that is large.

-- A budget is counted from a few rows of a history that may be long.
create index journal_failures on pawl.journal (instance_id, version) where to_state = 'failed' or event = 'restart';

-- A dead letter is about an instance that stays failed, or about an after-effect; an instance fails in many ways that no
-- task is part of. The cause tells two of them apart, and the version after which move it was written.
alter table pawl.dead_letters
  drop constraint dead_letters_once,
  drop constraint dead_letters_kind_check,
  alter column task_id drop not null,
  alter column token drop not null,
  add column cause text collate "C",
  add column version int not null default 0,
  -- What led to it: the failures that were counted.
  add column details jsonb,
  -- All that an after-effect needs to be carried out after all.
  add column work jsonb,
  add column decided_by text,
  add column decision text;

update pawl.dead_letters
set kind = case kind when 'step' then 'instance' else kind end, cause = kind || ':' || task_id || ':' || token;

alter table pawl.dead_letters
  alter column cause set not null,
  add constraint dead_letters_once unique (cause),
  add constraint dead_letters_kind_check check (kind in ('instance', 'effect')),
  add constraint dead_letters_task_has_token check ((task_id is null) = (token is null));

-- Somebody asked for a recovery that a worker has to carry out.
alter table pawl.attempts drop constraint attempts_what_check;
alter table pawl.attempts add constraint attempts_what_check
  check (what in ('claimed', 'failed', 'lapsed', 'released', 'deferred', 'refused', 'asked'));

-- What people are told: once a cause, by whichever process has somebody to tell, until all of those have heard it.
create table pawl.alerts (
  id          uuid primary key,
  cause       text collate "C" not null unique,
  kind        text collate "C" not null,
  lifecycle   text collate "C" not null,
  -- Null when it is about a definition.
  instance_id uuid,
  key         text,
  message     text not null,
  details     jsonb not null,
  at          timestamptz not null,
  -- When it is to be told, or told again; null when that is over.
  due_at      timestamptz,
  attempts    int not null default 0,
  told        text[] not null default '{}',
  error       text
);
create index alerts_due on pawl.alerts (due_at, id) where due_at is not null;
create index alerts_at on pawl.alerts (at);
create index alerts_of_instance on pawl.alerts (instance_id) where instance_id is not null;

create function pawl.instances_removed_alerts() returns trigger language plpgsql as $$
begin
  delete from pawl.alerts as alert using gone where alert.instance_id = gone.id;
  return null;
end $$;

create trigger instances_removed_alerts after delete on pawl.instances referencing old table as gone
  for each statement execute function pawl.instances_removed_alerts();
