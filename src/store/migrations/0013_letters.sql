-- What a person needs to deal with dead letters in numbers: groups of a kind, tickets, operations over many, archives.
-- Rewrites pawl.dead_letters, under an exclusive lock for as long as that takes, and opens a ticket for each open one;
-- creates tables and triggers.

-- An error without what differs from case to case: words that hold a digit are numbers, ids, moments, addresses.
create function pawl.error_pattern(error jsonb, reason text) returns text language sql immutable parallel safe as $$
  select left(coalesce(error ->> 'name' || ': ', '') || regexp_replace(regexp_replace(regexp_replace(
    left(split_part(coalesce(error ->> 'message', reason), E'\n', 1), 500),
    '[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}', '#', 'g'),
    '\m\w*\d\w*\M', '#', 'g'),
    '#(?:[-+.,:/ ]#)+', '#', 'g'), 300)
$$;

alter table pawl.dead_letters
  drop constraint dead_letters_kind_check,
  drop constraint dead_letters_work_has_instance,
  -- A message that died in the queue of a broker is a dead letter, too. It need not be one of ours.
  add constraint dead_letters_kind_check check (kind in ('instance', 'effect', 'message', 'broker')),
  add constraint dead_letters_work_has_instance check (kind in ('message', 'broker') or instance_id is not null),
  add column pattern text generated always as (pawl.error_pattern(error, reason)) stored,
  -- The same for letters of one group: where it was given up, and of what.
  add column fingerprint text collate "C" generated always as
    (to_hex(hashtextextended((lifecycle || '/' || origin || ' ' || pawl.error_pattern(error, reason)) collate "C", 0))) stored,
  -- When it came back from an archive: its time begins anew then.
  add column restored_at timestamptz;

create index dead_letters_of_kind on pawl.dead_letters (fingerprint, id) where status = 'open';
create index dead_letters_by_age on pawl.dead_letters (coalesce(restored_at, created_at), id);

-- A person is wanted. A ticket has the id of its dead letter, comes and goes with it, and is resolved with it at the latest.
create table pawl.tickets (
  letter_id   uuid primary key references pawl.dead_letters on delete cascade,
  status      text collate "C" not null default 'open' check (status in ('open', 'taken', 'resolved')),
  opened_at   timestamptz not null,
  taken_by    text,
  taken_at    timestamptz,
  resolved_by text,
  resolved_at timestamptz,
  resolution  text,
  -- When somebody is to be told of it, or told again; null when that is over.
  due_at      timestamptz,
  attempts    int not null default 0,
  constraint tickets_taken_by_somebody check (status <> 'taken' or (taken_by is not null and taken_at is not null)),
  constraint tickets_resolved_at_a_time check ((status = 'resolved') = (resolved_at is not null))
);
create index tickets_unresolved on pawl.tickets (letter_id) where status <> 'resolved';
create index tickets_due on pawl.tickets (due_at) where due_at is not null;

-- Triggers for rows, not for statements: every move could bring a dead letter along, and hardly any does.
create function pawl.letter_opens_ticket() returns trigger language plpgsql as $$
begin
  insert into pawl.tickets (letter_id, opened_at, due_at) values (new.id, pawl.now(), pawl.now());
  return null;
end $$;
create trigger letter_opens_ticket after insert on pawl.dead_letters
  for each row when (new.status = 'open') execute function pawl.letter_opens_ticket();

create function pawl.letter_resolves_ticket() returns trigger language plpgsql as $$
begin
  update pawl.tickets
  set status = 'resolved', resolved_at = new.decided_at, resolved_by = new.decided_by, due_at = null,
    resolution = coalesce(new.decision, new.status)
  where letter_id = new.id and status <> 'resolved';
  return null;
end $$;
create trigger letter_resolves_ticket after update of status on pawl.dead_letters
  for each row when (old.status = 'open' and new.status <> 'open') execute function pawl.letter_resolves_ticket();

insert into pawl.tickets (letter_id, opened_at) select id, created_at from pawl.dead_letters where status = 'open';

-- A decision about many dead letters, carried out by whichever process has time, at the pace that was asked for.
create table pawl.operations (
  id           uuid primary key,
  decision     text collate "C" not null check (decision in ('requeue', 'discard')),
  -- Which letters were meant, as a person reads it. Those that were found then are in operation_letters.
  filter       jsonb not null,
  restart      boolean not null default false,
  actor        text,
  reason       text,
  per_second   float8 check (per_second > 0),
  status       text collate "C" not null check (status in ('running', 'done', 'aborted')),
  letters      int not null,
  created_at   timestamptz not null,
  ended_at     timestamptz,
  aborted_by   text,
  abort_reason text,
  -- Not before this moment: what is left of the pace after the last batch.
  next_at      timestamptz not null,
  token        bigint not null default 0,
  leased_until timestamptz,
  constraint operations_end_at_a_time check ((status = 'running') = (ended_at is null))
);
create index operations_running on pawl.operations (next_at) where status = 'running';
create index operations_ended on pawl.operations (ended_at) where ended_at is not null;

create table pawl.operation_letters (
  operation_id uuid not null references pawl.operations on delete cascade,
  letter_id    uuid not null,
  kind         text collate "C" not null,
  lifecycle    text collate "C" not null,
  -- What became of it: requeued, discarded, or what stood in the way. Null until then.
  outcome      text collate "C",
  note         text,
  primary key (operation_id, letter_id)
);
create index operation_letters_left on pawl.operation_letters (operation_id, letter_id) where outcome is null;

-- What was put into an archive, so that a letter is found there again. Names rise with time.
create table pawl.archives (
  name       text collate "C" primary key,
  -- Where: the name of the archive that it was written to.
  store      text collate "C" not null,
  letters    int not null,
  bytes      int not null,
  sha256     text collate "C" not null,
  first_id   uuid not null,
  last_id    uuid not null,
  created_at timestamptz not null
);
