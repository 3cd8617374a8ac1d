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
